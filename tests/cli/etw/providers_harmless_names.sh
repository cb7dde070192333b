#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A table of known providers that somebody else made sends no commands to a terminal.
index=$(dirname "$ETW")/../share/etw/known-providers.index
LC_ALL=C sed 's/jdu/\x1b[m/g' "$index" >other.index
ETW_KNOWN_PROVIDERS=other.index "$ETW" providers Microsoft-Windows-DNS-Client | sed -n 3p
