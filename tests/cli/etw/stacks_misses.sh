#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What cannot be summed up, and why.
exec 2>&1
"$MAKE_TRACE" --preset session session.etl
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" stacks || echo "status $?"
"$ETW" stacks plain.etl
"$ETW" stacks plain.etl --event cswitch
"$ETW" stacks session.etl --pid 77
"$ETW" stacks session.etl --from +3600
"$ETW" stacks session.etl --from +2 --to +1 || echo "status $?"
"$ETW" stacks session.etl --event Process/Start --weight time || echo "status $?"
"$ETW" stacks session.etl --event Process/Start --event cswitch || echo "status $?"
"$ETW" stacks session.etl --weight much || echo "status $?"
"$ETW" stacks session.etl --top none || echo "status $?"
"$ETW" stacks session.etl --pid x || echo "status $?"
"$ETW" stacks missing.etl || echo "status $?"
