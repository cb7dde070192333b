#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --output writes a file.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" dump plain.etl --max 2 --output out.txt
cat out.txt
