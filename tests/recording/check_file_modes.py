#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record files that turn over; both readers must find in them what the session said.

    check_file_modes.py FILE_MODES_PROGRAM LIST_EVENTS ETW [--kernel]

The program (file_modes.c) records, and prints what ControlTrace said when each session stopped. Of
each file:

    - the walker's strict rules have no complaint: also about where a circular file begins anew;
    - the C reader's events equal the walker's, event for event;
    - ProcessTrace gave as many events, in order of time;
    - the header says what ControlTrace said: of a series that of its last file;
    - circular files have wrapped three times and are as long as they may be;
    - a series has ten files at least, whose events and the lost ones are all that were tried;
    - of the kernel's files (circular, and flushed out of memory), which have lost the description
      of their start: `etw` names the process that recorded, and decodes every event.

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
LAPS = 3
FILES_OF_A_SERIES = 10
PROCESS_DC_START, PROCESS_DC_END = 0x0303, 0x0304
KEYS = ("files", "events_lost", "buffers", "buffers_lost", "tried", "before", "after", "read")


def places(logfile):
    """Buffers that a file has room for."""
    unit = 1024 if logfile.mode & 0x2000 else 1024 * 1024
    return logfile.maximum_file_size * unit // logfile.buffer_bytes


def count_events(trace):
    """The writers' events, and how often each hook occurs."""
    count, hooks = 0, {}
    for buffer in trace.buffers():
        for event in buffer.events():
            count += event.fields.get("guid") == PROVIDER
            hooks[event.hook] = hooks.get(event.hook, 0) + 1
    return count, hooks


def check_last(trace, line):
    """The header of the file in which the session ended against what ControlTrace said."""
    logfile = trace.logfile
    for name, got, said in (("EventsLost", logfile.events_lost, line["events_lost"]),
                            ("BuffersWritten", logfile.buffers_written, line["buffers"]),
                            ("BuffersLost", logfile.buffers_lost, line["buffers_lost"])):
        if got != said:
            yield f"{name} is {got}, ControlTrace said {said}"
    if not line["before"] <= logfile.end_time_ft <= line["after"]:
        yield f"EndTime {logfile.end_time_ft} is not between {line['before']} and {line['after']}"


def check_circular(trace):
    """It has wrapped often enough, and is full."""
    logfile, most = trace.logfile, places(trace.logfile)
    if logfile.buffers_written - 1 <= LAPS * (most - 1):
        yield f"{logfile.buffers_written} buffers are not {LAPS} times {most - 1}"
    if trace.file_bytes != most * logfile.buffer_bytes:
        yield f"{trace.file_bytes} bytes are not {most} buffers"


def check_file(path, line, is_last, list_events):
    """Problems of one file, as sentences, its events, and what it holds."""
    result = subprocess.run([list_events, "walk", path], capture_output=True, text=True,
                            check=False, timeout=1500)
    problem, _ = compare(path, iter(result.stdout.splitlines()), False)
    problems = [problem] if problem else []
    if result.returncode or result.stderr:
        problems.append(f"the C reader: status {result.returncode}, {result.stderr.strip()}")
    with TraceFile(path) as trace:
        problems += [str(violation) for violation in check_trace(trace, True)]
        if is_last and "buffering" not in line["name"]:
            problems += check_last(trace, line)
        if trace.logfile.mode & 2:
            problems += check_circular(trace)
        elif trace.file_bytes != trace.logfile.buffers_written * trace.logfile.buffer_bytes:
            problems.append(f"{trace.file_bytes} bytes are not {trace.logfile.buffers_written} "
                            f"buffers")
        count, hooks = count_events(trace)
        first = (trace.logfile.start_time_ft, trace.header_event.ts)
    return problems, count, hooks, first


def check_kernel(path, etw, hooks):
    """The description of the start is overwritten, that of the end names everything."""
    if PROCESS_DC_START in hooks:
        yield "the description of the start is still there"
    if PROCESS_DC_END not in hooks:
        yield "there is no description of the end"
    for verb, wanted in (("processes", "file_modes"), ("summary", "Thread")):
        done = subprocess.run([etw, verb, path], capture_output=True, text=True, check=False,
                              timeout=600)
        if done.returncode or wanted not in done.stdout:
            yield f"etw {verb}: status {done.returncode}, {done.stderr.strip()[:300]}"
    done = subprocess.run([etw, "dump", "--json", path], capture_output=True, text=True,
                          check=False, timeout=600)
    if done.returncode:
        yield f"etw dump: status {done.returncode}, {done.stderr.strip()[:300]}"


def check_recording(line, folder, options):
    """All files of one recording; problems as sentences, and the writers' events."""
    name, files = line["name"], line["files"]
    paths = [f"{folder}/{name}-{i}.etl" for i in range(1, files + 1)] or [f"{folder}/{name}.etl"]
    problems, count, firsts = [], 0, set()
    for path in paths:
        more, written, hooks, first = check_file(path, line, path == paths[-1],
                                                 options.list_events)
        problems += [f"{pathlib.Path(path).name}: {text}" for text in more]
        count += written
        firsts.add(first)
        if options.kernel:
            problems += check_kernel(path, options.etw, hooks)
    if len(firsts) != 1:
        problems.append(f"the files begin at {len(firsts)} times")
    if count != line["read"]:
        problems.append(f"ProcessTrace gave {line['read']} events, {count} are there")
    if name.startswith("series") and files < FILES_OF_A_SERIES:
        problems.append(f"{files} files")
    if not options.kernel and "circular" not in name:
        if count + line["events_lost"] != line["tried"]:
            problems.append(f"{line['tried']} events tried, {count} in the files, "
                            f"{line['events_lost']} lost")
    return problems, count


def main():
    """See the module's text."""
    parser = argparse.ArgumentParser(description="Hold files that turn over against both readers.")
    parser.add_argument("program")
    parser.add_argument("list_events")
    parser.add_argument("etw")
    parser.add_argument("--kernel", action="store_true")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="etw-modes-") as folder:
        command = [options.program, *(["--kernel"] if options.kernel else []), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
        if done.returncode:
            print(done.stdout, done.stderr, sep="", end="")
            return SKIPPED if done.returncode == SKIPPED else 1
        for text in done.stdout.splitlines():
            name, *numbers = text.split()
            line = {"name": name, **dict(zip(KEYS, map(int, numbers), strict=True))}
            problems, count = check_recording(line, folder, options)
            print(f"{name}: {max(line['files'], 1)} files, {count} of {line['tried']} events, "
                  f"{line['events_lost']} lost, {line['buffers']} buffers, "
                  f"{len(problems)} problems")
            for problem in problems[:10]:
                print(f"    {problem}")
            bad += bool(problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
