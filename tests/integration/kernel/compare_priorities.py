#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold changes of priority against the log of the threads that got them.

    compare_priorities --watch PROGRAM --set PROGRAM [--rounds N] [--calls] [--load N]

The threads change their own priorities, each other's, and lend them by a mutex; the log has what
/proc said after each change. Of each thread the events of what it has by itself (49) and of what it
runs with (48) must be the log's, each once and in its order, but for changes that were overwritten
before the thread ran, of which none may be there. With --calls system calls are recorded too, and a
thread's own change must be told while the call that made it ran. --load: so many busy processes.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile

from compare_processes import skip, wait_ready
from kernel_checks import until_whole

SECONDS = 900
MASKS = "0,2000"
CALLS = ",40"
FIFO, RR, IDLE = 1, 2, 5
SET_PRIORITY, SET_BASE = "05.48", "05.49"


def number_of(policy, nice, priority):
    """Windows' number, by the table of docs/kernel-events/thread.md."""
    if policy in (FIFO, RR):
        return 16 + (priority - 1) // 7
    if policy == IDLE:
        return 1
    return 8 - -(-nice * 7 // 19) if nice >= 0 else 8 + -(nice * 7 // 20)


def key_of(policy, nice, priority):
    """What Linux tells apart."""
    if policy in (FIFO, RR):
        return "real-time", priority
    return "idle" if policy == IDLE else "nice", nice


class Log:
    """What each thread had, one after the other."""

    def __init__(self, text):
        self.has, self.last = {}, {}
        self.base = collections.defaultdict(list)  # (old, new) of each thread
        self.current = collections.defaultdict(list)
        self.own = collections.defaultdict(list)  # (place in base, from, to)
        self.over = self.lent = 0
        for line in text.splitlines():
            what, tid, *words = line.split()
            self.add(what, int(tid), [int(word) for word in words])

    def add(self, what, tid, words):
        if what == "over":
            self.over += 1
        elif what == "lent":
            self.lent += 1
            self.current[tid].append((self.last[tid], number_of(FIFO, 0, words[0])))
        elif what == "back":
            self.current[tid].append((self.current[tid][-1][1], self.last[tid]))
        else:
            self.set(what, tid, words)

    def set(self, what, tid, words):
        key, number = key_of(*words[:3]), number_of(*words[:3])
        if what != "thread" and key != self.has[tid]:
            self.base[tid].append((self.last[tid], number))
            self.current[tid].append((self.last[tid], number))
            if what == "own":
                self.own[tid].append((len(self.base[tid]) - 1, words[3], words[4]))
        self.has[tid], self.last[tid] = key, number


def read_watch(lines):
    """{type: {thread: [(time, old, new)]}}; lost"""
    found = {SET_PRIORITY: collections.defaultdict(list), SET_BASE: collections.defaultdict(list)}
    lost = 0
    for line in lines:
        words = line.split()
        if words[0] == "end":
            lost = int(words[3]) + int(words[4])
        elif len(words) > 2 and words[2] in found:
            found[words[2]][int(words[5])].append((int(words[0]), int(words[6]), int(words[7])))
    for threads in found.values():
        for events in threads.values():
            events.sort()
    return found, lost


def compare(log, found, has_calls):
    problems = []
    for tid in log.has:
        for kind, wanted in ((SET_BASE, log.base[tid]), (SET_PRIORITY, log.current[tid])):
            events = [event[1:] for event in found[kind][tid]]
            if events == wanted:
                continue
            at = next((i for i, pair in enumerate(zip(events, wanted)) if pair[0] != pair[1]),
                      min(len(events), len(wanted)))
            problems.append(f"thread {tid}, {kind}: {len(events)} events, {len(wanted)} changes; "
                            f"from number {at}: {events[at:at + 4]}, not {wanted[at:at + 4]}")
        for place, from_ns, to_ns in log.own[tid] if has_calls and not problems else ():
            time_ns = found[SET_BASE][tid][place][0]
            if not from_ns <= time_ns <= to_ns:
                problems.append(f"thread {tid}: a change of its own at {time_ns}, "
                                f"not from {from_ns} to {to_ns}")
    return problems


def run(arguments):
    """(problems, lost, summary)"""
    output = tempfile.TemporaryFile("w+", errors="replace")
    masks = MASKS + (CALLS if arguments.calls else "")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(arguments.load)]
    try:
        watch = subprocess.Popen([arguments.watch, masks], stdin=subprocess.PIPE, stdout=output,
                                 stderr=subprocess.PIPE, text=True)
        wait_ready(watch, output)
        done = subprocess.run([arguments.set, str(arguments.rounds)], capture_output=True,
                              text=True, timeout=SECONDS, check=False)
        watch.stdin.close()
        if watch.wait(timeout=SECONDS):
            raise SystemExit(watch.stderr.read())
    finally:
        for process in busy:
            process.kill()
            process.wait()
    if done.returncode == 77:
        skip(f"real-time priorities are not allowed here: {done.stderr.strip()}")
    if done.returncode:
        raise SystemExit(done.stderr)
    output.seek(0)
    found, lost = read_watch(output)
    log = Log(done.stdout)
    problems = compare(log, found, arguments.calls)
    counts = [sum(map(len, threads.values())) for threads in (log.base, log.current)]
    own = sum(map(len, log.own.values()))
    others = sum(len(events) for tid, events in found[SET_PRIORITY].items() if tid not in log.has)
    summary = (f"{counts[0]} changes of {len(log.has)} threads by themselves ({own}) and by "
               f"others, {log.lent} lent; {log.over} overwritten before they ran; {counts[1]} of "
               f"what they run with; {others} of other threads of the machine")
    if not counts[0] or not log.lent or not log.over:
        problems.append("nothing was compared")
    return problems, lost, summary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--set", required=True)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--load", type=int, default=2)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    return until_whole(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
