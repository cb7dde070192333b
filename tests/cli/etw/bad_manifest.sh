#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A manifest that cannot be read is named with its line.
"$MAKE_TRACE" --preset plain plain.etl
printf '<instrumentationManifest>\n<oops\n' >bad.man
"$ETW" summary --manifest bad.man plain.etl
