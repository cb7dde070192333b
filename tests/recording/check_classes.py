#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record every class of the kernel's events; two decoders must read the same in the files.

    check_classes.py CLASSES_PROGRAM ANNOUNCE_PROGRAM ETW

The program (classes.c) records into files of several modes. Of each file:

    - the walker's strict rules have no complaint, those about the order of time among them;
    - both decoders have the same events and the same values, to the last byte (compare_decoded.py),
      and each class that was turned on is among them;
    - no frequent event is behind the description of the machine at the end;
    - each stack is that of an event with its time on its processor, whose thread it names;
    - the losses of the header are those that ControlTrace told, and readers are told of a loss
      behind each buffer that is marked and nowhere else.

Exit status: 0 all hold, 1 a problem, 77 with the reason when the kernel cannot be recorded.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "walker"), str(TESTS / "recording")]

from check_recorded import read_line  # pylint: disable=wrong-import-position
from compare_decoded import compare_file  # pylint: disable=wrong-import-position
from layout import LOSS_FLAGS, TYPE_HEADER  # pylint: disable=wrong-import-position
from rulebook import check_trace  # pylint: disable=wrong-import-position
from tracefile import TraceFile  # pylint: disable=wrong-import-position

SKIPPED = 77
STACK = ("StackWalk", 32)
SWITCH, READY = ("Thread", 36), ("Thread", 50)
SAMPLE, ENTER, EXIT = ("PerfInfo", 46), ("PerfInfo", 51), ("PerfInfo", 52)
# The field that names the thread of the stack; None: it is the one that ran.
WITH_STACKS = {SWITCH: "NewThreadId", SAMPLE: "ThreadId", READY: None, ENTER: None, EXIT: None}
# What each file must have, of the classes that machines differ in none.
EVERYWHERE = {SWITCH, READY, SAMPLE, ENTER, EXIT, STACK, ("PerfInfo", 68), ("PerfInfo", 74),
              ("SystemConfig", 10), ("SystemConfig", 35), ("Process", 1), ("Process", 2),
              ("Process", 4), ("Process", 32), ("Process", 33), ("Thread", 1), ("Thread", 2),
              ("Thread", 4), ("Thread", 49), ("Thread", 72), ("Image", 10), ("Image", 2),
              ("Image", 4), ("ImageID", 36), ("EventTrace", 0), ("EventTrace", 5),
              ("EventTrace", 8), "ImageSymbols"}
# The file of input and output, instead: operations of a file, its names and its views, memory,
# faults, the network.
IO = {("FileIo", opcode) for opcode in (0, 32, 36, 37, 38, 64, 65, 66, 67, 68, 69, 73, 76, 79, 80)}
IO |= {("TcpIp", opcode) for opcode in (10, 11, 12, 13, 15)} | {("UdpIp", 10), ("UdpIp", 11)}
IO |= {("PageFault", opcode) for opcode in (10, 11, 98, 99)}
IO |= {("Process", 1), ("Process", 2), ("Thread", 1), ("Thread", 2), ("SystemConfig", 10)}
# Overwritten where what is new replaces what is old.
AT_START = {("PerfInfo", 73), ("Process", 3), ("Thread", 3), ("Image", 3)}
# Written when the session stops: a session that is flushed goes on.
AT_STOP = {("EventTrace", 32)}
CIRCULAR, FLUSHED = {"circular", "compressed"}, {"compressed"}
LATE_MAX = 100      # frequent events that were being made when the session stopped
HIDDEN_MAX = 0.01   # of the switches: some kernels do not tell all of them (system-calls.md)


class Stacks:
    """Holds stacks against the events that they belong to, in each stream of buffers."""

    def __init__(self, is_one_stream):
        self.is_one_stream = is_one_stream
        self.streams = collections.defaultdict(list)
        self.stopped_ts = None      # of the last EndExtension: recording had ended

    def late(self):
        """How many frequent events are behind the end."""
        return sum(self.stopped_ts is not None and ts > self.stopped_ts and kind != STACK
                   for events in self.streams.values() for _, ts, kind, _ in events)

    def watch(self, decoded):
        """One event; what is kept of it is small."""
        if not isinstance(decoded.kind, tuple):
            return
        kind, values = decoded.kind[:2], decoded.values
        if kind == STACK:
            kept = (values["EventTimeStamp"], values["StackThread"], len(values["Stack"]))
        elif kind == SWITCH:
            kept = (values["NewThreadId"], values["OldThreadId"])
        elif kind in WITH_STACKS:
            field = WITH_STACKS[kind]
            kept = values[field] if field else None
        else:
            if kind in AT_STOP:
                self.stopped_ts = max(self.stopped_ts or 0, decoded.event.ts)
            return
        header = decoded.buffer.header
        place = header.sequence, decoded.event.pos
        self.streams[header.cpu].append((place, decoded.event.ts, kind, kept))

    def check(self):
        """(problems, stacks, switches whose thread is not the one that the others tell)."""
        problems, stacks, hidden = [], 0, 0
        for cpu, events in self.streams.items():
            events.sort()
            more, count, odd = check_stream(events, self.is_one_stream)
            problems += [f"processor {cpu}: {problem}" for problem in more]
            stacks += count
            hidden += odd
        return problems, stacks, hidden


