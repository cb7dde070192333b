#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What processes used, and how their threads are described, against what they and procfs say.

    compare_counters --watch PROGRAM --use PROGRAM

Two processes of use_resources run while watch_kernel records: one is there before the beginning and
after the end, the other starts and ends in between. Faults, open files and memory of the second are
those that it printed last, up to what wait4() says of it; those of the first are those of its files
in /proc, which do not change while it waits. Names, priorities, processors and stacks of threads
are compared for both.
Exit status: 0; 1 with the reasons; 77 with the reason why it cannot run.
"""

import argparse
import os
import subprocess
import sys

from kernel_checks import Checks, SKIPPED, watch_during

SECONDS = 1500
FLAGS = "1000000b"  # processes, threads, counters; no configuration
MIB = 1 << 20
TOUCHED_MIB = 64
FILES = 100
PAGE = os.sysconf("SC_PAGESIZE")
# What processors have counted and not yet added up: two batches of 32 pages each, at least.
SLACK = MIB + os.cpu_count() * max(64, 4 * os.cpu_count()) * PAGE
NAME = "with a name"
NICE_5 = 6  # as docs/kernel-events/thread.md maps it
AT_ENTRY = 9


def start(program):
    """A process of use_resources that is ready."""
    process = subprocess.Popen([program, str(TOUCHED_MIB), str(FILES)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        print("skipped: use_resources may not set its nice value or its processor")
        sys.exit(SKIPPED)
    return process


def end(process):
    """Returns (the numbers that it printed, wait4's account)."""
    process.stdin.close()
    told = [int(word) for word in process.stdout.readline().split()]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"use_resources ended with {process.returncode}")
    return told, usage


def read_status(pid):
    """The lines of /proc/<pid>/status with a number of KiB, in bytes."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return {line.split(":")[0]: int(line.split()[1]) * 1024
                for line in status if line.rstrip().endswith(" kB")}


def read_stat(pid):
    """The fields of /proc/<pid>/stat from the state on, so that field N of proc(5) is at N - 3."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return stat.read().rsplit(")", 1)[1].split()


def read_entry(pid):
    """Where the program began, of its auxiliary vector."""
    with open(f"/proc/{pid}/auxv", "rb") as vector:
        words = memoryview(vector.read()).cast("Q")
    return next(words[i + 1] for i in range(0, len(words), 2) if words[i] == AT_ENTRY)


def record(arguments):
    """Returns (the process that stays, what was made, lines of the watcher)."""
    def make():
        comes = start(arguments.use)
        return (comes.pid, *end(comes))

    stays = start(arguments.use)
    try:
        made, lines = watch_during(arguments.watch, FLAGS, make)
    except SystemExit:
        stays.kill()
        raise
    return stays, made, lines


def find(lines, kind, pid):
    """The events of a class about a process, as lists of their columns from the process on."""
    return [line[5:] for line in lines if len(line) > 5 and line[2] == kind
            and int(line[5]) == pid]


def check_end(checks, lines, made):
    """The counters of the process that ended."""
    pid, (faults, files, peak_kib, anonymous_kib), usage = made
    counters = find(lines, "03.32", pid)
    checks.equal("the number of PerfCtr events", len(counters), 1)
    if len(counters) != 1:
        return
    (_, got_faults, got_files, peak, peak_resident, size, resident, writable,
     private) = map(int, counters[0])
    checks.within("PageFaultCount", got_faults, faults, usage.ru_minflt + usage.ru_majflt)
    checks.equal("HandleCount", got_files, files)
    checks.within("PeakWorkingSetSize", peak_resident, TOUCHED_MIB * MIB - SLACK,
                  usage.ru_maxrss * 1024 + SLACK)
    if not size and tuple(map(int, os.uname().release.split(".")[:2])) < (6, 16):
        print("the kernel is older than 6.16: the memory of a process is gone at its end")
        return
    checks.within("PeakVirtualSize", peak, peak_kib * 1024, peak_kib * 1024 + SLACK)
    checks.within("VirtualSize", size, TOUCHED_MIB * MIB, peak)
    checks.within("WorkingSetSize", resident, TOUCHED_MIB * MIB - SLACK, peak_resident)
    checks.within("PrivatePageCount", private, anonymous_kib * 1024 - SLACK,
                  anonymous_kib * 1024 + SLACK)
    checks.within("PagefileUsage", writable, TOUCHED_MIB * MIB, size)


def check_rundown(checks, lines, pid):
    """The counters of the process that is there still, against its files."""
    counters = find(lines, "03.33", pid)
    checks.equal("the number of PerfCtrRundown events", len(counters), 1)
    if len(counters) != 1:
        return
    (_, faults, files, peak, peak_resident, size, resident, writable,
     private) = map(int, counters[0])
    status, stat = read_status(pid), read_stat(pid)
    checks.equal("its PageFaultCount", faults, int(stat[7]) + int(stat[9]))
    checks.equal("its HandleCount", files, len(os.listdir(f"/proc/{pid}/fd")))
    checks.equal("its PeakVirtualSize", peak, status["VmPeak"])
    checks.equal("its VirtualSize", size, status["VmSize"])
    checks.equal("its PagefileUsage", writable, status["VmData"] + status["VmStk"])
    # Memory may be taken back from it meanwhile.
    checks.within("its PeakWorkingSetSize", peak_resident, status["VmRSS"], status["VmHWM"])
    checks.within("its WorkingSetSize", resident, 0, status["VmHWM"])
    # Before Linux 6.2 a thread keeps up to 64 pages for itself before it adds them to the sum.
    checks.within("its PrivatePageCount", private, TOUCHED_MIB * MIB - SLACK,
                  status["RssAnon"] + status["VmSwap"] + SLACK)


def check_threads(checks, lines, stays, comes):
    """Names, priorities, processors and stacks of both processes' threads."""
    names = [line[2] for line in find(lines, "05.72", comes)]
    checks.equal("the names that its threads got", names, [NAME])
    started = [line for line in find(lines, "05.1", comes) if int(line[1]) != comes]
    checks.equal("the number of threads that started", len(started), 1)
    for line in started:
        checks.equal("BasePriority", int(line[3]), NICE_5)
        checks.equal("Affinity", int(line[5], 16), 1)
        checks.within("UserStackBase", int(line[6], 16), 1, 1 << 64)
    ended = [line[2] for line in find(lines, "05.2", comes)]
    checks.equal("the names at the end", NAME in ended, True)
    there = {int(line[1]): line for line in find(lines, "05.3", stays)}
    checks.equal("the number of threads that are there", len(there), 2)
    for tid, line in there.items():
        checks.equal("its BasePriority", int(line[3]), NICE_5)
        checks.within("its IoPriority", int(line[4]), 0, 2)
        checks.equal("its Affinity", int(line[5], 16), 1)
        if tid == stays:
            checks.equal("its UserStackBase", int(line[6], 16), int(read_stat(stays)[25]))
            checks.equal("its Win32StartAddr", int(line[7], 16), read_entry(stays))
        else:
            checks.equal("its thread's name", line[2], NAME)


def main():
    """Record, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True, help="the program watch_kernel")
    parser.add_argument("--use", required=True, help="the program use_resources")
    arguments = parser.parse_args()
    stays, made, lines = record(arguments)
    checks = Checks()
    check_end(checks, lines, made)
    check_rundown(checks, lines, stays.pid)
    check_threads(checks, lines, stays.pid, made[0])
    end(stays)
    checks.finish()


if __name__ == "__main__":
    main()
