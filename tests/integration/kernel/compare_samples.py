#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's samples against those of perf, taken at the same time.

    compare_samples --watch PROGRAM

Three loops of different weight run while both sample the whole machine by the CPU clock, once in a
millisecond, until the loops had four seconds of processor time. Each loop's part of the loops'
samples must agree within 5 points. There may not be many less samples than perf has, nor many more
than milliseconds that the loops had; a machine that stood still has less. Each sample has the stack
that was asked for, or is among those that the source counts as without.
Where a hypervisor takes more than 1 % of the time away, samples say little, and nothing is asked.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from compare_processes import skip, wait_ready
from perf_data import read_samples, start_perf, stop_perf

MASKS = "0,2"  # PROFILE
HOOKS = "f2e"
PERIOD_NS = 1_000_000
NICE_VALUES = (0, 0, 5)
POINTS = 5
STEAL_PERCENT = 1
ENOUGH_NS = 4_000_000_000  # of processor time
SECONDS = 120  # for it
LEAST = 1000  # samples of the loops, else they had too little of the machine
LOOP = "import os\nwhile os.getppid() == {}:\n    for i in range(100000):\n        pass"


def read_times():
    """(steal, all) of the machine, in ticks."""
    words = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    return int(words[7]), sum(int(word) for word in words)


def read_watch(lines):
    """Samples by thread; how many stacks there are."""
    counts = collections.Counter()
    stacks = 0
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if not words[0].isdecimal():
            continue
        if words[2] == "0f.46":
            counts[int(words[6], 16) & 0xFFFFFFFF] += 1
        stacks += words[2] == "18.32"
    return counts, stacks


def time_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def run_loops():
    """{process: its processor time in ns}."""
    loops = [subprocess.Popen([sys.executable, "-c", LOOP.format(os.getpid())],
                              preexec_fn=lambda nice=nice: os.nice(nice))
             for nice in NICE_VALUES]
    deadline = time.monotonic() + SECONDS
    while sum(time_of(loop.pid) for loop in loops) < ENOUGH_NS and time.monotonic() < deadline:
        time.sleep(0.1)
    times = {}
    for loop in loops:
        loop.kill()
        _, _, usage = os.wait4(loop.pid, 0)
        loop.returncode = 0
        times[loop.pid] = int((usage.ru_utime + usage.ru_stime) * 10**9)
    return times


def record(arguments, path):
    """(source's lines, processor time by process, part of the time that was stolen)."""
    perf = start_perf(path, PERIOD_NS)
    with tempfile.TemporaryFile("w+", errors="replace") as watch_out:
        watch = subprocess.Popen([arguments.watch, MASKS, "0", HOOKS], stdin=subprocess.PIPE,
                                 stdout=watch_out, stderr=subprocess.PIPE, text=True)
        wait_ready(watch, watch_out)
        before = read_times()
        times = run_loops()
        after = read_times()
        watch.stdin.close()
        if watch.wait(timeout=1500):
            sys.exit(watch.stderr.read())
        stop_perf(perf)
        watch_out.seek(0)
        return watch_out.readlines(), times, (after[0] - before[0]) / max(1, after[1] - before[1])


def judge(lines, theirs, times):
    """How many things are wrong."""
    ours, stacks = read_watch(lines)
    numbers = [int(word) for word in lines[-1].split("\t")[2:8]]
    disordered, no_buffer, no_memory, _, _, no_stack = numbers
    our_sum, their_sum = (sum(counts[pid] for pid in times) for counts in (ours, theirs))
    expected = sum(times.values()) // PERIOD_NS
    if min(our_sum, their_sum, expected) < LEAST:
        skip(f"the loops had too little of the machine: {expected} ms")
    failed = 0
    for pid in times:
        our, their = 100 * ours[pid] / our_sum, 100 * theirs[pid] / their_sum
        print(f"process {pid}: {our:.1f} % of {our_sum} samples, by perf {their:.1f} % of "
              f"{their_sum}, {100 * times[pid] / sum(times.values()):.1f} % of the time")
        failed += abs(our - their) > POINTS
    print(f"{our_sum} samples for {expected} ms; lost {no_buffer} + {no_memory}; {stacks} stacks "
          f"of {sum(ours.values())} samples, {no_stack} counted as without")
    failed += our_sum + no_buffer < their_sum * 0.7 or our_sum > expected * 1.3
    failed += stacks + no_stack != sum(ours.values())
    return failed + disordered


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.data")
        lines, times, steal = record(arguments, path)
        print(f"{100 * steal:.2f} % of the time was stolen")
        if steal * 100 > STEAL_PERCENT:
            skip("the hypervisor takes the processors away")
        theirs = collections.Counter(pid for _, pid in read_samples(path))
        sys.exit(int(judge(lines, theirs, times) > 0))


if __name__ == "__main__":
    main()
