#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""etw record -- COMMAND as root, then etw stacks: where a program with known calls spends its time.

    check_stacks.py ETW NESTED_CALLS

No number of samples is asked for but that there are some: most of the program's time is in one
function, and it waits in another. Exit status: 0 as it should be, 1 not, 77 the kernel cannot be
recorded here.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 1500
NAME = "nested_calls"


def fail(sentence, text=""):
    print(text)
    print(f"check_stacks: {sentence}", file=sys.stderr)
    sys.exit(1)


def run(folder, *words):
    environment = dict(os.environ, ETW_RUNTIME_DIR=f"{folder}/run", ETWD_IDLE_MS="200")
    return subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=SECONDS)


def stacks(etw, folder, *options):
    done = run(folder, etw, "stacks", "--json", "--process", NAME, *options, "t.etl")
    if done.returncode:
        fail(f"etw stacks ended with {done.returncode}", done.stderr)
    return json.loads(done.stdout)


def path_to(tree, function):
    """The functions above the heaviest node of this function, itself included, outermost first."""
    path, best = [], (0, None)
    for node in tree:
        del path[node["depth"]:]
        path.append(node.get("function"))
        if node.get("function") == function and node["weight"] > best[0]:
            best = (node["weight"], list(path))
    return best[1]


def weight_of(result, function):
    return sum(one["weight"] for one in result["functions"] if one.get("function") == function)


def check_samples(etw, folder):
    result = stacks(etw, folder, "--callers", "spin")
    if not result["events"]:
        fail("the program has no samples")
    path = path_to(result["tree"], "spin")
    if not path or path[-4:] != ["main", "outer", "middle", "spin"]:
        fail(f"spin was reached by {path}")
    if 2 * weight_of(result, "spin") < result["weight"]:
        fail("spin has less than half of the time", result["functions"][:10])
    callers = [node.get("function") for node in result["callers"][:4]]
    if callers != ["spin", "middle", "outer", "main"]:
        fail(f"spin's callers are {callers}")
    if result["stacks_none"] or result["stacks_undefined"]:
        fail("samples have no stack")
    modules = [module for module in result["modules"] if module.get("module") == NAME]
    if not modules or not modules[0]["named"]:
        fail(f"the program has no symbols: {modules}")


def check_waits(etw, folder):
    result = stacks(etw, folder, "--event", "cswitch")
    if not weight_of(result, "rest"):
        fail("nobody waited in rest", result["functions"][:10])
    path = path_to(result["tree"], "rest")
    if path[-2:] != ["main", "rest"]:
        fail(f"rest was reached by {path}")
    counted = stacks(etw, folder, "--event", "Thread/CSwitch")
    if counted["events"] < result["events"]:
        fail("by name there are fewer switches", counted)


def main():
    etw, program = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "run").mkdir(mode=0o700)
        done = run(folder, etw, "record", "--kernel", "process,thread,loader,profile,cswitch",
                   "--stacks", "Profile,CSwitch", "-o", "t.etl", "--", program)
        if "Where the command's CPU time went" not in done.stderr:
            print("skipped: the kernel's samples and switches cannot be recorded here")
            print(done.stderr)
            sys.exit(SKIPPED)
        if done.returncode:
            fail(f"the recording ended with {done.returncode}", done.stderr)
        if f"{NAME}!turn" not in done.stderr and f"{NAME}!spin" not in done.stderr:
            fail("the hottest function is not in the report", done.stderr)
        check_samples(etw, folder)
        check_waits(etw, folder)
    print("the calls of a program are where they were made")


if __name__ == "__main__":
    main()
