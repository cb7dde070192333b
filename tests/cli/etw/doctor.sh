#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recording lacks is told with its remedy. Findings differ by machine: a part is compared.
test -x "$(dirname "$ETW")/etwd" || { echo "SKIP: there is no etwd in this build" >&2; exit 77; }
export ETW_RUNTIME_DIR=$PWD/run ETW_AUTOLOGGER_DIR=$PWD/conf ETW_AUTOLOGGER_STATE=$PWD/state
mkdir run conf state
doctor() {
	"$ETW" doctor "$@" | sed "s|$PWD|HERE|g; s|your host|the machine's host|; s|  *| |g" |
		grep -E "$pattern"
}
pattern='autologger|fix: man|does not run'
doctor
printf 'Guid={11111111-2222-3333-4444-555555555555}\nStart=2\n' >conf/broken.conf
printf 'Guid={11111111-2222-3333-4444-555555555555}\nStart=1\n' >conf/fine.conf
printf 'Guid={21111111-2222-3333-4444-555555555555}\nStart=1\n' >conf/failed.conf
printf 'Start=1\n' >conf/nobody.conf
refused='Guid={51111111-2222-3333-4444-555555555555}'
printf '%s\nStart=1\nLogFileMode=3\nMaxFileSize=1\n' "$refused" >conf/refused.conf
printf 'Guid={41111111-2222-3333-4444-555555555555}\nStart=1\n' >conf/stopped.conf
printf 'Status=0\nStoppedInBoot=%s\n' "$(cat /proc/sys/kernel/random/boot_id)" >state/stopped
printf 'Guid={31111111-2222-3333-4444-555555555555}\n' >conf/unused.conf
printf 'Status=2\nReason=No such file or directory\n' >state/failed
doctor
pattern='"autologger"'
doctor --json
"$ETW" doctor >/dev/null || echo "status $?"
chmod go+w conf
"$ETW" doctor | sed "s|$PWD|HERE|g; s|  *| |g" | grep -A1 "starts no session"
ETW_ETWD=$PWD/none "$ETW" doctor | grep "no etwd"
"$ETW" doctor what
