#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's interrupts and soft interrupts against ftrace.

    compare_interrupts --watch PROGRAM

Both record the whole machine on the same clock while this test sleeps, so that timers and other
processors have something to do. Each end of a handler, of a processor's own interrupt (x86) and
of a soft interrupt that ftrace has must be one event of that processor, before the next such end
there, and the other way round; each must have begun before it ended, and not before the last of its
kind there.
Where something was lost it is done again. What happens while the kernel hides switches is left out:
ftrace's own switches tell when, because the next is from another thread than the last one was to.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import functools
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time

from compare_processes import Recorder, skip, wait_ready
from kernel_checks import until_whole

ROUNDS = 200
MASKS = "1,4080"
NEAR_NS = 1_000_000
EDGE_NS = 20_000_000
ROUNDED_NS = 500  # ftrace tells the nearest microsecond
SECONDS = 600
MESSAGE = "0f.50"
HARDWARE = re.compile(r"\s(\d+)-(?:edge|fasteoi|level)", re.IGNORECASE)
ISRS, DPCS = ("0f.50", "0f.67"), ("0f.66", "0f.68", "0f.69")
SOFT = {"tasklet_hi_action": 0, "run_timer_softirq": 1, "net_tx_action": 2, "net_rx_action": 3,
        "blk_done_softirq": 4, "irq_poll_softirq": 5, "tasklet_action": 6,
        "sched_balance_softirq": 7, "run_rebalance_domains": 7, "hrtimer_run_softirq": 8,
        "rcu_core_si": 9}
VECTORS = ("local_timer", "reschedule", "call_function", "call_function_single", "irq_work")
LINE = re.compile(r"\[(?P<cpu>\d+)\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d+): (?P<event>\w+): "
                  r"(?:irq|vec|vector)=(?P<number>\d+)")

SWITCH = re.compile(r"\[(?P<cpu>\d+)\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d+): sched_switch: .*"
                    r"prev_pid=(?P<old>\d+) .*next_pid=(?P<new>\d+)")


class Interrupts(Recorder):
    def start(self):
        events = [f"irq_vectors/{name}_exit" for name in VECTORS]
        self.events = ["irq/irq_handler_exit", "irq/softirq_exit", "sched/sched_switch"]
        self.events += [event for event in events if (self.at / "events" / event).exists()]
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", "16384")
        for event in self.events:
            self.write(f"events/{event}/enable", "1")

    def close(self):
        for event in getattr(self, "events", ()):
            self.write(f"events/{event}/enable", "0")
        super().close()


@functools.lru_cache(maxsize=None)
def message_of(line):
    """The number of a message where the kernel lists an interrupt as one, else None."""
    with open("/proc/interrupts", encoding="ascii", errors="replace") as lines:
        for text in lines:
            if text.split()[:1] == [f"{line}:"] and "MSI" in text:
                return int(HARDWARE.search(text)[1]) & 0x7FF
    return None


def read_functions():
    functions = collections.defaultdict(set)
    with open("/proc/kallsyms", encoding="ascii") as lines:
        for line in lines:
            address, _, name = line.split()[:3]
            if name in SOFT or name.startswith("sysvec_"):
                functions[int(address, 16)].add(name)
    return functions


def read_ftrace(text):
    """{(processor, kind, number): [time of the end]}"""
    found = collections.defaultdict(list)
    for match in LINE.finditer(text):
        event = match["event"]
        kind = {"irq_handler_exit": "line", "softirq_exit": "soft"}.get(event, "vector")
        time_ns = int(match["s"]) * 10**9 + int(match["us"]) * 1000 - ROUNDED_NS
        found[int(match["cpu"]), kind, int(match["number"])].append(time_ns)
    return found


def read_hidden(text):
    """{processor: [(from, to)]} of times in which the kernel hides something"""
    hidden, last = collections.defaultdict(list), {}
    for match in SWITCH.finditer(text):
        cpu, time_ns = int(match["cpu"]), int(match["s"]) * 10**9 + int(match["us"]) * 1000
        if cpu in last and last[cpu][0] != match["old"]:
            hidden[cpu].append((last[cpu][1] - NEAR_NS, time_ns + NEAR_NS))
        last[cpu] = match["new"], time_ns
    return hidden


