#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One page about a trace with everything in it.
"$MAKE_TRACE" --preset session session.etl
"$ETW" session.etl
