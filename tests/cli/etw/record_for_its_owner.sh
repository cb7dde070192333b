#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A new file is its owner's alone; the owner is who called sudo, where that made this process
# root's.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
umask 022
"$ETW" record --provider MyCompany-Test -o own.etl -- true 2>/dev/null
stat -c '%a' own.etl
SUDO_UID=1234 SUDO_GID=99999999999 \
	"$ETW" record --provider MyCompany-Test -o odd.etl -- true 2>/dev/null
[ "$(stat -c '%u' odd.etl)" = "$(id -u)" ] && echo 'numbers that are none change nothing'
if [ "$(id -u)" != 0 ]; then
	echo "only root can give a file away" >&2
	exit 77
fi
SUDO_UID=1234 SUDO_GID=5678 \
	"$ETW" record --provider MyCompany-Test -o given.etl -- true 2>/dev/null
stat -c '%a %u %g' given.etl
"$ETW" info given.etl | tail -n 1
