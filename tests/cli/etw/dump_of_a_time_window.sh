#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From and to, relative and absolute.
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" dump plain.etl --from +0.0001 --to +0.00012 --time relative
"$ETW" dump plain.etl --from 2022-06-18T04:26:40.0005Z --to 2022-06-18T04:26:40.00052Z
