#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Command lines that are not understood, and help.
"$WEVTUTIL" /? | head -1
"$WEVTUTIL" gp /? | head -1
"$WEVTUTIL" um x /? | head -1
for line in "" "im" "ep more" "gq x" "qe System" \
	"gp x /f:json" "gp x /ge:perhaps" "im --rf" "im x.man -zz:1" \
	"im x.man /zz:1" "um /q" "ep /all" "gp x /zz=/a/b" "im /nowhere/x.man" \
	"im x.man" "um nothing" "gp nothing"; do
	echo "wevtutil $line"
	# shellcheck disable=SC2086 # words
	"$WEVTUTIL" $line 2>&1 >&- | head -1 || true
	# shellcheck disable=SC2086 # words
	"$WEVTUTIL" $line >/dev/null 2>&1 || echo "exit $?"
done
