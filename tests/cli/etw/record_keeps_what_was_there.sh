#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A command that cannot be run costs nobody a trace; what is no regular file is called so.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
printf 'precious' >old.etl
mkdir folder
mkfifo pipe
for command in no-such-command ./no-such-command ./folder ./old.etl ''; do
	"$ETW" record --provider x -o old.etl -- "$command" 2>&1 || echo "status $?"
done
cat old.etl
echo
PATH=$PWD:$PATH "$ETW" record --provider x -o old.etl -- old.etl 2>&1 || echo "status $?"
for file in /dev/full pipe folder; do
	"$ETW" record --provider x -o "$file" -- true 2>&1 | sed "s|$PWD|FOLDER|"
done
"$ETW" record --provider x -o y.etl --duration 0.1 2>&1 >/dev/full | sed "s|$PWD|FOLDER|"
ls
