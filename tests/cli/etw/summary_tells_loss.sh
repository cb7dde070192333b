#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the session lost stands in the last line.
"$MAKE_TRACE" --preset loss loss.etl
"$ETW" loss.etl | tail -n 1
