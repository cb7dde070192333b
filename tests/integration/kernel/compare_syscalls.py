#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's system calls against ftrace and strace.

    compare_syscalls --watch PROGRAM --calls PROGRAM [--rounds N] [--load N]

make_calls makes calls in several threads, a child and as 32-bit programs do, first under ftrace
(raw_syscalls and syscalls), then under strace. The source records its process tree meanwhile, with
context switches and stacks: each call is of the thread that runs on its processor, as both say.
Each thread of make_calls must have the same calls with the same results in the same order as the
other recorder says, each function one number, and each function the name that ftrace gives.
With --load so many programs make calls meanwhile as quickly as they can.

Where something was lost it is done again; without loss no difference is forgiven.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import errno
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from compare_processes import Recorder, skip, wait_ready
from kernel_checks import until_whole

MASKS = "1,4,40"  # processes, context switches, system calls
HOOKS = "f33,f34"  # stacks of both, which name the thread
SWITCH, ENTER, EXIT, STACK = "05.36", "0f.51", "0f.52", "18.32"
BUFFER_KIB = 16384
SECONDS = 600
MARK = "getpgid"
LINE = re.compile(r"^\s*.*-(?P<tid>\d+)\s+\[\d+\]\s+\S+\s+[\d.]+: (?P<rest>.*)$")
RAW_ENTER = re.compile(r"sys_enter: NR (-?\d+) ")
RAW_EXIT = re.compile(r"sys_exit: NR (-?\d+) = (-?\d+)")
NAMED = re.compile(r"sys_(\w+)\(")
STRACE = re.compile(r"^(?P<tid>\d+) +\[ *(?P<number>\d+)\] (?P<rest>.*)$")
RESULT = re.compile(r"\) += (?P<value>0x[0-9a-f]+|-?\d+|\?)(?: (?P<error>E\w+))?")
LOW = 0xFFFFFFFF
RESTARTS = {"ERESTARTSYS": 512, "ERESTARTNOINTR": 513, "ERESTARTNOHAND": 514,
            "ERESTART_RESTARTBLOCK": 516}


class Calls(Recorder):
    """ftrace of the calls of one process and its descendants."""

    EVENTS = ("raw_syscalls/sys_enter", "raw_syscalls/sys_exit", "syscalls")

    def start(self, pid):
        if not (self.at / "events/syscalls/enable").exists():
            skip("ftrace has no system calls by name (CONFIG_FTRACE_SYSCALLS)")
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", str(BUFFER_KIB))
        self.write("options/event-fork", "1")
        self.write("set_event_pid", str(pid))
        for event in self.EVENTS:
            self.write(f"events/{event}/enable", "1")

    def close(self):
        for event in self.EVENTS:
            self.write(f"events/{event}/enable", "0")
        self.write("set_event_pid", "")
        super().close()


class Watch:
    """The source, in a process of its own."""

    def __init__(self, program, pid):
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        command = [program, MASKS, "0", HOOKS, str(pid)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True,
                                        stdout=self.output, stderr=subprocess.PIPE)
        wait_ready(self.process, self.output)

    def stop(self):
        """(events in order of time, lost, out of order)"""
        self.process.stdin.close()
        if self.process.wait(timeout=SECONDS):
            raise SystemExit(self.process.stderr.read())
        self.output.seek(0)
        events = []
        for line in self.output:
            words = line.rstrip("\n").split("\t")
            if words[0].isdecimal() and words[2] in (SWITCH, ENTER, EXIT, STACK):
                events.append((int(words[0]), int(words[1]), words[2], words[5:]))
            elif words[0] == "end":
                summary = [int(word) for word in words[2:6]]
        events.sort(key=lambda event: event[0])  # stable: each processor's stay as they are
        return events, sum(summary[1:3]), summary[0]


