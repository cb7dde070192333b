#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is wrong is told with its place, all of it, and then nothing is written.
# shellcheck source=tests/cli/etw-mc/made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest >made.man
"$MC" made.man
sha256sum -- *.h *.bin *.BIN *.rc >before
made_manifest | sed 's/template="T"/template="U"/; s/level="win:Error"/level="win:Odd"/' >made.man
"$MC" made.man 2>&1 || echo "exit $?"
made_manifest | sed 's/<\/tasks>//' >broken.man
"$MC" made.man broken.man 2>&1 || echo "exit $?"
made_manifest | sed '/de-DE/s/id="m"/id="n"/' >warned.man
mkdir other
"$MC" -r other warned.man 2>&1
made_manifest | sed 's/Counted %1 things/Changed %1/' >made.man
"$MC" -h gone -r gone made.man 2>&1 || echo "exit $?"
mkdir new && mv made.rc new && mkdir made.rc
"$MC" made.man 2>&1 || echo "exit $?"
rmdir made.rc && mv new/made.rc . && rmdir new
sha256sum -c --quiet before
ls
