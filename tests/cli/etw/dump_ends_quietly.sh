#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A reader that goes away is no error.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" dump plain.etl | head -n 1
echo "${PIPESTATUS[0]}"
