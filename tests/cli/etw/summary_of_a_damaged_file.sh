#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A damaged file is read as far as it goes; the status is 3.
"$MAKE_TRACE" --preset crashed-cut cut.etl
"$ETW" summary cut.etl
