#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the C reader against the independent walker on every made-up trace.

    check_walker.py LIST_EVENTS MAKE_TRACE

The event streams must be equal line by line. Two things the readers settle differently: a message
without a time at a buffer's start has none for the walker, and a buffer that is cut off is damage
to both, but the walker reads no event of it. Exit status: 0 all equal, 1 a difference.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "walker"))

from compare_streams import describe_difference, parse_line
from etl_walk import iter_event_objects
from tracefile import TraceFile

CUT_PRESETS = {"crashed-cut"}           # the C reader gives more
PADDED_PRESETS = {"preallocated"}       # the walker calls the unwritten rest damage


def compare(path, lines, is_cut):
    """(problem or None, events)."""
    count = 0
    with TraceFile(path) as trace:
        for count, wanted in enumerate(iter_event_objects(trace), 1):
            line = next(lines, None)
            if line is None:
                return f"event {count} is missing", count
            got, problem = parse_line(line)
            if problem:
                return f"event {count}: {problem}", count
            if wanted["ts"] is None:
                wanted["ts"], wanted["filetime"] = got["ts"], got["filetime"]
            text = describe_difference(got, wanted)
            if text:
                return f"event {count}: {text}", count
    if not is_cut and next(lines, None) is not None:
        return f"more than {count} events", count
    return None, count


def main():
    program, make_trace = sys.argv[1:3]
    bad = total = presets = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([make_trace, "--all", folder], check=True)
        for path in sorted(pathlib.Path(folder).glob("*.etl")):
            name = path.stem
            result = subprocess.run([program, "walk", str(path)], capture_output=True, text=True,
                                    check=False)
            problem, count = compare(str(path), iter(result.stdout.splitlines()),
                                     name in CUT_PRESETS)
            if not problem and name not in CUT_PRESETS and result.returncode:
                problem = f"exit status {result.returncode}: {result.stderr.splitlines()[:1]}"
            if not problem and name not in CUT_PRESETS | PADDED_PRESETS and result.stderr:
                problem = result.stderr.splitlines()[0]
            if problem:
                print(f"{name}: {problem}")
            bad += bool(problem)
            total += count
            presets += 1
    print(f"{presets} presets, {total} events, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
