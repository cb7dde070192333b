#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's switches and ready threads against an independent recorder.

    compare_switches --watch PROGRAM --tasks PROGRAM [--count N]

The recorder is ftrace, with sched_switch, sched_waking and sched_wakeup_new. It is on before the
source and off after it, while tasks start, end and wait for each other. What the source has of each
processor must be, in its order, a run of what the recorder has, and the run must hold all that the
recorder has between the moments when both were surely on. More may not differ than one of them says
that it lost.
On some machines the kernel itself passes its tracepoints by, and one or both recorders lack what
happened: who is switched out is not who was switched in before. Differences beside such a gap are
counted, and are nobody's fault.
Each event of the source has the stack that was asked for, or is among those that it counts as
without.
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

from compare_processes import Recorder, wait_ready

EVENTS = ("sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup_new",
          "sched/sched_process_exec")
MASKS = "0,204"  # CSWITCH, DISPATCHER
HOOKS = "524,532"
LINE = re.compile(r"^.{16,}?-\d+\s+\[(?P<cpu>\d+)\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d+): "
                  r"(?P<event>sched_\w+): (?P<rest>.*)$")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=.* next_comm=.* next_pid=(\d+) "
                    r"next_prio=")
WAKE = re.compile(r"comm=.* pid=(\d+) prio=")
EXEC = re.compile(r" pid=(\d+) old_pid=(\d+)$")
BEGINNING = 30  # events by which the beginning is found
ALIKE = 8  # behind a difference
FAR = 60
NEAR = 12
MARGIN_NS = 100_000  # ftrace prints microseconds
TOGETHER_NS = 5_000_000  # of a beginning: two threads in turns look alike at any time
ROUNDS = 2000


def read_ftrace(text):
    """{cpu: [(time, what)]}, in the recorder's order; ids that an exec changed: (old, new)."""
    found = collections.defaultdict(list)
    execs = set()
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        time_ns = int(match["s"]) * 10**9 + int(match["us"]) * 1000
        if match["event"] == "sched_process_exec":
            new, old = EXEC.search(match["rest"]).groups()
            execs.add((int(old), int(new)))
            continue
        if match["event"] == "sched_switch":
            old, new = SWITCH.search(match["rest"]).groups()
            what = ("switch", int(old), int(new))
        else:
            what = ("ready", int(WAKE.search(match["rest"])[1]))
        found[int(match["cpu"])].append((time_ns, what))
    return found, execs


def read_watch(lines):
    """The same of the source; how many events should have a stack, how many have."""
    found = collections.defaultdict(list)
    wanted = stacks = 0
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if not words[0].isdecimal():
            continue
        if words[2] == "05.36":
            what = ("switch", int(words[6]), int(words[5]))
            wanted += what[2] != 0
        elif words[2] == "05.50":
            what = ("ready", int(words[5]))
            wanted += 1
        else:
            stacks += words[2] == "18.32"
            continue
        found[int(words[1])].append((int(words[0]), what))
    return found, wanted, stacks


def find_start(ours, theirs):
    """Where both go on alike for the first time; None: nowhere. A gap may be in front of it."""
    for skipped in range(0, min(len(ours), FAR * BEGINNING), BEGINNING):
        first = [what for _, what in ours[skipped:skipped + BEGINNING]]
        for at in range(len(theirs) - len(first) + 1):
            if theirs[at][1] == first[0] and \
                    abs(theirs[at][0] - ours[skipped][0]) < TOGETHER_NS and \
                    [what for _, what in theirs[at:at + len(first)]] == first:
                return skipped, at
    return None


def find_same(ours, theirs, i, j):
    """The nearest places behind (i, j) from which both go on alike for a while, or their ends."""
    for distance in range(1, FAR):
        for skipped in range(distance + 1):
            x, y = i + skipped, j + distance - skipped
            one = [what for _, what in ours[x:x + ALIKE]]
            if one and one == [what for _, what in theirs[y:y + ALIKE]]:
                return x, y
    return len(ours), len(theirs)


def has_gap(events, place, execs):
    """Whether a switch is missing near this place: who is switched out is not who was in."""
    inside = None
    for _, what in events[max(0, place - NEAR):place + NEAR]:
        if what[0] != "switch":
            continue
        if inside is not None and what[1] != inside and (inside, what[1]) not in execs:
            return True
        inside = what[2]
    return False


