#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The examples of TraceLogging and of classic providers: recorded by the commands that they name,
# and decoded.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
examples=$(dirname "$WRITE_EVENTS")

events() {
	"$ETW" dump "$@" | grep -v ' EventTrace/' | cut -d' ' -f2- |
		sed 's/^ *[0-9]* *[0-9]* *[0-9]* //'
}

"$ETW" record --provider Libetw-Examples-TraceLogging -o logging.etl -- \
	"$examples/write_tracelogging" 1 2>err
events logging.etl

"$ETW" record --provider '{d4c7a2f6-51b3-4e0c-8a0e-93f1b7c2e615}' -o classic.etl -- \
	"$examples/write_classic" 1 2>err
grep '^no event' err
events --manifest "$CASE_FOLDER/../../../examples/write_classic.mof" classic.etl
