#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that can be read to the end and are damaged all the same: told by every command, with exit
# status 3.
"$MAKE_TRACE" --preset plain plain.etl
tell() {
	"$ETW" dump --no-pager --max 1000 "$1" 2>&1 >dump.txt | sed 's/.*read; //'
	status=0
	"$ETW" summary --no-pager "$1" >summary.txt || status=$?
	echo "status $status"
	awk '/^Found/ { shown = 1 } /^$/ { shown = 0 } shown' summary.txt
	"$ETW" info --json "$1" |
		grep -oE '"(buffers|events|[a-z]+_places|[a-z]+_bytes)":[0-9]+' | grep -v pay |
		tr '\n' ' '
	echo
}
echo "--- sound"
tell plain.etl
echo "--- a buffer twice"
{ cat plain.etl; tail -c +3073 plain.etl | head -c 1024; } >twice.etl
tell twice.etl
echo "--- a buffer in place of another"
{
	head -c 5120 plain.etl
	tail -c +2049 plain.etl | head -c 1024
	tail -c +6145 plain.etl
} >instead.etl
tell instead.etl
echo "--- an event that swallows the next two"
cp plain.etl swallows.etl
printf '\010\001' | dd of=swallows.etl bs=1 seek=$((2048 + 72)) conv=notrunc status=none
tell swallows.etl
echo "--- 7,000 bytes behind the last buffer"
{ cat plain.etl; yes 'of another file' | head -c 7000; } >longer.etl
tell longer.etl
