#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Other ways to ask for the version and for what was built; --json without a verb; process ids in
# hexadecimal.
for word in --version -V version; do
	"$ETW" "$word" | sed -E '1s/ [0-9.]+$/ N/; s/: (in|left out: .+)$/: STATE/'
done
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" --json plain.etl 2>&1 || echo "status $?"
"$ETW" plain.etl --json 2>&1 || echo "status $?"
"$ETW" --json 2>&1 || echo "status $?"
"$ETW" dump plain.etl --pid 0x3e8 --max 2 --time relative
"$ETW" dump plain.etl --pid 0x --max 2 2>&1 || echo "status $?"
