#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which files come of which options.
# shellcheck source=tests/cli/etw-mc/made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest >made.man
mkdir h r
"$MC" -um made.man
ls
rm -- *.rc *.BIN *.bin
"$MC" /bn -h h/ -r '.\r' -z other -e hpp -cp utf-8 -w x -W y made.man
ls h r
iconv -f UTF-16 -t UTF-8 r/other.rc | head -2
"$MC" -v -m 17 -cp utf-16 ./made.man 2>&1 | grep -v '\.h:'
head -c 2 made.rc | od -An -tx1
iconv -f UTF-8 -t UTF-16 made.man | sed 's/UTF-8/UTF-16/' >wide.man
"$MC" -r r wide.man
cmp r/wideTEMP.BIN madeTEMP.BIN && cmp r/MSG00002.bin MSG00002.bin && echo same
"$MC" -b made.man wide.man && ls -- *_MSG*
"$MC" -r /dev/null made.man || true
