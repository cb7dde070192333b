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
# What is not done is not told.
"$WEVTUTIL" im in
"$WEVTUTIL" um in nosuch || echo "exit $?"
# An empty word is no name of the folder that one happens to be in.
"$WEVTUTIL" um "" || echo "exit $?"
"$WEVTUTIL" ep
"$WEVTUTIL" um in/below in
# A drive that leads nowhere is no want of memory.
env -u HOME -u XDG_DATA_HOME "$WEVTUTIL" im in/one.man '/mf:Q:\messages.dll' || echo "exit $?"
