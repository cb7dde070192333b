#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that can be counted.
"$MAKE_TRACE" --preset session session.etl
"$ETW" info session.etl --buffers
