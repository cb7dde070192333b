#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Output that cannot be written is told as such, whatever is written.
"$MAKE_TRACE" --preset plain plain.etl
for words in "dump plain.etl" plain.etl "info plain.etl" "info --json plain.etl" help "dump -h"; do
	status=0
	# shellcheck disable=SC2086 # several words
	"$ETW" $words >/dev/full 2>message || status=$?
	cat message
	echo "status $status"
done
"$ETW" dump --output /dev/full plain.etl 2>&1 || echo "status $?"
