#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that do not belong together are merged, and told once with both names; parts of one
# recording are not.
"$MAKE_TRACE" --preset plain plain.etl
cp plain.etl other.etl
# Another build number: TRACE_LOGFILE_HEADER.ProviderVersion of the header event.
printf '\261\035\000\000' | dd of=other.etl bs=1 seek=$((72 + 32 + 8)) conv=notrunc status=none
# EndTime, BootTime and StartTime of the same, 151 days on.
python3 -c 'data = bytearray(open("plain.etl", "rb").read())
for at in 0x10, 0x48 + 0xB0, 0x48 + 0xC0:
    time = int.from_bytes(data[104 + at : 112 + at], "little") + 151 * 86400 * 10**7
    data[104 + at : 112 + at] = time.to_bytes(8, "little")
open("later.etl", "wb").write(data)'
"$MAKE_TRACE" --preset new-file-1 one.etl
"$MAKE_TRACE" --preset new-file-2 two.etl
tell() {
	echo "--- $*"
	"$ETW" "$@" --no-pager 2>&1 >output.txt | grep -v ' shown of ' || true
}
tell dump plain.etl other.etl plain.etl
tell summary plain.etl other.etl
tell dump plain.etl later.etl
tell dump --json later.etl other.etl
tell dump one.etl two.etl
tell summary one.etl
tell info plain.etl other.etl
