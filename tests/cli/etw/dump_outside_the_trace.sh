#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Windows in which nothing can be are told apart; a plain number is seconds from the start.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" dump plain.etl --from 0.0001 --to 0.00012 --time relative 2>/dev/null
# shellcheck disable=SC2086 # the words of a window are several
for window in "--from +2 --to +1" "--from +2 --to 2022-06-18T04:26:40Z" "--from +100" \
	"--to 2001-01-01T00:00:00Z"; do
	"$ETW" dump plain.etl $window 2>&1 || echo "status $?"
done
# Between two events.
"$ETW" dump plain.etl --from +0.000551 --to +0.000552 2>&1
# The headers of the second say less than its events.
"$MAKE_TRACE" --preset relogged relogged.etl
"$ETW" dump relogged.etl --from +1000000 2>&1
