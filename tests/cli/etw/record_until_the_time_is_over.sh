#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Without a command, and without a name for the file.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
"$ETW" record --provider '{7c0f6a1e-1f2b-4c3d-8e9f-010203040506}:5' --buffer-size 16 --buffers 4 \
	--duration 0.1 >said
grep -e '^lost: ' -e '^no event' said
tail -n 1 said | sed -e "s|$PWD|FOLDER|" -e 's/[0-9]/N/g'
grep -o 'Machine   Linux' said
"$ETW" info etw-*.etl | grep -e 'on Linux' -e '^  buffer bytes' | sed 's/^.*build [0-9]*, //'
