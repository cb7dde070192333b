#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Message text files: the header, a message table for each language, the script.
cat >sample.mc <<'TEXT'
;#ifndef SAMPLE_H
;#define SAMPLE_H
MessageIdTypedef=DWORD
SeverityNames=(Success=0x0:SEVERITY_SUCCESS
    Warning=0x2:SEVERITY_WARNING
    Error=0x3:SEVERITY_ERROR)
FacilityNames=(System=0x0:FACILITY_SYSTEM Runtime=0x2:FACILITY_RUNTIME)
LanguageNames=(English=0x409:MSG00409)
LanguageNames=(German=0x407:MSG00407)
; // Messages follow.

MessageId=0x1
Severity=Error
Facility=Runtime
SymbolicName=MSG_BAD_COMMAND
Language=English
You have chosen a bad command: %1.

On two lines, with a backslash \
.
Language=German
Das war für %1 kein Befehl.
.

MessageId= Severity=Warning SymbolicName=MSG_NEXT
Language=English
Next.
.
MessageId=+5
SymbolicName=MSG_FIVE
OutputBase=10
The language before holds.
.
;#endif
TEXT
"$MC" -v sample.mc 2>&1
cat sample.h sample.rc
od -An -tx1 -v MSG00407.bin | head -4
"$MC" -A -n -c -d -x . -b sample.mc
od -An -c -v sample_MSG00409.bin | head -4
grep -E 'SEVERITY_ERROR|BAD_COMMAND' sample.h sample.dbg
iconv -f UTF-8 -t UTF-16LE sample.mc >wide.mc
"$MC" -u -z sample wide.mc && "$MC" -b -z again -u wide.mc && cmp MSG00407.bin again_MSG00407.bin
iconv -f UTF-8 -t ISO-8859-1 sample.mc >latin.mc
"$MC" -b latin.mc && cmp MSG00407.bin latin_MSG00407.bin && echo same
sed '/MessageIdTypedef/d' sample.mc >ole.mc
"$MC" -o -b ole.mc && grep BAD_COMMAND ole.h
"$MC" -b ole.mc && grep 'define.*BAD_COMMAND' ole.h
printf '%s\n' '#include <stdint.h>' 'typedef uint32_t DWORD;' '#include "sample.h"' \
	'int x = (int)MSG_FIVE;' >use.c
cc -Wall -Wextra -Werror -c use.c && echo compiled
