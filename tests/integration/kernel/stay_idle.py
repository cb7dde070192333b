#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recorder does not feed on itself: with every class on, what its own work adds stays flat.

    stay_idle --etw PROGRAM --etwd PROGRAM [--seconds N]

A system call, a switch or an interrupt of the host is an event as anybody else's, and writing
events takes system calls. So the whole machine is recorded with every class, and the events are
counted while a thread of the host was on the processor, by the switches: in the second half of the
time there may be three times as many as in the first at most, or twice as much as everybody else's
grew. Events that each made one more would grow by far more within the first of the host's rounds of
10 ms.
Exit status: 0; 1 with the counts; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SECONDS = 600
KINDS = ("process,thread,loader,cswitch,dispatcher,profile,syscall,interrupt,dpc,power,priority,"
         "fileio,diskio,network,memory")
STACKS = "Profile,CSwitch,ReadyThread,DiskReadInit,DiskWriteInit,DiskFlushInit"
SLACK = 5000  # events in a half that tell nothing: the file's next part, a note
GROWTH = 3
LINE = re.compile(r'"raw_time":"(\d+)".*?"cpu":(\d+)')
SWITCH = re.compile(r'"opcode_name":"CSwitch".*"NewThreadId":(\d+)')
THREAD = re.compile(r'"task_name":"Thread","opcode_name":"(?:Start|DCStart|DCEnd)".*'
                    r'"fields":\{"ProcessId":(\d+),"TThreadId":(\d+)')
PROCESS = re.compile(r'"task_name":"Process","opcode_name":"(?:DCStart|DCEnd|Start)".*'
                     r'"fields":\{"UniqueProcessKey":"\w+","ProcessId":(\d+).*'
                     r'"ImageFileName":"etwd"')
SYSTEM_CALL = '"SysClEnter"'


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def end_host(folder):
    """The host would stay for some seconds."""
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"ETW_RUNTIME_DIR={folder}\0".encode() in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGTERM)
        except OSError:
            pass  # gone


def record(arguments, folder):
    path = folder / "all.etl"
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder), ETW_ETWD=arguments.etwd)
    done = subprocess.run([arguments.etw, "record", "--kernel", KINDS, "--stacks", STACKS,
                           "--duration", str(arguments.seconds), "-o", path], env=environment,
                          capture_output=True, text=True, timeout=SECONDS, check=False,
                          stdin=subprocess.DEVNULL)
    end_host(folder)
    if not path.exists():
        skip(f"etw record: {done.stderr.strip()}")
    return path, environment, done.stderr


class Counts:
    """Of each thread, in buckets of the trace's time."""

    def __init__(self):
        self.by_thread = collections.Counter()  # (thread, tick)
        self.ticks = set()
        self.hosts = set()
        self.threads = {}
        self.calls = 0
        self.switches = 0

    def read(self, lines, ticks_per_second):
        on_cpu = {}
        for line in lines:
            match = LINE.search(line)
            if not match:
                continue
            tick = int(match[1]) * 4 // ticks_per_second
            cpu = match[2]
            switch = SWITCH.search(line)
            if switch:
                on_cpu[cpu] = int(switch[1])
                self.switches += 1
            elif '"task_name":"Thread"' in line or '"task_name":"Process"' in line:
                self.learn(line)
            self.calls += SYSTEM_CALL in line
            if cpu in on_cpu:
                self.by_thread[on_cpu[cpu], tick] += 1
                self.ticks.add(tick)

    def learn(self, line):
        thread = THREAD.search(line)
        process = PROCESS.search(line)
        if thread:
            self.threads[int(thread[2])] = int(thread[1])
        elif process:
            self.hosts.add(int(process[1]))

    def halves(self):
        """(the hosts' events, everybody else's) of the first half and of the second."""
        # The first and the last second have the descriptions of what is there.
        first, last = min(self.ticks) + 4, max(self.ticks) - 4
        middle = (first + last) / 2
        halves = [[0, 0], [0, 0]]
        for (thread, tick), count in self.by_thread.items():
            if first <= tick <= last:
                is_other = self.threads.get(thread, thread) not in self.hosts
                halves[tick > middle][is_other] += count
        return halves


def measure(arguments, folder):
    begin = time.monotonic()
    path, environment, said = record(arguments, folder)
    info = subprocess.run([arguments.etw, "info", "--json", path], env=environment, text=True,
                          capture_output=True, timeout=SECONDS, check=True).stdout
    frequency = int(re.search(r'"perf_frequency":(\d+)', info)[1])
    counts = Counts()
    with subprocess.Popen([arguments.etw, "dump", "--json", path], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          errors="replace") as dump:
        counts.read(dump.stdout, frequency)
    (own, others), (own_later, others_later) = counts.halves()
    print(f"{path.stat().st_size >> 20} MiB in {time.monotonic() - begin:.0f} s: "
          f"{counts.switches} switches, {counts.calls} system calls; the host's events: {own}, "
          f"then {own_later}; all others': {others}, then {others_later}")
    print(said.strip())
    if not counts.hosts or not counts.switches or not counts.calls:
        print("no host, no switches or no system calls are in the trace")
        return 1
    allowed = GROWTH
    if others_later > 2 * others:
        allowed = max(GROWTH, 2 * others_later / max(others, 1))
    return int(own_later > allowed * own + SLACK)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch")  # not used
    parser.add_argument("--etw", required=True)
    parser.add_argument("--etwd", required=True)
    parser.add_argument("--seconds", type=int, default=6)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    with tempfile.TemporaryDirectory() as folder:
        return measure(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
