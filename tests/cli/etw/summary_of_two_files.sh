#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several files are one trace.
"$MAKE_TRACE" --preset new-file-1 one.etl
"$MAKE_TRACE" --preset new-file-2 two.etl
"$ETW" one.etl two.etl | grep -E '^(File|Events|lost)'
