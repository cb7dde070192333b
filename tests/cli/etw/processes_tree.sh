#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The processes of a trace: as a tree, as JSON, and none.
"$MAKE_TRACE" --preset session session.etl
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" processes session.etl
echo --
"$ETW" processes --json session.etl
echo --
"$ETW" processes plain.etl 2>&1
"$ETW" processes --json plain.etl 2>&1
