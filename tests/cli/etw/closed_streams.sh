#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A stream that the caller closed is told of; no file takes its place. Standard input is read once.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" - <&- 2>&1 || echo "status $?"
"$ETW" dump - - <plain.etl 2>&1 || echo "status $?"
for words in plain.etl "info -" help; do
	status=0
	# shellcheck disable=SC2086 # several words
	"$ETW" $words <plain.etl 2>message >&- || status=$?
	cat message
	echo "status ${status}"
done
