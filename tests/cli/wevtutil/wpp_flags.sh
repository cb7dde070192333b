#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The control GUIDs of a PDB and the names of their flags are kept, also of one without messages.
cat >driver.tmf <<'END'
#control 11112223-3333-4444-5555-666677778888 Driver INIT IO
00000001-1111-2222-3333-444444444444 driver // SRC=a.c MJ= MN=
#typev a_c10 10 "%0one %10!d!" // LEVEL=NOISE FLAGS=IO FUNC=f
{
i, ItemLong -- 10
}
END
echo "#control 21112223-3333-4444-5555-666677778888 Silent ALL" >silent.tmf
"$MAKE_PDB" driver.tmf driver.pdb
"$MAKE_PDB" silent.tmf silent.pdb
"$WEVTUTIL" im driver.pdb silent.pdb
"$WEVTUTIL" ep
for name in Driver Silent; do
	"$WEVTUTIL" gp "$name" |
		sed -e 's/importedFrom: .*/importedFrom: (path)/' \
			-e 's/importedAt: .*/importedAt: (time)/'
done
"$WEVTUTIL" um driver.pdb
"$WEVTUTIL" ep
