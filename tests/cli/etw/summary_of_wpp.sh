#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# WPP messages: what would help is said.
"$MAKE_TRACE" --preset messages wpp.etl
"$ETW" wpp.etl --top 3
