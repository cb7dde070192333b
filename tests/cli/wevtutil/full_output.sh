#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Output that cannot be written is told as such; a reader that goes away is no error.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest 1 >one.man
"$WEVTUTIL" im one.man
for words in ep "gp Made-Provider-1 /ge" "/?" "im /?" --version; do
	status=0
	# shellcheck disable=SC2086 # several words
	"$WEVTUTIL" $words >/dev/full 2>message || status=$?
	cat message
	echo "status ${status}"
done
"$WEVTUTIL" ep | true
"$WEVTUTIL" ep >&- 2>message || cat message
"$WEVTUTIL" ep
