#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names of somebody else's manifest send no commands to a terminal, and make no lines of their own.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
guid='{00000001-1111-2222-3333-444444444444}'
made_manifest 1 |
	sed -e 's/Made-Provider-1/Made\&#x9b;31m\&#x202e;\&#xA;-Provider/' \
		-e 's/"Disk"/"D\&#x9b;2Jk"/g' >one.man
"$WEVTUTIL" im one.man 2>/dev/null
"$WEVTUTIL" ep
"$WEVTUTIL" gp "$guid" | grep name:
"$WEVTUTIL" gp "$guid" -f:xml | grep -o ' name="[^"]*"'
"$ETW" providers "$guid" --manifest | grep -o 'provider name="[^"]*"'
