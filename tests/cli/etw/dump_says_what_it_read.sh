#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pass that ended early says nothing of the rest; the search for schemas reads all of it.
"$MAKE_TRACE" --preset plain plain.etl
cp plain.etl damaged.etl
# The size of the first event of the last buffer, of 1024 bytes.
printf '\377\377' | dd of=damaged.etl bs=1 seek=$((6144 + 0x48)) conv=notrunc status=none
for file in plain damaged; do
	for words in "--max 1" "--max 1 --no-decode" "--no-decode --to +0.00001" \
		"--no-decode --from +0.0001" "--no-decode"; do
		# shellcheck disable=SC2086 # several words
		"$ETW" dump "$file.etl" $words 2>message >events || echo "status $?"
		cat message
	done
done
"$ETW" dump --max 1 plain.etl plain.etl 2>message >events
cat message
