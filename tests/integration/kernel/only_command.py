#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold what is recorded of one process tree alone against who asked for it by ftrace.

    only_command --watch PROGRAM --ask PROGRAM [--rounds N]

ask_kernel has the kernel work: workers for a terminal, a file system and network namespaces, soft
interrupts for packets. Another one does the same at the same time, and this process has the other
ends of both. The source records the first one's tree. ftrace records the switches, wakes, soft
interrupts and items of workqueues of the whole machine; who asked for what is found out from its
lines alone. The switches, ready threads and soft interrupts of the source must be those that are
the tree's by that, each once, and there must be some that nothing but the work of the kernel for
the tree explains.

The kernel now and then passes its tracepoints by (compare_switches.py), and for a while ftrace may
see nothing of what the idle thread of a processor does itself. Where a processor left another
thread than it switched to last, ftrace missed the switch between the two, so that the source alone
may have it. What else there is of differences must not be in all rounds.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import pathlib
import pty
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty

from compare_processes import Recorder, SKIPPED, skip, wait_ready

TRIES = 6
SECONDS = 600
MASKS = "1,284"  # processes; context switches, soft interrupts, ready threads
SWITCH, READY = "05.36", "05.50"
DPCS = ("0f.66", "0f.68", "0f.69")
EVENTS = ("sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup_new", "task/task_newtask",
          "irq/softirq_raise", "irq/softirq_entry", "irq/softirq_exit",
          "workqueue/workqueue_queue_work", "workqueue/workqueue_execute_start",
          "workqueue/workqueue_execute_end")
LINE = re.compile(r"^.{16,}?-(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<flags>\S+)\s+"
                  r"(?P<s>\d+)\.(?P<us>\d+): (?P<event>\w+): (?P<rest>.*)$")
SWITCHED = re.compile(r"prev_pid=(\d+) prev_prio=.* next_pid=(\d+) next_prio=")
WOKEN = re.compile(r"comm=.* pid=(\d+) prio=")
NEW = re.compile(r"pid=(\d+) comm=")
VECTOR = re.compile(r"vec=(\d+) ")
ITEM = re.compile(r"work struct=? ?(\S+?)[: ]")
ASKED_FOR = {0, 2, 3, 4, 6}  # soft interrupts that threads ask for
BEHIND_S = 1  # for workers to do what was asked for last


