#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The nearest option is suggested.
"$ETW" dump --provder x y.etl
