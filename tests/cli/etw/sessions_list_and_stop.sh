#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What runs, and stopping it.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
"$ETW" sessions
"$ETW" sessions --json
"$ETW" record --provider MyCompany-Test -o a.etl >said 2>&1 &
for ((i = 0; i < 6000; i++)); do
	if "$ETW" sessions --json | grep -q a.etl; then break; fi
	sleep 0.1
done
"$ETW" sessions | sed -e "s|$PWD|FOLDER|" -e 's/record-[0-9]*/record-N/' |
	tr -s ' ' | cut -d ' ' -f 2-5 | sed 's/record-N [0-9]*/record-N ID/'
name=$("$ETW" sessions --json | sed 's/.*"name":"\([^"]*\)".*/\1/')
"$ETW" sessions --json | python3 -c 'import json, sys
session = json.load(sys.stdin)
print(sorted(session))
print(session["events_lost"], session["is_leased"], session["is_kernel"])'
status=0
"$ETW" sessions stop "$name" nobody 2>&1 | sed -e "s|$PWD|FOLDER|" -e 's/record-[0-9]*/record-N/'
wait $! || status=$?
echo "status $status"
grep -e '^etw: ' -e '^lost: ' said | sed 's|[0-9][0-9]:[0-9][0-9]:[0-9][0-9]|TIME|'
"$ETW" sessions
status=0
"$ETW" sessions halt "$name" 2>&1 || status=$?
echo "status $status"
status=0
"$ETW" sessions stop 2>&1 || status=$?
echo "status $status"
