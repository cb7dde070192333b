#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every stack of the genuine traces is what another algorithm finds, over another reader.

    check_genuine.py LIST_STACKS

Exit status: 0 all hold, 1 one does not, 77 no data.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "conformance" / "kernel"))
sys.dont_write_bytecode = True

from kernel_common import TraceFile, find_data_dir  # noqa: E402 (found through the path above)
from stack_oracle import Attached  # noqa: E402

REPORT_MAX = 10
# What the trace with cached stacks holds, counted once by other means.
KNOWN = {"net.4.5.2.x86.etl": {"references": 12172, "definitions": 4073, "keys": 1134, "walks": 229,
                               "items": 1070, "strays": 0, "undefined": 0, "late": 0}}
# Nothing of these may happen in a sound file.
NEVER = ("damaged", "given_up", "left_out", "untold")


def read_program(program, path):
    """The lines by the place of their event, and the counts."""
    lines, counts = {}, {}
    output = subprocess.run([program, path], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in output.splitlines():
        words = line.split()
        if words[0] == "=":
            counts[words[1]] = int(words[2])
        else:
            lines[int(words[0]), int(words[1])] = words[2:]
    return lines, counts


def expected_lines(attached):
    lines = {}
    for event in attached.events:
        frames = event.found.frames() if event.found else []
        if not frames:
            continue
        inner = 0
        while inner < len(frames) and attached.is_kernel(frames[inner]):
            inner += 1
        lines[event.buffer, event.offset] = [str(event.found.pid), str(event.found.tid), str(inner),
                                             *(f"{frame:x}" for frame in frames)]
    return lines


def check_file(program, path):
    """Complaints about one file, and how many stacks it has."""
    with TraceFile(path) as trace:
        attached = Attached(trace)
    expected = expected_lines(attached)
    lines, counts = read_program(program, path)
    complaints = [f"event {place}: {lines.get(place)} where {expected.get(place)} was expected"
                  for place in sorted(lines.keys() | expected.keys())
                  if lines.get(place) != expected.get(place)]
    for name, number in (("walks", attached.counts["stacks"]),
                         ("references", attached.counts["references"]),
                         ("items", attached.counts["stacks in items"]),
                         ("definitions", attached.counts["definitions"]),
                         ("strays", attached.counts["without event"])):
        if counts[name] != number:
            complaints.append(f"{name}: {counts[name]}, not {number}")
    counts["keys"] = len(attached.definitions)
    for name, number in KNOWN.get(path.name, {}).items():
        if counts[name] != number:
            complaints.append(f"{name}: {counts[name]} where {number} are known")
    complaints += [f"{name}: {counts[name]}" for name in NEVER if counts[name]]
    return complaints, len(expected)


def main():
    data_dir = find_data_dir()
    failures = stacks = files = 0
    for path in sorted(data_dir.glob("*/*.etl")):
        complaints, count = check_file(sys.argv[1], path)
        stacks += count
        files += 1
        for complaint in complaints[:REPORT_MAX]:
            print(f"{path.name}: {complaint}")
        failures += len(complaints)
    print(f"{stacks} stacks in {files} files, {failures} complaints")
    return 1 if failures or not stacks else 0


if __name__ == "__main__":
    sys.exit(main())
