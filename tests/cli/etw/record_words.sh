#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Levels and kernel flags in any case; NAME:LEVEL:ANY:ALL is not the order of Windows' tools.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
for words in x:Informational x:VERBOSE:0x10 x:0x10:5 x:16:0x100 x:255:5 x:0x100000000:5 x:5:info; do
	echo "${words}"
	"$ETW" record --provider "${words}" -o x.etl -- true 2>&1 | grep 'order\|level' || true
done
"$ETW" record --kernel PROCESS,Disk -o x.etl -- true 2>&1 || echo "status $?"
