#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The summary for programs has what the page has.
"$MAKE_TRACE" --preset session session.etl
"$MAKE_TRACE" --preset loss loss.etl
"$ETW" summary --json session.etl loss.etl | python3 -m json.tool
