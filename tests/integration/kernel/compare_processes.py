#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's processes and threads against an independent recorder.

    compare_processes --watch PROGRAM --tasks PROGRAM [--count N] [--takeovers N]

The recorder is ftrace: an instance of its own in a tracefs that only this process sees, with the
tracepoints task_newtask, sched_process_exec and sched_process_exit on the same clock. Both record
the whole machine while make_tasks starts N processes (2000). Within the time that both were on,
every id's starts and ends must agree in number:

    Process starts = new thread groups + execs          Process ends = last exits + execs
    Thread starts  = new tasks + execs                  Thread ends  = exits + execs by that thread

and no process is there at the start (DCStart) and starts before it ends. Loss must be 0, or
explain every difference and every process of which a start or an end is missing.
With --takeovers the source's host dies that often, in the middle of its events.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
CLONE_NEWNS = 0x00020000
MS_REC_PRIVATE = 0x4000 | 0x40000
CLONE_THREAD = 0x10000
EVENTS = ("task/task_newtask", "sched/sched_process_exec", "sched/sched_process_exit")
BUFFER_KIB = 65536
MARGIN_NS = 100_000  # ftrace prints microseconds
FLAGS = "7"  # images too: what they cost must not lose anything
IMAGE_LOAD = "03.10"
LINE = re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+\S+\s+"
                  r"(?P<s>\d+)\.(?P<us>\d+): (?P<event>\w+): (?P<rest>.*)$")
LIBC = ctypes.CDLL(None, use_errno=True)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def list_groups():
    """{thread: its group} of everybody who is there."""
    groups = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            groups.update((int(task.name), int(folder.name))
                          for task in (folder / "task").iterdir())
        except OSError:
            pass  # gone
    return groups


class Recorder:
    """An ftrace instance that records events of this name, all of the machine."""

    def __init__(self, events=EVENTS):
        self.events = events
        if os.geteuid() != 0:
            skip("needs root")
        if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC_PRIVATE, None):
            skip("no mount namespace of its own")
        self.mount = tempfile.mkdtemp(prefix="etw-tracefs-")
        if LIBC.mount(b"tracefs", self.mount.encode(), b"tracefs", 0, None):
            os.rmdir(self.mount)
            skip("tracefs cannot be mounted")
        self.at = pathlib.Path(self.mount, "instances", f"etw-{os.getpid()}")
        self.at.mkdir()

    def write(self, name, value):
        (self.at / name).write_text(value)

    def start(self):
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", str(BUFFER_KIB))
        # Names of threads are not wanted; the table of group ids costs nothing.
        for event in self.events:
            self.write(f"events/{event}/enable", "1")
        self.groups = list_groups()

    def stop(self):
        self.write("tracing_on", "0")
        text = (self.at / "trace").read_text(errors="replace")
        lost = 0
        for path in self.at.glob("per_cpu/cpu*/stats"):
            for line in path.read_text().splitlines():
                if line.startswith(("overrun:", "dropped events:")):
                    lost += int(line.split(":")[1])
        return text, lost

    def close(self):
        for event in self.events:
            self.write(f"events/{event}/enable", "0")
        self.at.rmdir()
        LIBC.umount2(self.mount.encode(), 2)
        os.rmdir(self.mount)


def read_ftrace(text, begin_ns, end_ns):
    """Counters of (what, id) from the recorder's lines in (begin, end)."""
    groups = {}
    counts = collections.Counter()
    seen = 0
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        time_ns = int(match["s"]) * 10**9 + int(match["us"]) * 1000
        if not begin_ns <= time_ns <= end_ns:
            continue
        seen += 1
        tid = int(match["tid"])
        fields = dict(word.split("=", 1) for word in match["rest"].split() if "=" in word)
        if match["event"] == "task_newtask":
            new = int(fields["pid"])
            counts["thread start", new] += 1
            if not int(fields["clone_flags"], 16) & CLONE_THREAD:
                counts["process start", new] += 1
        elif match["event"] == "sched_process_exec":
            pid, old = int(fields["pid"]), int(fields["old_pid"])
            counts["process start", pid] += 1
            counts["process end", pid] += 1
            counts["thread start", pid] += 1
            counts["thread end", old] += 1
        elif match["event"] == "sched_process_exit":
            counts["thread end", tid] += 1
            if fields.get("group_dead", "").startswith("t"):
                groups[tid] = True
                counts["last exit", tid] += 1
    return counts, seen


CLASSES = {"03.1": "process start", "03.2": "process end", "05.1": "thread start",
           "05.2": "thread end"}


def read_watch(lines, begin_ns, end_ns, takeovers):
    """Counters of (what, id) of the source, the last thread of each end; problems of order;
    missed processes."""
    counts = collections.Counter()
    problems = []
    alive = {}
    missed = 0
    # Each CPU's events come in order; the order of all is that of time.
    events = [line.rstrip("\n").split("\t") for line in lines]
    events = sorted((words for words in events
                     if words[0].isdecimal() and len(words) >= 7),
                    key=lambda words: int(words[0]))
    # A process that ends while a rundown goes through /proc may be missed by it. The first rundown
    # was over at begin_ns.
    listed_ns = max([begin_ns] + [int(line.split("\t")[1]) for line in lines
                                  if line.startswith("listed\t")])
    for words in events:
        time_ns, kind, acting = int(words[0]), words[2], words[3]
        if kind[:2] not in ("03", "05") or kind == IMAGE_LOAD:
            continue
        pid, tid = int(words[5]), int(words[6])
        if kind == "03.3":
            # A host that died in its rundown has it done again.
            if pid in alive and not takeovers:
                problems.append(f"process {pid} is there twice")
            alive[pid] = True
        if kind == "03.1":
            if pid in alive:
                problems.append(f"process {pid} starts twice, at {time_ns}")
            alive[pid] = True
        if kind == "03.2" and not alive.pop(pid, None):
            missed += 1
            if time_ns > listed_ns:
                problems.append(f"process {pid} ends and was not there, at {time_ns}")
        if kind == "03.4" and pid not in alive:
            problems.append(f"process {pid} is there at the end and never was")
        if kind not in CLASSES or not begin_ns <= time_ns <= end_ns:
            continue
        name = CLASSES[kind]
        counts[name, tid if kind.startswith("05") else pid] += 1
        if kind == "03.2":
            counts["last exit", int(acting)] += 1
    return counts, problems, missed


