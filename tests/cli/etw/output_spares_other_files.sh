#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --output overwrites what the command writes, and nothing else without --force.
"$MAKE_TRACE" --preset plain plain.etl
"$MAKE_TRACE" --preset plain other.etl
echo 'int main(void) { return 0; }' >main.c
: >empty
for file in main.c other.etl empty out.txt out.txt; do
	"$ETW" dump plain.etl --max 1 --output "$file" 2>&1 || echo "status $?"
	head -c 30 "$file" | tr -c '[:print:]' .
	echo
done
"$ETW" dump plain.etl --max 1 --json --output out.txt 2>&1
"$ETW" dump plain.etl --max 1 --time relative --output out.txt 2>&1
"$ETW" dump plain.etl --max 1 --time raw --output out.txt 2>&1
"$ETW" dump plain.etl --max 1 --color always --output out.txt 2>&1
"$ETW" dump plain.etl --max 1 --output out.txt 2>&1
"$ETW" dump plain.etl --max 1 --output main.c --force 2>&1
head -c 30 main.c
echo
"$ETW" dump plain.etl --max 1 --output plain.etl --force 2>&1 || echo "status $?"
echo precious >main.c
"$ETW" record --provider x -o main.c --duration 0.1 2>&1 | sed "s|$PWD|FOLDER|"
"$ETW" providers Microsoft-Windows-DNS-Client --manifest --output main.c 2>&1 || echo "status $?"
"$ETW" providers '*DNS-Client' -o main.c 2>&1 || echo "status $?"
cat main.c
for wish in '*DNS-Client' Microsoft-Windows-DNS-Client '*DNS-Client --json' '*DNS-Client'; do
	# shellcheck disable=SC2086 # several words
	(set -f && "$ETW" providers $wish -o providers.txt 2>&1) || echo "status $?"
done
"$ETW" providers '*DNS-Client' -o main.c --force 2>&1
head -c 10 main.c
echo
"$ETW" dump plain.etl --filter 'pid == 1000 and pid == 1012' 2>&1