class Asker:
    """One ask_kernel, and the other ends of what it talks to, which answer."""

    def __init__(self, arguments, folder, name):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        here, there = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for one in (here, there):
            one.bind(("127.0.0.1", 0))
        here.connect(there.getsockname())
        there.connect(here.getsockname())
        self.sockets = here, there
        self.slave = slave
        self.process = subprocess.Popen(
            [arguments.ask, str(arguments.rounds), str(self.master), str(there.fileno()),
             str(folder / name)], stdin=subprocess.PIPE,
            pass_fds=(self.master, there.fileno()))
        for read, write in ((lambda: os.read(slave, 64), lambda byte: os.write(slave, byte)),
                            (lambda: here.recv(64), here.send)):
            threading.Thread(target=self.answer, args=(read, write), daemon=True).start()

    @staticmethod
    def answer(read, write):
        try:
            while byte := read():
                write(byte)
        except OSError:
            pass  # closed

    def go(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()

    def wait(self):
        result = self.process.wait(timeout=SECONDS)
        if result == SKIPPED:
            skip("no network namespace can be made here")
        if result:
            raise SystemExit(f"ask_kernel failed: {result}")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        for one in self.sockets:
            one.close()
        os.close(self.master)
        os.close(self.slave)


class Owners:
    """Who asked for what, from the lines of ftrace in their order."""

    def __init__(self, pid):
        self.tree = {pid}
        self.works = {}  # item: whether the tree queued it
        self.workers = {}  # thread: whether it works for the tree
        self.raised = collections.defaultdict(dict)  # cpu: {vector: whether the tree asked}
        self.asked = {}  # cpu: whether the tree asked for one last, and none was served since
        self.soft = {}  # cpu: whether what is served was asked for by the tree; None: not known
        self.runs = {}  # cpu: the thread that was switched to last
        self.missed = collections.Counter()  # switches that must have been between two of ftrace's
        self.found = []  # (time, what, whether only the kernel's work explains it)

    def acts(self, line):
        """Whether what a processor does is done for the tree; None: nobody knows."""
        if line["flags"][2] in "hHzZ":
            return None
        if line["flags"][2] == "s":
            return self.soft.get(line["cpu"])
        return self.is_inside(int(line["tid"]))

    def is_inside(self, tid):
        return tid in self.tree or self.workers.get(tid, False)

    def take(self, line):
        getattr(self, line["event"])(line, line["rest"])

    def tell(self, line, what, is_plain):
        time_ns = int(line["s"]) * 10**9 + int(line["us"]) * 1000
        self.found.append((time_ns, (int(line["cpu"]),) + what, not is_plain))

    def sched_switch(self, line, rest):
        old, new = map(int, SWITCHED.search(rest).groups())
        cpu = int(line["cpu"])
        if self.runs.get(cpu, old) != old:
            self.missed[cpu, "switch", self.runs[cpu], old] += 1
        self.runs[cpu] = new
        if self.is_inside(old) or self.is_inside(new):
            self.tell(line, ("switch", old, new), old in self.tree or new in self.tree)

    def sched_waking(self, line, rest):
        tid = int(WOKEN.search(rest)[1])
        acts = self.acts(line)
        # Behind a round of soft interrupts the kernel wakes it on top of any thread.
        if "comm=ksoftirqd/" in rest:
            acts = acts and self.asked.get(line["cpu"])
        if self.is_inside(tid) or acts:
            acts_itself = int(line["tid"]) in self.tree and line["flags"][2] == "."
            self.tell(line, ("ready", tid), tid in self.tree or acts_itself)

    sched_wakeup_new = sched_waking

    def task_newtask(self, line, rest):
        if int(line["tid"]) in self.tree:
            self.tree.add(int(NEW.search(rest)[1]))

    def softirq_raise(self, line, rest):
        vector = int(VECTOR.search(rest)[1])
        acts = self.acts(line)
        self.asked[line["cpu"]] = acts
        if vector in ASKED_FOR and acts is not None:
            raised = self.raised[line["cpu"]]
            raised[vector] = raised.get(vector) or acts

    def softirq_entry(self, line, rest):
        self.soft[line["cpu"]] = self.raised[line["cpu"]].pop(int(VECTOR.search(rest)[1]), None)

    def softirq_exit(self, line, _):
        self.asked[line["cpu"]] = False
        is_asked = self.soft.pop(line["cpu"], None)
        is_interrupted = self.is_inside(int(line["tid"]))
        if is_asked or (is_asked is None and is_interrupted):
            self.tell(line, ("soft",), is_interrupted)

    def workqueue_queue_work(self, line, rest):
        self.works[ITEM.search(rest)[1]] = bool(self.acts(line))

    def workqueue_execute_start(self, line, rest):
        is_ours = self.works.pop(ITEM.search(rest + " ")[1], False)
        if line["flags"][2] == ".":
            self.workers[int(line["tid"])] = is_ours

    def workqueue_execute_end(self, line, _):
        if line["flags"][2] == ".":
            self.workers[int(line["tid"])] = False


def read_ftrace(text, pid):
    owners = Owners(pid)
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            owners.take(match)
    return owners


def read_watch(lines):
    found = []
    lost = 0
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if words[0] == "end":
            lost = sum(int(word) for word in words[3:5])
        elif words[0].isdecimal() and words[2] == SWITCH:
            found.append((int(words[0]), (int(words[1]), "switch", int(words[6]), int(words[5]))))
        elif words[0].isdecimal() and words[2] in DPCS:
            found.append((int(words[0]), (int(words[1]), "soft")))
        elif words[0].isdecimal() and words[2] == READY:
            found.append((int(words[0]), (int(words[1]), "ready", int(words[5]))))
    return found, lost


def record(arguments, folder):
    """(what the source has, what ftrace says, lost)"""
    recorder = Recorder(EVENTS)
    askers = []
    try:
        askers = [Asker(arguments, folder, name) for name in ("inside", "outside")]
        pid = askers[0].process.pid
        output = tempfile.TemporaryFile("w+", errors="replace")
        watch = subprocess.Popen([arguments.watch, MASKS, "0", "0", str(pid)],
                                 stdin=subprocess.PIPE, text=True, stdout=output,
                                 stderr=subprocess.PIPE)
        wait_ready(watch, output)
        recorder.start()
        for asker in askers:
            asker.go()
        for asker in askers:
            asker.wait()
        time.sleep(BEHIND_S)
        recorder.write("tracing_on", "0")
        watch.stdin.close()
        if watch.wait(timeout=SECONDS):
            raise SystemExit(watch.stderr.read())
        text, lost_lines = recorder.stop()
    finally:
        for asker in askers:
            asker.close()
        recorder.close()
    output.seek(0)
    ours, lost = read_watch(output)
    return ours, read_ftrace(text, pid), lost + lost_lines


def compare(ours, owners):
    mine = collections.Counter(what for _, what in ours)
    theirs = collections.Counter(what for _, what, _ in owners.found)
    problems = [f"ftrace has not, {count} times: {what}"
                for what, count in (mine - theirs - owners.missed).items()]
    problems += [f"the source has not, {count} times: {what}"
                 for what, count in (theirs - mine).items()]
    for kind in ("switch", "ready"):
        if not any(what[1] == kind and is_owned for _, what, is_owned in owners.found):
            problems.append(f"no {kind} by the kernel's work for the tree")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--ask", required=True)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    problems = ["something was lost each time"]
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            ours, owners, lost = record(arguments, pathlib.Path(folder))
        if lost:
            print(f"done again: {lost} lost")
            continue
        problems = compare(ours, owners)
        missed = sum(owners.missed.values())
        owned = sum(is_owned for _, _, is_owned in owners.found)
        print(f"{len(ours)} events, ftrace {len(owners.found)}, of which {owned} by owner, "
              f"{missed} switches missed; {len(problems)} differences", *problems[:4], sep="\n    ")
        if not problems:
            return 0
    print("\n".join(problems[:40]))
    return 1


if __name__ == "__main__":
    sys.exit(main())
