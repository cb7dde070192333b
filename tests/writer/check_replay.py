#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Give the events and header facts of genuine traces to the writer and compare bytes.

    check_replay.py REPLAY_TRACE [DATA_DIR]

Every uncompressed genuine trace is replayed (replay.c). What differs must be of a kind that Windows
leaves arbitrary, and the counts of each kind must be those of the table in docs/format/etl.md
"What Windows leaves arbitrary", so that the page cannot claim less than is true.
DATA_DIR defaults to $ETW_TEST_DATA, else to ../shared/data beside the repository.
Exit status: 0 as listed, 1 a difference, 77 no data (skipped, the reason is printed).
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

EXIT_SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/format/etl.md"
MODE_COMPRESSED = 0x4000000
ROW = re.compile(r"^\| `([a-z-]+)` \|.*\| ([0-9,]+) \|$", re.MULTILINE)


def find_data_dir(arguments):
    if arguments:
        return pathlib.Path(arguments[0])
    if os.environ.get("ETW_TEST_DATA"):
        return pathlib.Path(os.environ["ETW_TEST_DATA"])
    return ROOT.parent / "shared" / "data"


def listed_counts():
    text = PAGE.read_text(encoding="utf-8")
    return {kind: int(count.replace(",", "")) for kind, count in ROW.findall(text)}


def replay(program, path):
    """(problem or None, counts by kind)."""
    result = subprocess.run([program, str(path)], capture_output=True, text=True, check=False)
    counts = collections.Counter()
    for line in result.stdout.splitlines():
        key, _, count = line.partition(" ")
        if count.isdigit():
            counts[key] += int(count)
    if result.returncode:
        return (result.stdout + result.stderr).splitlines()[0], counts
    return None, counts


def main():
    program, data_dir = sys.argv[1], find_data_dir(sys.argv[2:])
    facts_path = data_dir / "facts.json"
    if not facts_path.exists():
        print(f"skip: no genuine traces, {facts_path} does not exist")
        return EXIT_SKIP
    bad = traces = 0
    total = collections.Counter()
    for facts in sorted(json.loads(facts_path.read_text(encoding="utf-8")),
                        key=lambda entry: entry["file"]):
        if facts["hdr"]["LogFileMode"] & MODE_COMPRESSED:
            continue
        problem, counts = replay(program, data_dir / facts["file"])
        total += counts
        traces += 1
        if not problem and counts["buffers"] != facts["buffers"]:
            problem = f"{counts['buffers']} buffers, expected {facts['buffers']}"
        if problem:
            print(f"{facts['file']}: {problem}")
            bad += 1
    found = {**{kind: 0 for kind in listed_counts()}, **total, "traces": traces}
    for kind, count in sorted(found.items()):
        listed = listed_counts().get(kind)
        print(f"{kind}: {count}" + ("" if listed == count else f", listed {listed}"))
        bad += listed != count
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
