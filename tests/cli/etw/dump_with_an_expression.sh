#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --filter: what it selects, what it refuses and where, and fields that no event has.
"$MAKE_TRACE" --preset session session.etl
for expression in 'pid = 1000 and level = 4 and event = 2' 'provider like synthetic-*' \
	'event = Process/Start and ImageFileName ends .exe' 'fields contains "make"' \
	'not (classic = true) and level <= information' \
	'time in +0s..+2ms and has ImageFileName'; do
	echo "-- $expression"
	"$ETW" dump session.etl --json --filter "$expression" --max 3 2>/dev/null |
		sed -E 's/.*"time":"([^"]*)".*"address":"([^"]*)".*/\1 \2/'
done
for expression in 'pid =' 'pid = x' 'level <= loud' '(pid = 4' 'pid = 4 tid = 5' 'event = Proc*' \
	'ImageFileName matches "a(b"'; do
	"$ETW" dump session.etl --filter "$expression" 2>&1 || echo "status $?"
done
"$ETW" dump session.etl --no-decode --filter 'pid = 4 and event = Start' 2>&1 || echo "status $?"
echo "-- fields"
for expression in 'ImageFilName = x' 'pidd = 4' 'Nowhere = 1 and pid = 4'; do
	"$ETW" dump session.etl --filter "$expression" 2>&1 | grep -v shown
done
echo "-- together"
"$ETW" dump session.etl --pid 1000 --filter 'cpu = 1' --filter 'id = 2' 2>&1 | grep shown
