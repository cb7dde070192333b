#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A host that ends without having served anybody may have said why, to a file of the user's.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETW_ETWD=/bin/true
status=0
"$ETW" record --provider x -o x.etl -- true || status=$?
echo "status $status"
ls
