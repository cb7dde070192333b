#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Traces of different machines: each says its own; a machine that was named is not named again.
"$MAKE_TRACE" --preset plain plain.etl
cp plain.etl again.etl
# Another build number: TRACE_LOGFILE_HEADER.ProviderVersion of the header event.
printf '\261\035\000\000' | dd of=again.etl bs=1 seek=$((72 + 32 + 8)) conv=notrunc status=none
"$ETW" plain.etl again.etl plain.etl | grep -E '^(File|Machine)'
