#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A folder: what is none of ours is stepped over, what is broken is named, a copy is not kept.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
mkdir -p in/below
made_manifest 1 >in/one.man
made_manifest 2 >in/below/two.man
made_manifest 2 >in/copy.man
echo text >in/notes.txt
printf 'MZ' >in/cut.dll
printf '<instrumentationManifest>\n<oops\n' >in/bad.man
ln -s nowhere in/dangling
"$WEVTUTIL" im in || echo "exit $?"
"$WEVTUTIL" im in || echo "exit $?"
"$WEVTUTIL" ep
