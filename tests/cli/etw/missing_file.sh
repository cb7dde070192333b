#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file that is not there.
"$ETW" missing.etl
