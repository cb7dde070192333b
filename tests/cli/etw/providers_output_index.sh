#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The index of known providers is mapped while it is printed: not even --force writes over it.
index=$(dirname "$ETW")/../share/etw/known-providers.index
cp "$index" own.index
export ETW_KNOWN_PROVIDERS=$PWD/own.index
ln -s own.index same.index
for path in own.index same.index; do
	"$ETW" providers --json -o "$path" --force 2>&1 || echo "exit $?"
done
cmp own.index "$index" && echo unchanged
"$ETW" providers --known --json -o other.json --force
head -c 12 other.json
