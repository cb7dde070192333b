#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times of day, zones and units select the same events; local times are the trace's machine's.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" dump plain.etl --max 3 --time local 2>&1
"$ETW" dump plain.etl --json --max 1 --time local 2>&1 | cut -c-90
for from in 04:26:40.0001 04:26:40.0001Z 05:26:40.0001+01:00 23:56:40.0001-0430 \
	2022-06-18T04:26:40.0001 2022-06-18T06:26:40.0001+02:00 100us +0.1ms 0.0001; do
	echo "$from $("$ETW" dump plain.etl --from "$from" 2>/dev/null | wc -l)"
done
echo "local $("$ETW" dump plain.etl --time local --from 05:26:40.0001 2>/dev/null | wc -l)"
"$ETW" dump plain.etl --from 04:26 --to 04:27 2>&1 | tail -1
"$ETW" dump plain.etl --from 03:00 --to 03:30 2>&1
for bad in 25:00 04:26+ 04:26+99:00 1.5d noon; do
	"$ETW" dump plain.etl --from "$bad" 2>&1 || echo "status $?"
done
"$ETW" dump plain.etl --time there 2>&1 || echo "status $?"
