#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A definition that is gone is told of once by what needs it, and stored again by an import.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
mkdir in
made_manifest 1 >in/one.man
"$WEVTUTIL" im in
rm .providers/definitions/*
"$WEVTUTIL" ep
{ "$WEVTUTIL" gp Made-Provider-1 || echo "exit $?"; } 2>&1 | sed "s|$PWD/||"
"$WEVTUTIL" im in
"$WEVTUTIL" gp Made-Provider-1 | head -1
# By its name too, but only where it is gone.
rm .providers/definitions/*
"$WEVTUTIL" im in/one.man
"$WEVTUTIL" gp Made-Provider-1 | head -1
"$WEVTUTIL" im in/one.man 2>/dev/null || echo "exit $?"
