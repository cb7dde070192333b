#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a folder brought goes with the folder, also when it is gone itself.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
mkdir -p in/below inner
made_manifest 1 >in/one.man
made_manifest 2 >in/below/two.man
made_manifest 3 >inner/three.man
"$WEVTUTIL" im in inner
"$WEVTUTIL" um in
"$WEVTUTIL" ep
"$WEVTUTIL" um in || echo "exit $?"
rm -r inner
"$WEVTUTIL" um "$PWD/inner" | grep -c . || true
"$WEVTUTIL" ep