def next_switches(events):
    """Of each event the thread that the next switch is from, or None."""
    following, coming = [None] * len(events), None
    for at in range(len(events) - 1, -1, -1):
        following[at] = coming
        if events[at][2] == SWITCH:
            coming = events[at][3][1]
    return following


def check_stream(events, is_one_stream):
    """(problems, stacks, stacks of a thread that no switch tells of) of one processor."""
    problems, stacks, hidden = [], 0, 0
    following = next_switches(events)
    running, now, at_once = None, None, []
    for number, (place, ts, kind, kept) in enumerate(events):
        if kind != STACK:
            if ts != now:
                now, at_once = ts, []
            ran = running
            if kind == SWITCH:
                ran = running = kept[0]
            at_once.append((kind, kept, ran))
            continue
        stacks += 1
        time, thread, frames = kept
        if not frames:
            problems.append(f"{place}: a stack without frames")
        if time != now:
            # What was first in a circular file was overwritten, its event with it.
            if now is not None:
                problems.append(f"{place}: a stack of {time}, the event before is of {now}")
            continue
        owners = [of_one for of_one in at_once if is_owner(of_one, thread)]
        if not owners:
            problems.append(f"{place}: no event of {time} is of thread {thread}: {at_once}")
        elif not is_one_stream and all(owner[0] in (READY, ENTER, EXIT) for owner in owners):
            told = {owners[-1][2], following[number]} - {None}
            hidden += bool(told) and thread not in told
    return problems, stacks, hidden


def is_owner(event, thread):
    """Whether a stack of the thread may be that event's."""
    kind, kept, _ = event
    if kind == SWITCH:
        return kept[0] == thread
    return kept is None or kept == thread


def check_losses(path, line, added):
    """What is told of losses in several places."""
    with TraceFile(path) as trace:
        marked = sum(bool(buffer.header.flags & LOSS_FLAGS) for buffer in trace.buffers()
                     if buffer.header.type != TYPE_HEADER)
        logfile = trace.logfile
    # A session that is flushed goes on, and may lose more until it is asked.
    is_flushed = line["name"] in FLUSHED
    for name, got, said in (("EventsLost", logfile.events_lost, line["events_lost"]),
                            ("BuffersLost", logfile.buffers_lost, line["buffers_lost"]),
                            ("BuffersWritten", logfile.buffers_written, line["buffers"])):
        if got != said and not (is_flushed and got < said):
            yield f"{name} is {got}, ControlTrace said {said}"
    if added != marked:
        yield f"{added} records tell of a loss, {marked} buffers are marked"
    if marked and not logfile.events_lost + logfile.buffers_lost:
        yield f"{marked} buffers are marked, and nothing was lost"


def check_file(etw, path, line):
    """Problems of one file, as sentences, and a summary."""
    stacks = Stacks(line["name"] == "one_stream")
    with TraceFile(path) as trace:
        problems = [str(violation) for violation in check_trace(trace, True)]
    found = compare_file(etw, path, stacks.watch)
    problems += [f"{count} times: {text}" for text, count in found.problems.items()]
    problems += [f"not in the table: {kind}, {count} times"
                 for kind, count in found.unknown.items()]
    kinds = {kind[:2] if isinstance(kind, tuple) else kind for kind in found.kinds}
    wanted = set(IO if line["name"] == "io" else EVERYWHERE)
    if line["name"] not in CIRCULAR and line["name"] != "io":
        wanted |= AT_START
    if line["name"] not in FLUSHED:
        wanted |= AT_STOP
    missing = wanted - kinds
    if missing:
        problems.append(f"none of {sorted(map(str, missing))}")
    if found.others > line["tried"]:
        problems.append(f"{found.others} events without fields, {line['tried']} were written")
    problems += check_losses(path, line, found.added)
    more, count, hidden = stacks.check()
    problems += more
    if stacks.late() > LATE_MAX and line["name"] not in FLUSHED:
        problems.append(f"{stacks.late()} frequent events are behind the end")
    if hidden > HIDDEN_MAX * count and not line["events_lost"]:
        problems.append(f"{hidden} of {count} stacks are of threads that did not run")
    return problems, (f"{found.compared} events of {len(found.kinds)} kinds, {count} stacks "
                      f"({hidden} of hidden switches), {found.others} of the provider, "
                      f"{line['events_lost']} lost")


def main():
    """See the module's text."""
    parser = argparse.ArgumentParser(description="Hold recorded classes against two decoders.")
    parser.add_argument("program")
    parser.add_argument("announce")
    parser.add_argument("etw")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="etw-classes-") as folder:
        done = subprocess.run([options.program, options.announce, folder], capture_output=True,
                              text=True, check=False, timeout=1500)
        if done.returncode:
            print(done.stdout, done.stderr, sep="", end="")
            return SKIPPED if done.returncode == SKIPPED else 1
        for text in done.stdout.splitlines():
            line = read_line(text)
            path = str(pathlib.Path(folder) / f"{line['name']}.etl")
            problems, summary = check_file(options.etw, path, line)
            print(f"{line['name']}: {summary}, {len(problems)} problems")
            for problem in problems[:20]:
                print(f"    {problem[:600]}")
            bad += bool(problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
