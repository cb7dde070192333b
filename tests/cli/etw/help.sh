#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The overview and the verbs' options.
"$ETW" --help
for verb in summary dump info help; do
	echo
	"$ETW" help "$verb"
done
"$ETW" dump -h | cmp - <("$ETW" help dump)
"$ETW" help -h | cmp - <("$ETW" help help)
"$ETW" help --version | cmp - <("$ETW" --version)
"$ETW" help -V | cmp - <("$ETW" --version)
"$ETW" record -h | cmp - <("$ETW" help record)
