#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the C reader against the reference files of the genuine traces.

    check_reference.py LIST_EVENTS [DATA_DIR]

Per trace: every event of the walk equals the reference line by line; header and counts equal
facts.json; the merge gives the same events, times never running back and equal times in file order.
Then several traces merged together: the files of one session, and all. Nothing may be skipped on
the way.
DATA_DIR defaults to $ETW_TEST_DATA, else to ../shared/data beside the repository.
Exit status: 0 all equal, 1 a difference, 77 no data (skipped, the reason is printed).
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "walker"))

from compare_streams import iter_differences, open_lines

EXIT_SKIP = 77
# Of facts.json's header: renderings of other fields, and what the C reader has no field for.
HEADER_LEFT_OUT = {"ModeFlags", "Clock", "first_hdr_type", "header_evt_version"}


def find_data_dir(arguments):
    if arguments:
        return pathlib.Path(arguments[0])
    if os.environ.get("ETW_TEST_DATA"):
        return pathlib.Path(os.environ["ETW_TEST_DATA"])
    return pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data"


class Reader:
    """list_events as a stream of lines; `problem` says why it is not to be trusted."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.problem = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdout.close()
        text = self.process.stderr.read()
        if self.process.wait() or text:
            self.problem = f"exit status {self.process.returncode}: {text.splitlines()[:1]}"
        self.process.stderr.close()

    def lines(self):
        return self.process.stdout


def compare_walk(program, path, reference):
    """Problem text or None."""
    with Reader(program, "walk", path) as reader, open_lines(reference) as lines:
        for number, text in itertools.islice(iter_differences(reader.lines(), lines), 1):
            return f"event {number}: {text}"
        for _ in reader.lines():
            pass
    return reader.problem


def compare_facts(program, path, facts):
    with Reader(program, "header", path) as reader:
        ours = json.loads(reader.lines().readline())
    for key in ("size", "buffers", "events", "cpus", "header_types"):
        if ours[key] != facts[key]:
            return f"{key}: {ours[key]!r}, expected {facts[key]!r}"
    for key, value in facts["hdr"].items():
        if key not in HEADER_LEFT_OUT and ours["hdr"].get(key) != value:
            return f"hdr.{key}: {ours['hdr'].get(key)!r}, expected {value!r}"
    return reader.problem


def expected_events(index, reference):
    """(FILETIME, trace, buffer, offset) of every event of a reference file."""
    with open_lines(reference) as lines:
        for line in lines:
            event = json.loads(line)
            yield event["filetime"], index, event["buf"], event["off"]


def compare_merge(program, paths, references):
    """(problem or None, number of events): the merge is the references, sorted."""
    wanted = sorted(itertools.chain.from_iterable(
        expected_events(index, reference) for index, reference in enumerate(references)))
    with Reader(program, "merge", *paths) as reader:
        count = 0
        for count, line in enumerate(reader.lines(), 1):
            got = tuple(map(int, line.split()))
            if count > len(wanted) or got != wanted[count - 1]:
                want = wanted[count - 1] if count <= len(wanted) else "the end"
                return f"merge, event {count}: {got}, expected {want}", count
    if count != len(wanted):
        return f"merge: {count} events, expected {len(wanted)}", count
    return reader.problem, count


def main():
    program, data_dir = sys.argv[1], find_data_dir(sys.argv[2:])
    facts_path = data_dir / "facts.json"
    if not facts_path.exists():
        print(f"skip: no genuine traces, {facts_path} does not exist")
        return EXIT_SKIP
    all_facts = sorted(json.loads(facts_path.read_text(encoding="utf-8")),
                       key=lambda entry: entry["file"])
    paths = [data_dir / facts["file"] for facts in all_facts]
    references = [data_dir / "reference/events" / (facts["file"].replace("/", "__") + ".jsonl.xz")
                  for facts in all_facts]
    bad = 0
    for facts, path, reference in zip(all_facts, paths, references):
        problem = (compare_walk(program, path, reference) or compare_facts(program, path, facts)
                   or compare_merge(program, [path], [reference])[0])
        print(f"{facts['file']}: {problem or 'ok'}", flush=True)
        bad += bool(problem)
    together = [("one session", [i for i, facts in enumerate(all_facts)
                                 if facts["file"].startswith("vs-diaghub/")]),
                ("all", range(len(all_facts)))]
    for name, chosen in together:
        problem, count = compare_merge(program, [paths[i] for i in chosen],
                                       [references[i] for i in chosen])
        verdict = problem or f"ok, {count} events"
        print(f"{len(chosen)} traces merged ({name}): {verdict}", flush=True)
        bad += bool(problem)
    events = sum(facts["events"] for facts in all_facts)
    print(f"{len(all_facts)} traces, {events} events, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