def run(arguments):
    recorder = Recorder()
    try:
        recorder.start()
        watch_out = tempfile.TemporaryFile("w+")
        watch = subprocess.Popen([arguments.watch, FLAGS, str(arguments.takeovers)],
                                 stdin=subprocess.PIPE, stdout=watch_out,
                                 stderr=subprocess.PIPE, text=True)
        wait_ready(watch, watch_out)
        begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + MARGIN_NS
        time.sleep(0.01)
        made = subprocess.run([arguments.tasks, str(arguments.count)], check=True, timeout=1500,
                              capture_output=True, text=True).stdout.strip()
        time.sleep(0.01)
        end_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - MARGIN_NS
        watch.stdin.close()
        if watch.wait(timeout=1500):
            print(watch.stderr.read())
            return 1
        text, lost = recorder.stop()
    finally:
        recorder.close()
    watch_out.seek(0)
    lines = watch_out.readlines()
    return judge(lines, text, lost, (begin_ns, end_ns), made, arguments.takeovers,
                 recorder.groups)


def wait_ready(watch, watch_out):
    deadline = time.monotonic() + 600
    while os.fstat(watch_out.fileno()).st_size == 0:
        if watch.poll() is not None:
            reason = watch.stderr.read().strip()
            if watch.returncode == SKIPPED:
                skip(reason)
            raise SystemExit(f"watch_kernel failed: {reason}")
        if time.monotonic() > deadline:
            raise SystemExit("watch_kernel did not start")
        time.sleep(0.01)


def judge(lines, text, lost, window, made, takeovers, groups):
    begin_ns, end_ns = window
    theirs, seen = read_ftrace(text, begin_ns, end_ns)
    ours, problems, missed = read_watch(lines, begin_ns, end_ns, takeovers)
    summary = lines[-1].split("\t")
    disordered, no_buffer, no_memory, incomplete = (int(word) for word in summary[2:6])
    # An end is either the last exit or an exec; which thread it was says the header.
    tells_last = any(what == "last exit" for what, _ in theirs)
    for key in [key for key in ours if key[0] == "last exit"]:
        del ours[key]
    if tells_last:
        add_last_exits(theirs, text, begin_ns, end_ns, groups)
    for key in [key for key in theirs if key[0] == "last exit"]:
        del theirs[key]
    if not tells_last:
        drop(theirs, "process end")
        drop(ours, "process end")
    differences = [(key, theirs[key], ours[key]) for key in sorted(set(theirs) | set(ours))
                   if theirs[key] != ours[key]]
    for key, their, our in differences[:20]:
        print(f"{key[0]} of {key[1]}: the recorder has {their}, the source {our}")
    for problem in problems[:20]:
        print(problem)
    totals = collections.Counter()
    for (what, _), count in ours.items():
        totals[what] += count
    print(f"{made} processes made; {seen} lines of the recorder ({lost} lost); source: "
          + ", ".join(f"{count} {what}s" for what, count in sorted(totals.items()))
          + f"; {len(differences)} differences, {disordered} out of order, lost {no_buffer} + "
          f"{no_memory}, incomplete {incomplete} of {missed} missed, "
          f"{summary[6].strip()} of {takeovers} takeovers")
    if lost:
        print("the recorder itself lost lines: nothing can be said")
        return 1
    # Starts and ends that were lost outside the window show as processes that come out of nowhere:
    # after a loss the source asks procfs who is there at the end.
    missing = sum(abs(their - our) for _, their, our in differences) + len(problems)
    # What a host had learnt dies with it, so only events of hosts that live are complete.
    return int(disordered > 0 or missing > no_buffer
               or (incomplete > missed + no_buffer and not takeovers)
               or int(summary[6]) < takeovers)


def drop(counts, what):
    for key in [key for key in counts if key[0] == what]:
        del counts[key]


def add_last_exits(counts, text, begin_ns, end_ns, group):
    """The last exit names a thread: its group is what task_newtask said, or what was before."""
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        tid = int(match["tid"])
        fields = dict(word.split("=", 1) for word in match["rest"].split() if "=" in word)
        time_ns = int(match["s"]) * 10**9 + int(match["us"]) * 1000
        if match["event"] == "task_newtask":
            new = int(fields["pid"])
            is_thread = int(fields["clone_flags"], 16) & CLONE_THREAD
            group[new] = group.get(tid, tid) if is_thread else new
        elif match["event"] == "sched_process_exec":
            group[int(fields["pid"])] = int(fields["pid"])
        elif fields.get("group_dead", "").startswith("t") and begin_ns <= time_ns <= end_ns:
            counts["process end", group.get(tid, tid)] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--takeovers", type=int, default=0)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