def compare_cpu(cpu, ours, theirs, window, losses, execs):
    """How many differences nothing explains."""
    begin_ns, end_ns = window
    in_window = [what for time_ns, what in theirs if begin_ns <= time_ns <= end_ns]
    start = find_start(ours, theirs)
    if start is None:
        print(f"processor {cpu}: the source has {len(ours)}, the recorder {len(theirs)}, and no "
              "beginning together")
        return len(in_window)
    i, j = start
    before = max(0, j - i - FAR) if i else j
    more, missing, gaps, unexplained = 0, 0, int(i > 0), 0
    while i < len(ours) and j < len(theirs):
        if ours[i][1] == theirs[j][1]:
            i, j = i + 1, j + 1
            continue
        x, y = find_same(ours, theirs, i, j)
        more, missing = more + x - i, missing + y - j
        if has_gap(ours, i, execs) or has_gap(theirs, j, execs):
            gaps += 1
        else:
            unexplained += x - i + y - j
            print(f"only the source: {ours[i:x]}; only the recorder: {theirs[j:y]}")
        i, j = x, y
    outside = [time_ns for time_ns, _ in theirs[:before] + theirs[j:]
               if begin_ns <= time_ns <= end_ns]
    print(f"processor {cpu}: {len(ours)} of the source, {len(theirs)} of the recorder, of which "
          f"{len(outside)} more while both were on; in between the source lacks {missing}, the "
          f"recorder {more}, in {gaps} gaps of the kernel's own")
    return max(0, unexplained - sum(losses)) + max(0, len(outside) - losses[0]) + len(ours) - i


def play():
    """Two processes wait for each other in turns, and sleep now and then."""
    there, back = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        for _ in range(ROUNDS):
            os.read(there[0], 1)
            os.write(back[1], b"x")
        os._exit(0)
    for i in range(ROUNDS):
        os.write(there[1], b"x")
        os.read(back[0], 1)
        if i % 16 == 0:
            time.sleep(0.0001)
    os.waitpid(pid, 0)


def record(arguments):
    """(source's lines, recorder's text, recorder's loss, window), or None after a failure."""
    recorder = Recorder(EVENTS)
    try:
        recorder.start()
        watch_out = tempfile.TemporaryFile("w+", errors="replace")
        watch = subprocess.Popen([arguments.watch, MASKS, "0", HOOKS], stdin=subprocess.PIPE,
                                 stdout=watch_out, stderr=subprocess.PIPE, text=True)
        wait_ready(watch, watch_out)
        begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + MARGIN_NS
        time.sleep(0.01)
        subprocess.run([arguments.tasks, str(arguments.count)], check=True, timeout=1500,
                       stdout=subprocess.DEVNULL)
        play()
        time.sleep(0.01)
        end_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - MARGIN_NS
        watch.stdin.close()
        if watch.wait(timeout=1500):
            print(watch.stderr.read())
            return None
        text, lost = recorder.stop()
    finally:
        recorder.close()
    watch_out.seek(0)
    return watch_out.readlines(), text, lost, (begin_ns, end_ns)


def run(arguments):
    recorded = record(arguments)
    if not recorded:
        return 1
    lines, text, their_loss, window = recorded
    theirs, execs = read_ftrace(text)
    ours, wanted, stacks = read_watch(lines)
    numbers = [int(word) for word in lines[-1].split("\t")[2:8]]
    disordered, no_buffer, no_memory, _, _, no_stack = numbers
    failed = sum(compare_cpu(cpu, ours[cpu], theirs[cpu], window,
                             (no_buffer + no_memory, their_loss), execs)
                 for cpu in sorted(set(ours) | set(theirs)))
    kinds = collections.Counter(what[0] for events in ours.values() for _, what in events)
    print(f"{kinds['switch']} switches, {kinds['ready']} ready threads, {stacks} stacks of "
          f"{wanted} asked for, {no_stack} counted as without; {disordered} out of order; lost "
          f"{no_buffer} + {no_memory}, by the recorder {their_loss}")
    if stacks + no_stack != wanted:
        print("stacks are missing without a reason")
        failed += 1
    if not kinds["switch"] or not kinds["ready"]:
        print("nothing was compared")
        failed += 1
    return int(failed > 0 or disordered > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--count", type=int, default=300)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
