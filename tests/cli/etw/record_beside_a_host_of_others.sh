#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A host runs that does not serve this user: that is no trouble with the file.
chmod 755 .
mkdir -m 755 run
mkdir -m 777 files
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
as_other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if ! as_other "$ETW" --version >/dev/null 2>&1; then
	echo "only root can become another user, who has to reach the programs" >&2
	exit 77
fi
"$ETW" record --provider MyCompany-Test -o root.etl -- \
	sh -c ': >ready; while [ ! -e over ]; do sleep 0.1; done' >/dev/null 2>&1 &
for ((i = 0; i < 6000; i++)); do
	if [ -e ready ]; then break; fi
	sleep 0.1
done
cd files || exit
refuse() {
	local status=0
	as_other "$ETW" record "$@" 2>&1 | sed 's/sudo .*/sudo .../' || status=${PIPESTATUS[0]}
	echo "status $status"
}
set -o pipefail
refuse -o a.etl -- true
refuse --kernel process -o b.etl -- true
refuse --provider MyCompany-Test -o c.etl -- true
ls
: >../over
wait
