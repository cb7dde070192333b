#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Somebody deletes the file while it is written: who stops the session hears of it, by status too.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
status=0
# shellcheck disable=SC2016
timeout -s KILL 900 "$ETW" record --provider '{2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31}' -o gone.etl \
	-- sh -c '"$WRITE_EVENTS" 100 2>/dev/null; rm gone.etl' >out 2>err || status=$?
echo "status $status"
sed "s|$PWD|FOLDER|" err | grep '^etw: '
"$ETW" record --persist --provider MyCompany-Test -o other.etl >/dev/null 2>&1 &
for ((i = 0; i < 6000; i++)); do
	if "$ETW" sessions --json | grep -q other.etl; then break; fi
	sleep 0.1
done
kill -KILL $!
name=$("$ETW" sessions --json | sed 's/.*"name":"\([^"]*\)".*/\1/')
rm other.etl
status=0
"$ETW" sessions stop "$name" >out 2>err || status=$?
echo "status $status"
sed 's/record-[0-9]*/record-N/' err
