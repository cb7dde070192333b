#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Events as text.
"$MAKE_TRACE" --preset session session.etl
"$ETW" dump session.etl --max 40
