#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# WPP messages as JSON: the TMF file lies in a folder.
"$MAKE_TRACE" --preset wpp wpp.etl
cp "$CASE_FOLDER/wpp_driver.tmf" driver.tmf
mkdir tmf
mv driver.tmf tmf
"$ETW" dump --json --manifest tmf wpp.etl
