#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several files: every line says which.
"$MAKE_TRACE" --preset new-file-1 one.etl
"$MAKE_TRACE" --preset new-file-2 two.etl
"$ETW" dump one.etl two.etl --from +0.00058 --to +0.00060 --time relative
