#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A manifest is installed, listed, shown, refused a second time, and removed by file and by name.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest 1 >one.man
made_manifest 2 >two.man
"$WEVTUTIL" im one.man two.man
"$WEVTUTIL" ep
"$WEVTUTIL" gp made-provider-1 /ge:true /gm:true |
	sed -e 's/importedFrom: .*/importedFrom: (path)/' \
		-e 's/importedAt: .*/importedAt: (time)/'
"$WEVTUTIL" gp '{00000002-1111-2222-3333-444444444444}' -f:xml |
	sed -e 's/imported[A-Za-z]*="[^"]*"/(&)/g' \
		-e 's/="\/[^"]*"/="(path)"/; s/="20[^"]*"/="(time)"/'
"$WEVTUTIL" install-manifest one.man || echo "exit $?"
"$WEVTUTIL" um one.man
"$WEVTUTIL" ep
"$WEVTUTIL" uninstall-manifest Made-Provider-2
"$WEVTUTIL" ep
