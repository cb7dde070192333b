#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's idle states against ftrace.

    compare_idle_states --watch PROGRAM

Both record the whole machine on the same clock while this test sleeps most of the time. Each
beginning and each end of an idle state that ftrace's cpu_idle has must be an event of that
processor within a millisecond, or by its order where the processor stood still, with the same
state, and the other way round. A switch from the idle thread must have the last state that cpu_idle
told since the switch to it (0 where it told none) as its PreviousCState. What happens while the
kernel hides switches is left out, as in compare_interrupts.
On a machine that others keep busy the test repeats for a while, until it has seen enough; where no
processor was idle at all, both have nothing, and it says so.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

from compare_interrupts import ROUNDED_NS, compare, read_hidden
from compare_processes import Recorder, skip, wait_ready

TRIES = 5
ROUNDS = 200
MASKS = "0,4,8000"  # CSWITCH, IDLE_STATES
EDGE_NS = 20_000_000
SECONDS = 600
PATIENCE_S = 40
ENOUGH = 100
ENDS = 2**32 - 1
ENTER, EXIT, SWITCH = "12.57", "12.58", "05.36"
EVENTS = ("power/cpu_idle", "sched/sched_switch")
LINE = re.compile(r"\[(?P<cpu>\d+)\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d+): "
                  r"(?:cpu_idle: state=(?P<state>\d+) |"
                  r"sched_switch: .*prev_pid=(?P<old>\d+) .*next_pid=(?P<new>\d+))")


def read_ftrace(text):
    """{(processor, what, state): [time]}"""
    found, last = collections.defaultdict(list), {}
    for match in LINE.finditer(text):
        cpu = int(match["cpu"])
        time_ns = int(match["s"]) * 10**9 + int(match["us"]) * 1000 - ROUNDED_NS
        if match["state"] is None:
            if match["old"] == "0":
                found[cpu, "switch", last.get(cpu, 0)].append(time_ns)
            if "0" in (match["old"], match["new"]):
                last[cpu] = 0
        elif int(match["state"]) == ENDS:
            found[cpu, "exit", last.get(cpu)].append(time_ns)
        else:
            last[cpu] = int(match["state"])
            found[cpu, "enter", last[cpu]].append(time_ns)
    return found


def read_watch(lines):
    """The same of the source; lost"""
    found, lost = collections.defaultdict(list), 0
    for line in lines:
        words = line.split()
        if words[0] == "end":
            lost = int(words[3]) + int(words[4])
        if not words[0].isdecimal():
            continue
        time_ns, cpu = int(words[0]), int(words[1])
        if words[2] in (ENTER, EXIT):
            what = "enter" if words[2] == ENTER else "exit"
            found[cpu, what, int(words[5])].append(time_ns)
        elif words[2] == SWITCH and words[6] == "0":
            found[cpu, "switch", int(words[7])].append(time_ns)
    return found, lost


def run(arguments):
    """(problems, lost, how often a state began, summary)"""
    recorder = Recorder(EVENTS)
    output = tempfile.TemporaryFile("w+", errors="replace")
    try:
        recorder.start()
        watch = subprocess.Popen([arguments.watch, MASKS], stdin=subprocess.PIPE, stdout=output,
                                 stderr=subprocess.PIPE, text=True)
        wait_ready(watch, output)
        begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + EDGE_NS
        for _ in range(ROUNDS):
            time.sleep(0.005)
        end_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - EDGE_NS
        watch.stdin.close()
        if watch.wait(timeout=SECONDS):
            raise SystemExit(watch.stderr.read())
        text, lost_lines = recorder.stop()
    finally:
        recorder.close()
    output.seek(0)
    ours, lost = read_watch(output)
    theirs, hidden = read_ftrace(text), read_hidden(text)
    problems, counts = [], collections.Counter()
    for key in sorted(set(ours) | set(theirs), key=str):
        differences, count, paired = compare(ours[key], theirs[key], (begin_ns, end_ns),
                                             hidden[key[0]])
        problems += [f"{key}: {difference}" for difference in differences]
        counts[key[1]] += count + paired
        counts["stalled"] += paired
    summary = (f"{counts['enter']} beginnings and {counts['exit']} ends of idle states, "
               f"{counts['switch']} switches from the idle thread agree, {counts['stalled']} of "
               f"them by their order alone; the kernel hid something "
               f"{sum(map(len, hidden.values()))} times")
    return problems, lost + lost_lines, counts["enter"], summary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    deadline = time.monotonic() + PATIENCE_S
    tries = total = 0
    while total < ENOUGH and (tries == 0 or time.monotonic() < deadline):
        problems, lost, entered, summary = run(arguments)
        tries += 1
        if lost:
            print(f"{lost} lost, once more")
            if tries == TRIES and not total:
                skip("this machine is too slow to compare without loss")
            continue
        print(summary)
        print("\n".join(problems[:20]))
        if problems:
            return 1
        total += entered
    print(f"{total} beginnings in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
