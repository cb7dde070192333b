#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same for programs.
"$MAKE_TRACE" --preset crashed-cut cut.etl
"$ETW" info --json --buffers cut.etl
