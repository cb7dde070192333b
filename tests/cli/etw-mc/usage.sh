#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Command lines that are not understood, and help.
# shellcheck source=tests/cli/etw-mc/made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest >made.man
"$MC" --help | head -1
"$MC" /? | head -1
for line in "" "-q made.man" "-um" "-h" "made.man -z" "-bq made.man" "/q made.man" \
	"-cp latin1 made.man" "-e html made.man" "-z a/b made.man" "-m many made.man" \
	"-um -km made.man" "-mof made.man" "-um -mof made.man" "-cs Name made.man" \
	"-generateProjections made.man" "-s base made.man" "-t base made.man" "-c made.man" \
	"gone.man" "-h gone made.man" "-z made -e man made.man" "made.man made.man" "text.mc"; do
	echo "mc $line"
	# shellcheck disable=SC2086 # words
	"$MC" $line 2>&1 >&- | head -1 || true
	# shellcheck disable=SC2086 # words
	"$MC" $line >/dev/null 2>&1 || echo "exit $?"
done
ls
