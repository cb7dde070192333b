#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A table of known providers that cannot be used is told of once, and everything else goes on. One
# that is not wanted is not missed.
"$MAKE_TRACE" --preset loss loss.etl
index=$(dirname "$ETW")/../share/etw/known-providers.index
try() {
	ETW_KNOWN_PROVIDERS=$1 "$ETW" dump loss.etl 2>said | wc -l
	cat said
}
{ printf 'nothing of'; tail -c +11 "$index"; } >other.index
# The version stands behind the magic.
{ head -c 8 "$index"; printf '\377\377'; tail -c +11 "$index"; } >newer.index
head -c 100 "$index" >cut.index
try "$index"
try other.index
try newer.index
try cut.index
try missing.index
try .
try /dev/null
try ''
"$ETW" dump --no-known-providers loss.etl | wc -l
# What is said to decode the rest begins with the table, where it was not asked: here of an event
# without its schema.
"$MAKE_TRACE" --preset session session.etl
python3 - <<'END'
data = bytearray(open("session.etl", "rb").read())
item = data.find(b"\x0b\0\0\0\x1f\0", data.rfind(b"Synthetic.TraceLogging"))
data[item] = 0x63
data[data.rfind(b"\0\0\0\x0b\x05\0\0\0", 0, item) + 3] = 0
open("bare.etl", "wb").write(data)
END
"$ETW" summary --no-known-providers bare.etl | sed -n '/What would/,+3p'
"$ETW" summary bare.etl | sed -n '/What would/,+1p'
