#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a host that may not load BPF programs, or has none in its build, a recording that names kernel
# events has failed; one that does not name them is told of it.
if [ "$(id -u)" -ne 0 ]; then
	echo "another user may not record the kernel at all" >&2
	exit 77
fi
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
weak() { setpriv --bounding-set=-bpf,-perfmon,-sys_admin -- "$@"; }
reason='CAP_BPF is missing: '
if "$ETW" --version | grep -q '^kernel events: left out: '; then
	reason='libetw was built without them, because '
fi
short=(-e "s/: $reason.*/: REASON/")
status=0
weak "$ETW" record --kernel process,thread -o named.etl -- sh -c 'exit 3' >/dev/null 2>err ||
	status=$?
echo "named: status $status"
grep '^etw: \|^note: ' err | sed "${short[@]}"
status=0
weak "$ETW" record -o unnamed.etl -- sh -c 'exit 3' >/dev/null 2>err || status=$?
echo "unnamed: status $status"
grep '^etw: \|^note: ' err | sed "${short[@]}"
status=0
weak "$ETW" record --quiet --kernel process,thread -o named.etl -- sh -c 'exit 3' \
	>/dev/null 2>err || status=$?
echo "named, with --quiet: status $status"
# Of a host of one's own without rights to tracefs, whatever its folder is called.
mkdir own
chmod 711 .
chown nobody own
status=0
(cd own && ETW_RUNTIME_DIR=$PWD setpriv --reuid nobody --clear-groups -- \
	"$ETW" record --provider linux:sched -o tracepoints.etl -- true) \
	>/dev/null 2>err || status=$?
echo "tracepoints: status $status, $(find own -name '*.etl' | wc -l) files"
grep '^etw: ' err