def by_thread(events, wanted):
    """{thread: [("enter", address) or ("exit", low half of the result)]}, problems

    The stack behind a call says whose it is. So do the switches, but for those that the kernel does
    not tell (nor ftrace: there are kernels that hide some): where the next switch is from another
    thread, one was not told.
    """
    runs, pending = {}, {}
    others = collections.defaultdict(list)
    calls = collections.defaultdict(list)
    problems = []
    for time_ns, cpu, kind, words in events:
        if kind == SWITCH:
            if int(words[1]) == runs.get(cpu):
                problems += others[cpu]
            others[cpu].clear()
            runs[cpu] = int(words[0])
        elif kind != STACK:
            pending[cpu] = time_ns, kind, int(words[0], 16)
        elif cpu in pending and pending[cpu][0] == time_ns:
            tid = int(words[1], 16) >> 32
            _, call, value = pending.pop(cpu)
            if tid in wanted:
                calls[tid].append(("enter" if call == ENTER else "exit", value))
            if tid != runs.get(cpu, tid):
                others[cpu].append(f"a call of {tid} where {runs[cpu]} runs, at {time_ns}")
    return calls, problems


def read_ftrace(text):
    """{thread: [("enter", number) or ("exit", low half)]}, {number: name}"""
    calls = collections.defaultdict(list)
    names = {}
    last = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        tid, rest = int(match["tid"]), match["rest"]
        if found := RAW_ENTER.match(rest):
            last[tid] = int(found[1])
            calls[tid].append(("enter", int(found[1])))
        elif found := RAW_EXIT.match(rest):
            calls[tid].append(("exit", int(found[2]) & LOW))
        elif (found := NAMED.match(rest)) and tid in last:
            names[last[tid]] = found[1]
    return calls, names


def result_of(match):
    """The low half of what the kernel gave back; None: nothing, or strace does not say."""
    if match["error"] in RESTARTS:
        return -RESTARTS[match["error"]] & LOW
    if match["value"] == "?":
        return None
    if match["error"]:
        return -getattr(errno, match["error"]) & LOW
    return int(match["value"], 0) & LOW


def read_strace(lines):
    """{thread: [("enter", number), ("exit", low half or None)]}"""
    calls = collections.defaultdict(list)
    for line in lines:
        match = STRACE.match(line)
        if not match:
            continue
        tid, rest = int(match["tid"]), match["rest"]
        if rest.startswith(("+++", "---")):
            continue  # its end, a signal
        if not rest.startswith("<..."):
            calls[tid].append(("enter", int(match["number"])))
        found = None
        for found in RESULT.finditer(rest):
            pass
        if found and not rest.endswith("<unfinished ...>"):
            calls[tid].append(("exit", result_of(found)))
    return calls


def between_marks(calls, mark):
    """Of the main thread: what lies between two calls of the mark."""
    places = [place for place, call in enumerate(calls) if call == ("enter", mark)]
    if len(places) != 2:
        raise SystemExit(f"the mark is there {len(places)} times, not twice")
    return calls[places[0]:places[1]]


def read_symbols():
    """{address: names}"""
    symbols = collections.defaultdict(set)
    with open("/proc/kallsyms", encoding="ascii") as lines:
        for line in lines:
            address, _, name = line.split()[:3]
            symbols[int(address, 16)].add(name)
    return symbols


def functions_of(name):
    prefixes = ("__x64_sys_", "__arm64_sys_")
    return {prefix + name for prefix in prefixes}


def compare(ours, theirs, main, marks):
    """Differences; {address: numbers} as both sequences say."""
    problems = []
    pairs = collections.defaultdict(collections.Counter)
    for tid in sorted(theirs):
        mine, other = ours.get(tid, []), theirs[tid]
        if tid == main:
            mine, other = between_marks(mine, marks[0]), between_marks(other, marks[1])
        # A thread's last call may be one that never ends, of which strace says so.
        other = [call for call in other if call != ("exit", None)]
        if len(mine) != len(other):
            problems.append(f"thread {tid}: {len(mine)} records, the recorder has {len(other)}")
        for place, (one, two) in enumerate(zip(mine, other)):
            if one[0] != two[0] or one[0] == "exit" and one[1] != two[1]:
                problems.append(f"thread {tid}, record {place}: {one}, the recorder has {two}")
                break
            if one[0] == "enter":
                pairs[one[1]][two[1]] += 1
    return problems, pairs


