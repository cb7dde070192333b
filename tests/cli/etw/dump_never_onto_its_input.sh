#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --output onto a file that is being read is refused, under any name, and the file stays whole.
"$MAKE_TRACE" --preset plain plain.etl
cp plain.etl copy.etl
ln plain.etl hard.etl
ln -s plain.etl soft.etl
for name in plain.etl ./plain.etl hard.etl soft.etl; do
	"$ETW" dump plain.etl --output "$name" 2>&1 || echo "status $?"
done
cmp plain.etl copy.etl && echo unchanged
