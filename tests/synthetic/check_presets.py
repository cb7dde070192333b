#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold every preset of make_trace against the format's rules (tests/walker).

    check_presets.py MAKE_TRACE

Presets that claim to be whole must pass `etl_walk.py check`, and --strict where they are sessions
of Windows 10 (the rule session_is_modern says so). Writing one twice gives the same bytes.
Exit status: 0 all pass, 1 not.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "walker"))

from rulebook import check_trace
from tracefile import TraceFile


def names(program, option):
    lines = subprocess.run([program, option], check=True, capture_output=True, text=True).stdout
    return [line.split("\t")[0] for line in lines.splitlines()]


def complaints(path):
    """What the walker says about one file."""
    with TraceFile(path) as trace:
        return [str(violation) for violation in check_trace(trace, is_strict=True)
                if violation.rule.name != "session_is_modern"]


def main():
    program = sys.argv[1]
    bad = 0
    everything = names(program, "--list")
    whole = names(program, "--list-whole")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "--all", folder], check=True)
        for name in everything:
            path = f"{folder}/{name}.etl"
            again = f"{folder}/again"
            subprocess.run([program, "--preset", name, again], check=True)
            if pathlib.Path(path).read_bytes() != pathlib.Path(again).read_bytes():
                print(f"{name}: not the same bytes twice")
                bad += 1
            found = complaints(path) if name in whole else []
            for line in found[:5]:
                print(line)
            bad += bool(found)
    print(f"{len(whole)} of {len(everything)} presets are whole, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
