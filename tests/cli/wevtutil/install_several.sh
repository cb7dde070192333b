#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files and folders in one command: each is counted once, whatever it is named by.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
mkdir in
made_manifest 1 >one.man
made_manifest 2 >in/two.man
made_manifest 3 >three.man
"$WEVTUTIL" im one.man in one.man
"$WEVTUTIL" im three.man three.man
"$WEVTUTIL" ep
"$WEVTUTIL" um three.man
made_manifest 3 | sed s/Counted/Told/ >edited.man
{ "$WEVTUTIL" im three.man edited.man || echo "exit $?"; } 2>&1 | sed "s|$PWD/||"
"$WEVTUTIL" ep
