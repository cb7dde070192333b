#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# By provider, event, process.
"$MAKE_TRACE" --preset session session.etl
"$ETW" dump session.etl --provider 'synthetic-*' --time relative
echo --
"$ETW" dump session.etl --event Process/Start --time relative
echo --
"$ETW" dump session.etl --pid 4 --time relative --max 2