def check_numbers(pairs):
    return [f"{address:#x} is called by the numbers {sorted(numbers)}"
            for address, numbers in pairs.items() if len(numbers) != 1]


def check_names(pairs, names, symbols):
    """Each function has the name of the recorder; a number without a name is told as it is."""
    problems = []
    for address, numbers in pairs.items():
        number = next(iter(numbers))
        if any(name.startswith("__ia32_") for name in symbols[address]):
            continue  # numbers of 32-bit programs are others
        if not address >> 63:
            if address != number or number in names:
                problems.append(f"{number} is told as {address:#x}, and is {names.get(number)}")
        elif number in names and not functions_of(names[number]) & symbols[address]:
            problems.append(f"{number} is {names[number]}, not {sorted(symbols[address])}")
    return problems


def load(count):
    return [subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"],
                             stderr=subprocess.DEVNULL) for _ in range(count)]


def find_mark(symbols):
    return next(address for address, names in symbols.items() if functions_of(MARK) & names)


def run_ftrace(arguments, symbols):
    """(problems, lost, summary)"""
    recorder = Calls()
    program = subprocess.Popen([arguments.calls, str(arguments.rounds)], stdin=subprocess.PIPE)
    try:
        recorder.start(program.pid)
        watch = Watch(arguments.watch, program.pid)
        program.communicate(b"x", timeout=SECONDS)
        events, lost, disordered = watch.stop()
        text, lost_lines = recorder.stop()
    finally:
        program.kill()
        recorder.close()
    if lost or lost_lines:
        return [], lost + lost_lines, ""
    theirs, names = read_ftrace(text)
    number = next((number for number, name in names.items() if name == MARK), None)
    ours, others = by_thread(events, set(theirs))
    problems, pairs = compare(ours, theirs, program.pid, (find_mark(symbols), number))
    problems += others + check_numbers(pairs) + check_names(pairs, names, symbols)
    if disordered:
        problems.append(f"{disordered} events are out of order")
    return problems, 0, (f"ftrace: {len(events)} events, {len(theirs)} threads with "
                         f"{sum(map(len, theirs.values()))} records, {len(pairs)} functions")


def find_child(process, program):
    """The process that strace has made the program of; None: it ended."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        for pid in children.read_text(encoding="ascii").split():
            try:
                if os.path.samefile(f"/proc/{pid}/exe", program):
                    return int(pid)
            except OSError:
                pass  # not yet, or gone
        time.sleep(0.01)
    return None


def run_strace(arguments, symbols):
    if not shutil.which("strace"):
        return [], 0, "strace: not installed"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "strace")
        strace = subprocess.Popen(["strace", "-f", "-n", "-o", path, arguments.calls,
                                   str(arguments.rounds)], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        main = find_child(strace, arguments.calls)
        if not main:
            strace.kill()
            return [], 0, "strace: may not trace here"
        watch = Watch(arguments.watch, main)
        strace.communicate(b"x", timeout=SECONDS)
        events, lost, _ = watch.stop()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if lost:
        return [], lost, ""
    theirs = read_strace(lines)
    mark = find_mark(symbols)
    number = next(int(STRACE.match(line)["number"]) for line in lines if f"] {MARK}(" in line)
    ours, others = by_thread(events, set(theirs))
    for tid in theirs:
        # Where a child begins strace says nothing; it comes back from the call that made it.
        if tid != main and ours.get(tid, [("", 0)])[0] == ("exit", 0):
            del ours[tid][0]
    problems, pairs = compare(ours, theirs, main, (mark, number))
    problems += others + check_numbers(pairs)
    return problems, 0, (f"strace: {len(theirs)} threads with "
                         f"{sum(map(len, theirs.values()))} records, {len(pairs)} functions")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--load", type=int, default=0)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    symbols = read_symbols()
    if not any(symbols):
        skip("the kernel hides its addresses")
    loads = load(arguments.load)
    try:
        for run in (run_ftrace, run_strace):
            if status := until_whole(run, arguments, symbols):
                return status
    finally:
        for one in loads:
            one.kill()
            one.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
