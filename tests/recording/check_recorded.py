#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record files of many kinds; both readers must find in them what the session said.

    check_recorded.py FILES_PROGRAM LIST_EVENTS [--kernel]

The program (files.c) records, and prints what ControlTrace said when each session stopped. Of each
file:

    - the walker's strict rules have no complaint;
    - the C reader's events equal the walker's, event for event;
    - EndTime, BuffersWritten, EventsLost and BuffersLost of the header are those of ControlTrace;
    - every event that was tried is in the file or counted as lost;
    - every event's time lies between the start and the stop, whatever the clock;
    - the group masks, the ends of rundown and the configuration of kernel files stand where Windows
      has them.

Exit status: 0 all hold, 1 a problem, 77 with the reason when the kernel cannot be recorded.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "walker"), str(TESTS / "reader")]

from check_walker import compare  # pylint: disable=wrong-import-position
from rulebook import check_trace  # pylint: disable=wrong-import-position
from tracefile import TraceFile  # pylint: disable=wrong-import-position

SKIPPED = 77
PROVIDER = "5e1c9b1a-3d53-4c7e-9a41-0c6f7d218804"
MASKS_NEW, RUNDOWN_COMPLETE, MASKS_OLD, CONFIG_CPU = 0x0005, 0x0008, 0x0020, 0x0B0A
CONFIG_GROUP = 0x0B
DC_START, DC_END = 0x0303, 0x0304
ALL_BUILT, NONE = 7, 0
CONFIG_BYTES = 828
COMPUTER_AT = 20
CLOCK_CYCLES = 3


def ticks_of_error(trace, until_ft):
    """How far a FILETIME may be off: the header tells the cycles of a second in MHz only."""
    logfile = trace.logfile
    if logfile.clock_type != CLOCK_CYCLES:
        return 1
    return 1 + (until_ft - logfile.start_time_ft) // (2 * logfile.cpu_mhz) + 1


def check_header(trace, line):
    """What the header says against what ControlTrace said."""
    logfile = trace.logfile
    for name, got, said in (("EventsLost", logfile.events_lost, line["events_lost"]),
                            ("BuffersWritten", logfile.buffers_written, line["buffers"]),
                            ("BuffersLost", logfile.buffers_lost, line["buffers_lost"])):
        if got != said:
            yield f"{name} is {got}, ControlTrace said {said}"
    if not line["before"] <= logfile.end_time_ft <= line["after"]:
        yield f"EndTime {logfile.end_time_ft} is not between {line['before']} and {line['after']}"
    if trace.file_bytes != logfile.buffers_written * logfile.buffer_bytes:
        yield f"{trace.file_bytes} bytes are not {logfile.buffers_written} buffers"


def check_events(trace, line):
    """Times, and the sum of the providers' events. Also returns the kernel's bookkeeping."""
    first, last = trace.logfile.start_time_ft, line["after"]
    slack = ticks_of_error(trace, last)
    count, outside, books = 0, 0, []
    for buffer in trace.buffers():
        for event in buffer.events():
            count += event.fields.get("guid") == PROVIDER
            outside += not first - slack <= trace.clock.to_filetime(event.ts) <= last + slack
            if event.hook is not None and (event.hook >> 8 in (0, CONFIG_GROUP) or
                                           event.hook in (DC_START, DC_END)):
                payload = bytes(buffer.body[event.payload_pos:event.pos + event.size])
                books.append((event.ts, buffer.index, event.hook, payload))
    problems = []
    if outside:
        problems.append(f"{outside} events are not between start and stop")
    left = line["tried"] - count - line["events_lost"]
    if left > 0 or (left < 0 and not line["name"].startswith("kernel")):
        problems.append(f"{line['tried']} events tried, {count} in the file, "
                        f"{line['events_lost']} lost")
    return problems, count, books


def mask_of(payload):
    """The first word, when the others and the size are what they have to be."""
    words = [int.from_bytes(payload[at:at + 4], "little") for at in range(0, len(payload), 4)]
    return words[0] if len(words) == 9 and words[1:8] == [0] * 7 else None


def check_books(books, is_whole):
    """The order of a genuine kernel file; see docs/format/etl.md, Group masks."""
    hooks = [(hook, mask_of(payload)) if hook in (MASKS_NEW, MASKS_OLD) else (hook, None)
             for _, index, hook, payload in sorted(books, key=lambda book: book[:2])
             if index > 0]
    start = [(MASKS_OLD, NONE), (MASKS_NEW, ALL_BUILT), (DC_START, None)]
    if hooks[:3] != start:
        yield f"the trace begins with {hooks[:3]}"
    if not is_whole:
        return
    if hooks[-2:] != [(MASKS_NEW, NONE), (RUNDOWN_COMPLETE, None)]:
        yield f"the trace ends with {hooks[-2:]}"
    middle = []
    for hook in hooks:
        # Of the machine there are as many events as it has parts; one of the processors.
        is_machine = hook[0] >> 8 == CONFIG_GROUP and hook[0] != CONFIG_CPU
        if hook[0] not in (DC_START, DC_END) and not is_machine:
            middle.append(hook)
    wanted = start[:2] + [(RUNDOWN_COMPLETE, None), (CONFIG_CPU, None), (MASKS_OLD, ALL_BUILT),
                          (MASKS_NEW, NONE), (RUNDOWN_COMPLETE, None)]
    if middle != wanted:
        yield f"the bookkeeping is {middle}"
    for *_, hook, payload in books:
        if hook == CONFIG_CPU and (len(payload) != CONFIG_BYTES or not payload[COMPUTER_AT]):
            yield f"a configuration of {len(payload)} bytes, or without a computer's name"


def check_file(path, line, list_events):
    """Problems of one file, as sentences, and its events."""
    result = subprocess.run([list_events, "walk", path], capture_output=True, text=True,
                            check=False, timeout=1500)
    problem, count = compare(path, iter(result.stdout.splitlines()), False)
    problems = [problem] if problem else []
    if result.returncode or result.stderr:
        problems.append(f"the C reader: status {result.returncode}, {result.stderr.strip()}")
    with TraceFile(path) as trace:
        problems += [str(violation) for violation in check_trace(trace, True)]
        problems += check_header(trace, line)
        more, written, books = check_events(trace, line)
        problems += more
        if line["name"].startswith("kernel"):
            problems += check_books(books, "limited" not in line["name"])
    return problems, count, written


def read_line(text):
    """A line of the recording program."""
    name, *numbers = text.split()
    keys = ("events_lost", "buffers", "buffers_lost", "tried", "before", "after")
    return {"name": name, **dict(zip(keys, map(int, numbers), strict=True))}


def main():
    """See the module's text."""
    parser = argparse.ArgumentParser(description="Hold recorded files against both readers.")
    parser.add_argument("program")
    parser.add_argument("list_events")
    parser.add_argument("--kernel", action="store_true")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="etw-recorded-") as folder:
        command = [options.program, *(["--kernel"] if options.kernel else []), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
        if done.returncode:
            print(done.stdout, done.stderr, sep="", end="")
            return SKIPPED if done.returncode == SKIPPED else 1
        for text in done.stdout.splitlines():
            line = read_line(text)
            path = str(pathlib.Path(folder) / f"{line['name']}.etl")
            problems, count, written = check_file(path, line, options.list_events)
            print(f"{line['name']}: {count} events, {written} of {line['tried']} written, "
                  f"{line['events_lost']} lost, {line['buffers']} buffers, "
                  f"{len(problems)} problems")
            for problem in problems[:10]:
                print(f"    {problem}")
            bad += bool(problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
