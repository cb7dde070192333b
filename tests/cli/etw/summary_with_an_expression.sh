#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --filter: only what it selects is counted, and machine and session are said all the same.
"$MAKE_TRACE" --preset session session.etl
for expression in 'provider = Synthetic-Build' 'event = Process/Start or pid = 4' 'pid = 123456'; do
	echo "-- $expression"
	"$ETW" summary session.etl --no-pager --filter "$expression" 2>&1 |
		grep -E '^(Machine|Session|Events|Decoded)|Synthetic|  Process$|no event'
done
"$ETW" summary session.etl --filter 'pid =' 2>&1 || echo "status $?"
