#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Payloads as they are, shortened unless --full.
"$MAKE_TRACE" --preset payload-sizes sizes.etl
"$ETW" dump --no-decode sizes.etl --max 9
"$ETW" dump --no-decode --full sizes.etl --max 9 | tail -n 1
