#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every key of objects that are no events stands in docs/format/json.md; of events: check_json.py.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
"$MAKE_TRACE" --preset loss loss.etl
"$MAKE_TRACE" --preset plain plain.etl
head -c 6000 plain.etl >cut.etl
"$ETW" info --json --buffers loss.etl plain.etl cut.etl >objects || echo "status $?"
"$MAKE_TRACE" --preset processes processes.etl
{
	"$ETW" processes --json processes.etl
	"$ETW" summary --json processes.etl loss.etl cut.etl || echo "status $?" >&2
	"$ETW" record --provider x -o x.etl -- "$ETW" sessions --json 2>said
	"$ETW" providers --json Microsoft-Windows-Kernel-Process
	"$ETW" providers --json Microsoft-Windows-Kernel-General
	"$ETW" providers --json 'Microsoft-Windows-D*'
	"$ETW" providers --json --search ParentProcessID | head -3
} >>objects
wc -l <objects
python3 - "$CASE_FOLDER/../../../docs/format/json.md" <<'END'
import json
import re
import sys

known = set(re.findall(r"`([A-Za-z_-]+)`", open(sys.argv[1], encoding="utf-8").read()))
keys = set()


def gather(value, is_counts=False):
    if isinstance(value, list):
        for item in value:
            gather(item)
    elif isinstance(value, dict):
        keys.update([] if is_counts else value)
        for key, item in value.items():
            gather(item, key in ("events_by_header", "events_by_processor"))


for line in open("objects", encoding="utf-8"):
    gather(json.loads(line))
print(sorted(keys - known))
print(len(keys) > 50)
END
