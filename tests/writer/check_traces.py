#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold what the writer makes against the format's rules and against both readers.

    check_traces.py WRITE_TRACES LIST_EVENTS

write_traces makes the files and reads them back itself. Here the walker, which shares no code with
writer and reader, applies every rule (--strict) and must read the events that the C reader reads.
Exit status: 0 fine, 1 a violation or a difference.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "walker"), str(HERE.parent / "reader")]

from check_walker import compare
from rulebook import check_trace
from tracefile import TraceFile


def check(path, list_events):
    """(problem or None, events)."""
    with TraceFile(str(path)) as trace:
        for violation in check_trace(trace, is_strict=True):
            return str(violation), 0
    result = subprocess.run([list_events, "walk", str(path)], capture_output=True, text=True,
                            check=False)
    if result.returncode or result.stderr:
        return f"exit status {result.returncode}: {result.stderr.splitlines()[:1]}", 0
    return compare(str(path), iter(result.stdout.splitlines()), is_cut=False)


def main():
    write_traces, list_events = sys.argv[1:3]
    bad = traces = total = 0
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([write_traces, folder], check=False)
        bad += bool(made.returncode)
        for path in sorted(pathlib.Path(folder).glob("*.etl")):
            problem, count = check(path, list_events)
            if problem:
                print(f"{path.stem}: {problem}")
            bad += bool(problem)
            traces += 1
            total += count
    print(f"{traces} traces, {total} events, {bad} problems")
    return 1 if bad or not traces else 0


if __name__ == "__main__":
    sys.exit(main())
