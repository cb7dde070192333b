#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is wrong with message text files, each by one line.
check() {
	printf '%s\n' "$@" >faulty.mc
	echo "-- $1"
	"$MC" faulty.mc 2>&1 || true
}
check 'MessageId=0x10000' 'SymbolicName=A' 'Language=English' 'Text.' '.'
check 'FacilityNames=(Large=0x1000)' 'MessageId=1' 'Language=English' 'Text.' '.'
check 'SeverityNames=(Worse=4)' 'MessageId=1' 'Language=English' 'Text.' '.'
check 'SeverityNames=Worse' 'MessageId=1' 'Language=English' 'Text.' '.'
check 'SeverityNames=(Bad 1)' 'MessageId=1' 'Language=English' 'Text.' '.'
check 'SeverityNames=(Bad=1' 'MessageId=1' 'Language=English' 'Text.' '.'
check 'MessageIdTypedef=DWORD' "FacilityNames=($(seq -s ' ' -f 'N%g=1' 4096))" \
	'MessageId=1' 'Language=English' 'Text.' '.'
check 'LanguageNames=(German=0x407)' 'MessageId=1' 'Language=German' 'Text.' '.'
check 'MessageId=1 Severity=Worse' 'Language=English' 'Text.' '.'
check 'MessageId=1 Facility=None' 'Language=English' 'Text.' '.'
check 'MessageId=1' 'Language=Latin' 'Text.' '.'
check 'MessageId=1' 'Language=English' 'Text.'
check 'MessageId=1 SymbolicName=A' 'Language=English' 'T' '.' \
	'MessageId=2 SymbolicName=A' 'Language=English' 'T' '.'
check 'MessageId=1' 'Language=English' 'T' '.' 'MessageId=1' 'Language=English' 'T' '.'
check 'MessageId=0xFFFF' 'Language=English' 'T' '.' 'MessageId=' 'Language=English' 'T' '.'
check 'MessageId=1 OutputBase=8' 'Language=English' 'T' '.'
check 'MessageId=1 Colour=Red' 'Language=English' 'T' '.'
check 'SymbolicName=A' 'MessageId=1' 'Language=English' 'T' '.'
check 'MessageId=1 SymbolicName=1A' 'Language=English' 'T' '.'
check 'Text without a message'
check 'MessageId=1'
ls
