#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The nearest option is suggested, and the verb that has one.
"$ETW" summary --pid 4 y.etl || true
"$ETW" --provider x y.etl || true
"$ETW" y.etl --pid=4 || true
"$ETW" record --from 4 || true
"$ETW" dump -p 4 y.etl || true
"$ETW" dump y.etl -px || true
"$ETW" dump y.etl --pid || true
"$ETW" dump --provder x y.etl
