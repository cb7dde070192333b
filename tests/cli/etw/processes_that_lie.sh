#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ids used again, a rundown at the end, circles of parents, names that would harm a terminal.
"$MAKE_TRACE" --preset processes processes.etl
"$ETW" processes processes.etl
echo --
"$ETW" processes --json processes.etl
echo --
"$ETW" dump --time relative processes.etl | cut -c-75
echo --
"$ETW" dump --time relative processes.etl --pid 600 2>&1 | cut -c-75
echo --
"$ETW" dump --time relative processes.etl --pid 500 --provider PerfInfo 2>&1 | cut -c-75
echo --
"$ETW" summary processes.etl | sed -n '/^Processes/,/^$/p'
