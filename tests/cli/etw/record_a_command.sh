#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The command's output stays its own, its exit status is passed on, and the file is readable.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
status=0
"$ETW" record --provider MyCompany-Test:info:0x1 -o t.etl -- \
	sh -c 'echo out; echo err >&2; exit 3' 2>said || status=$?
echo "status $status"
grep -e '^err$' -e '^lost: ' said
tail -n 1 said | sed "s|$PWD|FOLDER|"
"$ETW" info t.etl | tail -n 1
# What the shell says of a signal is no status of the command's.
status=0
"$ETW" record --provider MyCompany-Test -o t.etl -- sh -c 'kill -9 $$' 2>/dev/null || status=$?
echo "status $status"
"$ETW" record --provider MyCompany-Test -o t.etl true -x 2>/dev/null &&
	echo "options of the command are its own"
