#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# WPP messages as text: from a TMF file.
"$MAKE_TRACE" --preset wpp wpp.etl
cp "$CASE_FOLDER/wpp_driver.tmf" driver.tmf
"$ETW" dump --manifest driver.tmf wpp.etl
