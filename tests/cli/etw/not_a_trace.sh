#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file of another kind.
printf 'hello, this is no trace at all\n' >text.etl
"$ETW" text.etl
