#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file that ends early ends the recording, with a sentence and an exit status.
mkdir -m 700 run
mkdir disk
if [ "$(id -u)" != 0 ] || ! mount -t tmpfs -o size=1m none disk 2>refused; then
	echo "only root can mount a small disk" >&2
	exit 77
fi
trap 'umount -l disk' EXIT
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
record() {
	local status=0
	timeout -s KILL 900 "$ETW" record --provider '{2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31}' \
		--buffer-size 64 -o disk/t.etl "$@" >out 2>err || status=$?
	echo "status $status"
	grep '^etw: ' err | sed "s|$PWD|FOLDER|"
}
# One buffer fits: the one that every file begins with.
head -c $((1024 * 1024 - 64 * 1024)) /dev/zero >disk/ballast
# shellcheck disable=SC2016
record -- sh -c '"$WRITE_EVENTS" 100 2>/dev/null; exit 3'
tail -n 1 out
tail -n 1 err | grep -c '^etw: the recording'
"$ETW" info disk/t.etl | tail -n 1
# Without a command the page goes to standard output, and the sentence does not.
# Nobody else ends this recording, however late it begins.
until [ -e ended ]; do "$WRITE_EVENTS" 1000 1; done >writer 2>&1 &
record
touch ended
wait
tail -n 1 out | sed "s|$PWD|FOLDER|"
# A command goes on.
# shellcheck disable=SC2016
record -- sh -c 'until grep -q "^etw: " err; do "$WRITE_EVENTS" 4000 1 2>/dev/null; sleep 0.1; done
	echo "the command ends" >&2'
grep -n -e '^etw: ' -e '^the command' err | cut -d : -f 2- | cut -c 1-40
# Nothing fits: what did not start leaves nothing behind.
rm disk/t.etl
head -c $((1024 * 1024)) /dev/zero >disk/ballast 2>/dev/null || true
record -- true
ls disk
# Nor when a part of the first buffer fits.
head -c $((1024 * 1024 - 4096)) /dev/zero >disk/ballast
record -- true
ls disk
