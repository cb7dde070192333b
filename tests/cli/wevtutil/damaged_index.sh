#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An index that was cut is told of, left out by readers, and never overwritten.
# shellcheck source-path=SCRIPTDIR source=made_manifest
. "$CASE_FOLDER/made_manifest"
made_manifest 1 >one.man
export ETW_PROVIDERS_DIR=registry
"$WEVTUTIL" im one.man
truncate -s 100 registry/index
"$WEVTUTIL" ep || echo "exit $?"
"$WEVTUTIL" im one.man || echo "exit $?"
"$MAKE_TRACE" --preset plain plain.etl
"$ETW" info plain.etl >/dev/null || echo "exit $?"
