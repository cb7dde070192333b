#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# - is standard input.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" dump - --max 2 --time raw <plain.etl
