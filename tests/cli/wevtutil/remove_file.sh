#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file is its definition; edited, what came from it; elsewhere, its provider, as on Windows.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest 1 >one.man
made_manifest 2 >two.man
cp one.man copy.man
"$WEVTUTIL" im one.man two.man
"$WEVTUTIL" um copy.man
"$WEVTUTIL" ep
made_manifest 3 >two.man
"$WEVTUTIL" um two.man
"$WEVTUTIL" ep
"$WEVTUTIL" im one.man
made_manifest 1 | sed s/Counted/Told/ >edited.man
"$WEVTUTIL" um edited.man
"$WEVTUTIL" ep
"$WEVTUTIL" um edited.man || echo "exit $?"
