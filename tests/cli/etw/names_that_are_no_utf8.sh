#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# JSON stays valid whatever a file is called; a recording has to have a name that fits into a trace.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
"$MAKE_TRACE" --preset plain $'caf\xe9 "a\n.etl'
"$ETW" info --json ./caf* | python3 -c 'import json, sys
print(ascii(json.loads(sys.stdin.buffer.read().decode())["file"]))'
"$ETW" ./caf* | head -n 1
"$ETW" record --provider x -o $'caf\xe9.etl' -- true 2>&1 | sed "s|$PWD|FOLDER|"
"$ETW" dump ./caf* --max 1 --output - 2>&1
test ! -e ./-
