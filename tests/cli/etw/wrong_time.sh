#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a time looks like is said.
"$ETW" dump --from yesterday y.etl
