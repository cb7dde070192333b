#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The nearest verb is suggested.
"$ETW" dmup