def read_watch(lines, functions):
    """The same of the source; problems; lost"""
    found = collections.defaultdict(list)
    problems = []
    lost = 0
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if words[0] == "end":
            lost = int(words[3]) + int(words[4])
        if not words[0].isdecimal() or words[2] not in ISRS + DPCS:
            continue
        end_ns, cpu = int(words[0]), int(words[1])
        begin_ns, routine = int(words[5], 16), int(words[6], 16)
        names = functions[routine]
        if words[2] in ISRS:
            kind = "vector" if names else "line"
            number = int(words[7], 16) >> 8 & 0xFFFF
            message = message_of(number) if kind == "line" else None
            told = int(words[7], 16) >> 32 if words[2] == MESSAGE else None
            if told != message:
                problems.append(f"{kind} {number} is message {told}, not {message}")
        else:
            kind, number = "soft", next((SOFT[name] for name in names if name in SOFT), routine)
        ends = found[cpu, kind, number]
        if begin_ns > end_ns or ends and begin_ns < ends[-1]:
            problems.append(f"{kind} {number} of processor {cpu}: {begin_ns} to {end_ns}")
        ends.append(end_ns)
    return found, problems, lost


def pair(ours, theirs):
    """(pairs of two ordered lists of moments, what is left of the one and of the other)

    The recorder was there first, so the kernel calls it before our program, with preemption off: of
    one end it has the earlier moment, and both have it before the next end of that kind there. This
    holds however long a virtual processor stands still between the two.
    """
    pairs, ours_left, theirs_left, place = [], [], [], 0
    for time_ns, next_ns in itertools.zip_longest(theirs, theirs[1:], fillvalue=float("inf")):
        while place < len(ours) and ours[place] < time_ns:
            ours_left.append(ours[place])
            place += 1
        if place < len(ours) and ours[place] < next_ns:
            pairs.append((ours[place], time_ns))
            place += 1
        else:
            theirs_left.append(time_ns)
    return pairs, ours_left + ours[place:], theirs_left


def pair_near(ours, theirs):
    """The same of what was left, by time: the clock may go back while the kernel sets it."""
    pairs, theirs_left = [], []
    ours_left = list(ours)
    for time_ns in theirs:
        near = [ours_ns for ours_ns in ours_left if abs(ours_ns - time_ns) <= NEAR_NS]
        if near:
            pairs.append((near[0], time_ns))
            ours_left.remove(near[0])
        else:
            theirs_left.append(time_ns)
    return pairs, ours_left, theirs_left


def compare(ours, theirs, window, hidden):
    """Differences between two ordered lists of moments, how many agree, and far from each other."""
    def counts(time_ns):
        # Outside of the window one of both may not have been there yet, or not any more.
        return begin_ns < time_ns < end_ns and not any(low <= time_ns <= high
                                                       for low, high in hidden)

    begin_ns, end_ns = window
    pairs, ours_left, theirs_left = pair(ours, theirs)
    more, ours_left, theirs_left = pair_near(ours_left, theirs_left)
    pairs += more
    problems = [f"{time_ns} is not the recorder's" for time_ns in ours_left if counts(time_ns)]
    problems += [f"{time_ns} is the recorder's alone" for time_ns in theirs_left if counts(time_ns)]
    return problems, len(pairs), sum(abs(one - two) > NEAR_NS for one, two in pairs)


def run(arguments, functions):
    """(problems, lost, summary)"""
    recorder = Interrupts()
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
    ours, problems, lost = read_watch(output, functions)
    theirs, hidden = read_ftrace(text), read_hidden(text)
    total = far = 0
    for key in sorted(set(ours) | set(theirs)):
        differences, count, apart = compare(ours[key], theirs[key], (begin_ns, end_ns),
                                            hidden[key[0]])
        problems += [f"{key}: {difference}" for difference in differences]
        total += count
        far += apart
    summary = (f"{total} ends agree, of {len(theirs)} kinds by processor, {far} of them while a "
               f"processor stood still; the kernel hid something "
               f"{sum(map(len, hidden.values()))} times")
    return problems, lost + lost_lines, summary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    functions = read_functions()
    if not any(functions):
        skip("the kernel hides its addresses")
    return until_whole(run, arguments, functions)


if __name__ == "__main__":
    sys.exit(main())
