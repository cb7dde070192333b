#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A name with control characters cannot drive the terminal by way of a message either.
"$ETW" $'no\e[31msuch.etl' 2>&1 || echo "status $?"
mkdir $'f\e]0;title\a'
"$ETW" dump $'f\e]0;title\a' 2>&1 || echo "status $?"
"$WEVTUTIL" im $'no\e[2Jsuch.man' 2>&1 || echo "status $?"
"$ETW" dump --time $'\e[1m' x.etl 2>&1 || echo "status $?"
