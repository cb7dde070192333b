#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kinds of events and stacks that there are none of are taken, and told at the end and by readers.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
[ "$(id -u)" = 0 ] || { echo "SKIP: the kernel is recorded by root alone" >&2; exit 77; }
show() { grep -o 'REGISTRY\|ALPC\|no stacks, as .*' | sort -u; }
"$ETW" record --kernel process,Registry,alpc --stacks RegOpenKey -o x.etl -- true >out 2>&1 ||
	echo "status $?"
if grep -q 'the kernel events are not collected' out; then
	echo "SKIP: this kernel cannot be recorded" >&2
	exit 77
fi
show <out
echo "the trace:"
"$ETW" info x.etl | show
# Of nothing that was asked for anything can come.
status=0
"$ETW" record --kernel registry -o y.etl -- true >out 2>&1 || status=$?
echo "status ${status}"
status=0
"$ETW" record --quiet --kernel registry -o z.etl -- true >out 2>&1 || status=$?
echo "quiet: status ${status}"
