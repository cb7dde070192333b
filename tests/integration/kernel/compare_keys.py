#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process has one UniqueProcessKey and its own exit status, whichever of its threads ends it.

    compare_keys --watch PROGRAM --ends PROGRAM

Runs end_order in each of its ways while watch_kernel records. The key of all starts and ends of its
process is the one that procfs gives: pid << 32 + start time of the main thread in clock ticks.
Exit status: 0; 1 with the reason; 77 with the reason why it cannot run.
"""

import argparse
import os
import subprocess
import sys

from kernel_checks import SKIPPED, watch_during

SECONDS = 1500
FLAGS = "1"  # processes
STATUS = 4
# Starts and ends from the program itself on, before which its process was a copy of this one.
WAYS = {"thread": ["03.1", "03.2"], "exec": ["03.1", "03.2", "03.1", "03.2"],
        "plain": ["03.1", "03.2"]}


def run_ways(program):
    """Run each way; returns {way: (pid, key)}."""
    made = {}
    for way in WAYS:
        with subprocess.Popen([program, way]) as process:
            # It is a zombie at most: nobody has waited for it yet.
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
                start = int(stat.read().rsplit(")", 1)[1].split()[19])
            status = process.wait(timeout=SECONDS)
        if status != STATUS:
            sys.exit(f"end_order {way} ended with {status}, not {STATUS}")
        made[way] = process.pid, process.pid << 32 | start & 0xFFFFFFFF
    return made


def record(arguments):
    """Returns (what run_ways did, lines of the watcher)."""
    return watch_during(arguments.watch, FLAGS, lambda: run_ways(arguments.ends))


def judge(way, pid, key, lines):
    """Problems with the events of one process."""
    events = sorted(((int(words[0]), words[2], int(words[7]), words[-1]) for words in lines
                    if len(words) > 11 and words[2] in ("03.1", "03.2")
                     and int(words[5]) == pid), key=lambda event: event[0])
    problems = [f"{way}: {kind} has the key {int(found, 16):x}, not {key:x}"
                for _, kind, _, found in events if int(found, 16) != key]
    # A fork's start and the end of that copy come before.
    kinds = [kind for _, kind, _, _ in events][2:]
    if kinds != WAYS[way]:
        problems.append(f"{way}: the events are {kinds}, not {WAYS[way]}")
    elif events[-1][2] != STATUS << 8:
        problems.append(f"{way}: the status is {events[-1][2]:#x}, not {STATUS << 8:#x}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--ends", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root")
        return SKIPPED
    made, lines = record(arguments)
    problems = [problem for way, (pid, key) in made.items()
                for problem in judge(way, pid, key, lines)]
    print("\n".join(problems) or f"{len(made)} ways to end, each with the process's own key")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
