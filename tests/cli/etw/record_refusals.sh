#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One sentence each, which says what is wrong.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
refuse() {
	local status=0
	"$ETW" record "$@" 2>&1 | sed "s|$PWD|FOLDER|" || status=${PIPESTATUS[0]}
	echo "status ${status}"
}
set -o pipefail
refuse --kernel disk
refuse --kernel ''
refuse --kernel cswitch,,+ --stacks cswitches
refuse --stacks ''
refuse --profile-hz 0
refuse --profile-hz 8191
refuse --kernel cswitch --profile-hz 100
refuse --profile-source Timer
refuse --profile-source PageFaults,cache
refuse --profile-source LLCMisses:4095
refuse --profile-source PageFaults:
refuse --unwind magic
refuse --kernel process --unwind dwarf
refuse --only-command
refuse --provider ''
refuse --provider x:loud
refuse --provider x:1:y
refuse --provider x:1:0:0:0
refuse --provider "{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e71}"
refuse --provider x -o /dev/null -- true
refuse --duration soon
refuse --buffers 0
refuse --buffer-size 1000000
refuse --bufers 3
refuse --
refuse --provider x --
refuse --provider x -o missing/x.etl -- true
refuse --provider x -o x.etl -- ./no-such-command
refuse --provider x -o x.etl -- /dev/null
ls
ETW_ETWD=/no/such/etwd ETW_RUNTIME_DIR=$PWD/other refuse --provider x -- true
cd /
refuse --provider x -o no-such-folder/x.etl -- true
