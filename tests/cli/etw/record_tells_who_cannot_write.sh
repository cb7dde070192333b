#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that may not open enough files to write its events: who recorded it hears so, and
# who stops its session.
if grep -q __asan_init "$WRITE_EVENTS"; then
	echo "a sanitizer wants descriptors of its own" >&2
	exit 77
fi
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
provider='{2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31}'
# With how few files it gets as far as a connection, and no farther.
export few=0
for n in 4 5 6 7 8 9 10; do
	# shellcheck disable=SC2016
	"$ETW" record --provider "$provider" -o "$n.etl" -- \
		sh -c 'ulimit -n "$1"; exec "$WRITE_EVENTS" 3' sh "$n" 2>/dev/null >out
	if grep -q ' 5 refused' out; then few=$n; fi
done
if [ "$few" = 0 ]; then echo "no number of files is too small"; fi
# Shows what the session says once the program has said that it cannot write.
cat >work <<'EOF'
(ulimit -n "$few"; exec "$WRITE_EVENTS" 1000000 20) >/dev/null 2>&1 &
for i in $(seq 6000); do
	if "$ETW" sessions | grep -q 'cannot write to this session'; then break; fi
	sleep 0.1
done
if [ "$1" = stop ]; then
	"$ETW" sessions stop "$("$ETW" sessions --json | sed 's/.*"name":"\([^"]*\)".*/\1/')" 2>stop
fi
kill -KILL $!
EOF
status=0
"$ETW" record --provider "$provider" -o a.etl -- sh work say >/dev/null 2>err || status=$?
echo "status $status"
anonymous=(-e 's/process [0-9]*/process N/' -e 's/uid [0-9]*/uid N/' -e 's/ (it says.*//'
	-e 's/record-[0-9]*/record-N/')
grep '^etw: ' err | sed "${anonymous[@]}"
# The trace itself says so, too: at once, and at the end if there is more to tell.
"$ETW" summary a.etl | grep '^note: ' | sed "${anonymous[@]}" | sort -u
"$ETW" info --json a.etl | grep -c '"kind":"CannotWrite","uid":'
"$ETW" record --provider "$provider" -o b.etl -- sh work stop >/dev/null 2>err || echo "status $?"
sed "${anonymous[@]}" stop
