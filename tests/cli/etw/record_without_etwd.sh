#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every place where etwd was looked for is named, and no file is left behind.
mkdir -m 700 run bin path
cp "$ETW" bin/etw
export ETW_RUNTIME_DIR=$PWD/run
unset ETW_ETWD
export ETW_KNOWN_PROVIDERS= # nor is the table where a copy of etw looks
libexec=$(strings bin/etw | grep -x '/.*/libexec/etw' || true)
if [ -x "$libexec/etwd" ]; then
	echo "an etwd is installed in $libexec" >&2
	exit 77
fi
say() {
	sed -e "s|$PWD|FOLDER|" -e "s|^  $libexec/|  LIBEXEC/|" said
}
status=0
PATH=$PWD/path:/nonexistent::$PATH bin/etw record --provider x -- true 2>said || status=$?
echo "status $status"
say | head -n 8
status=0
ETW_ETWD=$PWD/bin bin/etw record --provider x -o x.etl -- true 2>said || status=$?
echo "status $status"
say
ls
