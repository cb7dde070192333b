#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A name that is not installed: what was perhaps meant, or where names are to be had. A file of
# resources that is not there is told of once.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest 1 >one.man
"$WEVTUTIL" im one.man
for words in "gp made-provder-1" "gp Contoso" "gp Made Provider" "um Made-Provider-12" \
	"um Contoso" "um /gone/one.man" "gp"; do
	# shellcheck disable=SC2086 # several words
	"$WEVTUTIL" $words 2>&1 || echo "status $?"
done
made_manifest 2 >two.man
"$WEVTUTIL" im two.man /rf:none.dll /mf:none.dll /pf:other.dll 2>&1
