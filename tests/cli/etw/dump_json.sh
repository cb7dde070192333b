#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Events as JSON.
"$MAKE_TRACE" --preset session session.etl
"$ETW" dump --json session.etl --max 40
