#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Once the recording is in its file, a signal ends the program, whatever it waits for.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
await() {
	for ((i = 0; i < 6000; i++)); do
		if "$@"; then return; fi
		sleep 0.1
	done
	echo "waited in vain: $*"
}
has_session() {
	"$ETW" sessions --json | grep -q "\"file\":\"$PWD/page.etl\""
}
has_no_session() {
	! has_session
}
has_ended() {
	! kill -TERM "$1" 2>/dev/null
}
# A pipe that is full and that nobody empties: the page cannot be written.
mkfifo full
exec 3<>full
dd if=/dev/zero of=full bs=4096 count=4096 oflag=nonblock 2>/dev/null || true
"$ETW" record --provider MyCompany-Test -o page.etl >full &
recorder=$!
await has_session
kill -TERM $recorder
await has_no_session
# Until then signals wait: so again and again.
await has_ended $recorder
kill -KILL $recorder 2>/dev/null || true
status=0
wait $recorder || status=$?
echo "status $status"
exec 3<&-
"$ETW" info page.etl | grep '^lost: '
