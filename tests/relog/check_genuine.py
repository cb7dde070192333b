#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copy every genuine trace with the relogger, and hold the copy against the original.

    check_genuine.py RELOG_TRACE LIST_EVENTS [DATA_DIR]

Each trace is copied as it is and compressed. The copy's events must be the original's, field by
field, extended items and payloads included, and of each processor in the same order: as the
project's reader shows them, and as the walker does, which shares no code with it. The walker's
rules must hold. Then the copy of a copy, and the traces of one session merged.
DATA_DIR defaults to $ETW_TEST_DATA, else to ../shared/data beside the repository.
Exit status: 0 the same, 1 a difference, 77 no data (skipped, the reason is printed).
"""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "walker"), str(HERE.parent / "reader")]

from check_reference import EXIT_SKIP, find_data_dir
from etl_walk import iter_event_objects
from rulebook import check_trace
from tracefile import TraceFile

PLACE_KEYS = ("buf", "off")             # where an event lies is the copy's own


def is_header_event(event):
    return event["buf"] == 0 and event.get("group") == 0 and event["op"] == 0


class Stream:
    """The events of a trace: how many, and a digest of those of each processor in order of time."""

    def __init__(self, objects):
        by_processor = collections.defaultdict(list)
        self.count = 0
        for event in objects:
            if is_header_event(event):
                continue
            self.count += 1
            # The time of a message without one is its neighbour's.
            key = event["ts"] or 0
            text = json.dumps({name: value for name, value in event.items()
                               if name not in PLACE_KEYS}, sort_keys=True)
            by_processor[event["cpu"]].append((key, text))
        self.events = {}
        for processor, events in by_processor.items():
            events.sort(key=lambda entry: entry[0])
            digests = [hashlib.sha1(text.encode()).digest() for _, text in events]
            self.events[processor] = digests

    def differs(self, other):
        """None, or a sentence."""
        if self.count != other.count:
            return f"{other.count} events, expected {self.count}"
        if self.events.keys() != other.events.keys():
            return f"processors {sorted(other.events)}, expected {sorted(self.events)}"
        for processor, digests in self.events.items():
            if digests != other.events[processor]:
                is_set = sorted(digests) == sorted(other.events[processor])
                return f"events of processor {processor} " + ("in another order" if is_set
                                                              else "differ")
        return None


def read(program, path):
    """(Stream, problem or None) by the project's reader."""
    result = subprocess.run(
        [program, "walk", str(path)], capture_output=True, text=True, check=False)
    problem = None
    if result.returncode or result.stderr:
        problem = f"exit status {result.returncode}: {result.stderr.splitlines()[:1]}"
    return Stream(json.loads(line) for line in result.stdout.splitlines()), problem


def walk(path):
    """(Stream, problem or None) by the walker, with its rules."""
    with TraceFile(str(path)) as trace:
        problem = next((str(violation) for violation in check_trace(trace)), None)
        return Stream(iter_event_objects(trace)), problem


def relog(program, output, inputs, is_compressed):
    """Problem or None."""
    command = [program, *(["--compress"] if is_compressed else []), str(output), *map(str, inputs)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        return f"exit status {result.returncode}: {result.stderr.strip()}"
    return None


def check_copy(program, list_events, wanted, inputs, output, is_compressed):
    """Problem or None."""
    problem = relog(program, output, inputs, is_compressed)
    if problem:
        return problem
    for name, (stream, fault) in (("reader", read(list_events, output)), ("walker", walk(output))):
        problem = fault or wanted.differs(stream)
        if problem:
            return f"{name}: {problem}"
    return None


def main():
    program, list_events, data_dir = sys.argv[1], sys.argv[2], find_data_dir(sys.argv[3:])
    facts_path = data_dir / "facts.json"
    if not facts_path.exists():
        print(f"skip: no genuine traces, {facts_path} does not exist")
        return EXIT_SKIP
    names = sorted(facts["file"] for facts in json.loads(facts_path.read_text(encoding="utf-8")))
    bad = events = 0
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = pathlib.Path(folder, "plain.etl"), pathlib.Path(folder, "packed.etl")
        for name in names:
            wanted, _ = read(list_events, data_dir / name)
            problem = check_copy(program, list_events, wanted, [data_dir / name], plain, False)
            # A copy of the copy has the same events, too.
            problem = problem or check_copy(program, list_events, wanted, [plain], packed, True)
            print(f"{name}: {problem or f'ok, {wanted.count} events'}", flush=True)
            bad += bool(problem)
            events += wanted.count
    print(f"{len(names)} traces, {events} events, each plain and compressed, {bad} problems")
    return 1 if bad or not names else 0


if __name__ == "__main__":
    sys.exit(main())
