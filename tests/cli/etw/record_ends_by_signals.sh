#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A signal stops and saves; when the program is killed, its host does that.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
has_session() {
	"$ETW" sessions --json | grep -q "\"file\":\"$PWD/$1\""
}
await() {
	for ((i = 0; i < 6000; i++)); do
		if "$@"; then return; fi
		sleep 0.1
	done
	echo "waited in vain: $*"
}
has_no_session() {
	! has_session "$1"
}
"$ETW" record --provider MyCompany-Test -o term.etl >said &
await has_session term.etl
kill -TERM $!
status=0
wait $! || status=$?
echo "status $status"
grep '^lost: ' said
"$ETW" record --provider MyCompany-Test -o killed.etl >said 2>&1 &
await has_session killed.etl
kill -KILL $!
wait $! 2>/dev/null || true
await has_no_session killed.etl
"$ETW" info killed.etl | tail -n 1
# A session that was to stay does.
"$ETW" record --persist --provider MyCompany-Test -o stays.etl >said 2>&1 &
await has_session stays.etl
kill -KILL $!
wait $! 2>/dev/null || true
sleep 0.5
has_session stays.etl && echo "stays"
name=$("$ETW" sessions --json | sed 's/.*"name":"\([^"]*\)".*/\1/')
"$ETW" sessions stop "$name" | sed -e "s|$PWD|FOLDER|" -e 's/record-[0-9]*/record-N/'
# What is sent to this program alone is passed on to the command.
for signal in INT TERM; do
	rm -f ready
	# shellcheck disable=SC2016
	env --default-signal=INT "$ETW" record --provider MyCompany-Test -o told.etl -- \
		sh -c 'trap "exit 5" '$signal'; : >ready; while :; do sleep 0.05; done' 2>said &
	await test -e ready
	kill -$signal $!
	status=0
	wait $! || status=$?
	echo "$signal: status $status"
done
