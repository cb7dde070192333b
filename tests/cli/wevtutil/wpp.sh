#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Messages of a TMF file: listed by module, shown, taken out by name, GUID and file.
put_messages() {
	echo "// PDB:  c:\\mod.pdb"
	echo "0000000$1-1111-2222-3333-444444444444 mod$1 // SRC=a.c MJ= MN="
	echo "#typev a_c10 10 \"%0one %10!d!\" //   LEVEL=NOISE FLAGS=F FUNC=f"
	echo "{"
	echo "i, ItemLong -- 10"
	echo "}"
	echo "#typev a_c11 11 \"%0two\" //   LEVEL=NOISE FLAGS=F FUNC=f"
	echo "{"
	echo "}"
}
for i in 1 2 3; do
	put_messages "$i" >"mod$i.tmf"
done
"$WEVTUTIL" im mod1.tmf mod2.tmf mod3.tmf
"$WEVTUTIL" ep
"$WEVTUTIL" gp mod2 |
	sed -e 's/importedFrom: .*/importedFrom: (path)/' \
		-e 's/importedAt: .*/importedAt: (time)/'
"$WEVTUTIL" um MOD1
"$WEVTUTIL" um '{00000002-1111-2222-3333-444444444444}'
"$WEVTUTIL" ep
"$WEVTUTIL" um mod3.tmf
"$WEVTUTIL" ep
"$WEVTUTIL" um mod3.tmf || echo "exit $?"
