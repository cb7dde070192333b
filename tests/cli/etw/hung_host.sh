#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# While the host stands still every verb says what it waits for, ends by a signal, and starts no
# second host; likewise when its keeper stands still as well.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
await() {
	for ((i = 0; i < 6000; i++)); do
		if "$@"; then return; fi
		sleep 0.1
	done
	echo "waited in vain: $*"
}
# Runs a command until it has said that it waits, and ends it by a signal.
interrupt() {
	local signal=$1 status=0
	shift
	rm -f waits
	env --default-signal=INT "$@" >out 2>waits &
	await grep -q 'the session host (etwd, process [0-9]*), which does not' waits
	kill "-$signal" $!
	wait $! || status=$?
	echo "$signal: status $status"
	cat out
	harmless waits
}
harmless() {
	sed -e '/: waiting for/d' -e "s|$PWD|FOLDER|" -e 's/record-[0-9]*/record-N/' "$1"
}
env --default-signal=INT "$ETW" record --provider MyCompany-Test -o a.etl -- \
	sh -c ': >ready; exec sleep 3000' >said 2>&1 &
recorder=$!
await test -e ready
keeper=$(od -An -tu4 -j12 -N4 run/epoch | tr -d ' ')
host=$(od -An -tu4 -j20 -N4 run/epoch | tr -d ' ')
# The host alone stands still, and the caller loses patience: what is wrong, and what helps.
kill -STOP "$host"
status=0
ETW_HOST_TIMEOUT_MS=300 "$ETW" sessions 2>waits || status=$?
echo "stopped: status $status"
sed "s/ $host / HOST /" waits
kill -CONT "$host"
ETW_HOST_TIMEOUT_MS=5s "$ETW" sessions --json 2>waits >/dev/null
cat waits
goes_on() {
	kill -CONT "$keeper" "$host"
}
trap goes_on EXIT
for stopped in "$host" "$keeper $host"; do
	# shellcheck disable=SC2086
	kill -STOP $stopped
	interrupt TERM "$ETW" sessions
	interrupt INT "$ETW" sessions --json
	interrupt TERM "$ETW" sessions stop "etw-record-$recorder"
	interrupt INT "$ETW" record --provider MyCompany-Test -o b.etl -- true
done
await grep -q 'waiting for the session host' said
status=0
kill -INT "$recorder"
wait "$recorder" || status=$?
echo "INT: status $status"
harmless said
echo "epochs: $(od -An -tu4 -j8 -N4 run/epoch)"
[ "$keeper" = "$(od -An -tu4 -j12 -N4 run/epoch | tr -d ' ')" ] && echo "no second host"
# A host that is dead, which its keeper cannot notice: the process to wait for is the keeper.
kill -KILL "$host"
is_zombie() { grep -q '^State:.Z' "/proc/$host/status"; }
await is_zombie
rm -f waits # the child empties it, perhaps after the first look
"$ETW" sessions >out 2>waits &
await grep -q 'the session host (etwd, process [0-9]*), which does not' waits
kill -TERM $!
wait $! || true
grep -o 'process [0-9]*' waits | sed "s/ $keeper$/ KEEPER/"
kill -CONT "$keeper"
no_session() {
	[ "$("$ETW" sessions)" = "No session runs." ]
}
await no_session
