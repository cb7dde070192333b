#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stacks of a trace of Windows: processes, functions, the tree; callers; waits; other events.
"$MAKE_TRACE" --preset session session.etl
"$ETW" stacks session.etl
echo -- callers
"$ETW" stacks session.etl --callers 'ntoskrnl.exe!0x1000'
echo -- nobody
"$ETW" stacks session.etl --callers nobody 2>&1
echo -- waits
"$ETW" stacks session.etl --event cswitch --by-name --top 2
echo -- by count
"$ETW" stacks session.etl --weight count --by-process --process 'cc*'
echo -- threads
"$ETW" stacks session.etl --pid 1024 --tree --threads --top 4
echo -- others
"$ETW" stacks session.etl --event CSwitch --by-process
