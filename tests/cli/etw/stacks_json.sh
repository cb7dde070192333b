#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same as JSON: sums agree with each other, and each key is documented.
"$MAKE_TRACE" --preset session session.etl
"$ETW" stacks --json --threads --callers '*0x1*' session.etl >profile
"$ETW" stacks --json --event cswitch session.etl >waits
python3 - "$CASE_FOLDER/../../../docs/format/json.md" <<'END'
import json
import re
import sys

known = set(re.findall(r"`([A-Za-z_-]+)`", open(sys.argv[1], encoding="utf-8").read()))


def keys_of(value):
    if isinstance(value, list):
        return set().union(*map(keys_of, value)) if value else set()
    if isinstance(value, dict):
        return set(value) | keys_of(list(value.values()))
    return set()


for name in ("profile", "waits"):
    with open(name, encoding="utf-8") as file:
        stacks = json.load(file)
    roots = [node for node in stacks["tree"] if node["depth"] == 0]
    print(name, stacks["event"], stacks["unit"], stacks["weight"], stacks["events"],
          sum(node["weight"] for node in roots) == stacks["weight"],
          sum(node["weight_itself"] for node in stacks["tree"]) == stacks["weight"],
          sum(process["weight"] for process in stacks["processes"]) == stacks["weight"],
          sum(function["weight_itself"] for function in stacks["functions"]) <= stacks["weight"],
          sorted(keys_of(stacks) - known))
END
