#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A host that dies with its keeper and the standby takes the recording along: that is told, and is
# no success.
mkdir -m 700 run
export TZ=EST5 ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
await() {
	for ((i = 0; i < 6000; i++)); do
		if "$@"; then return; fi
		sleep 0.1
	done
	echo "waited in vain: $*"
}
"$ETW" record --provider MyCompany-Test -o a.etl -- \
	sh -c ': >ready; while [ ! -e over ]; do sleep 0.1; done' >said 2>&1 &
await test -e ready
keeper=$(od -An -tu4 -j12 -N4 run/epoch | tr -d ' ')
host=$(od -An -tu4 -j20 -N4 run/epoch | tr -d ' ')
standby=$(od -An -tu4 -j16 -N4 run/epoch | tr -d ' ')
kill -STOP "$keeper" # so that it makes no other standby
kill -KILL "$standby" "$keeper" "$host"
# It is told when it happens, and not when the command ends.
await grep -q 'the recording is incomplete' said
: >over
status=0
wait $! || status=$?
echo "status $status"
grep '^etw: ' said | sed 's/[0-9][0-9]:[0-9][0-9]:[0-9][0-9]/TIME/'
grep -e '^lost: ' -e '^no event ' said
"$ETW" info a.etl | tail -n 1
"$ETW" sessions
