#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Extended items in JSON.
"$MAKE_TRACE" --preset extended-items items.etl
"$ETW" dump --json items.etl
