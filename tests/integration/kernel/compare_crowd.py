#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thousands of processes are there when a recording begins, and half of them end while it looks.

    compare_crowd --watch PROGRAM --crowd PROGRAM [--count N]

Each process that stays is described once at the start and once at the end, with its two threads
and its counters, and neither starts nor ends. One that ends is described once at most, at the
start, ends once at most, and is not there at the end; of those that end once the recording runs,
each is told unless records were lost.
An id that somebody else has got since is left out.
Exit status: 0; 1 with the reasons; 77 with the reason why it cannot run.
"""

import argparse
import collections
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 1500
FLAGS = "1000000b"  # processes, threads, counters; no configuration
START, END, DC_START, DC_END = "03.1", "03.2", "03.3", "03.4"
COUNTERS, COUNTERS_RUNDOWN = "03.32", "03.33"
THREAD_DC_START, THREAD_DC_END = "05.3", "05.4"
WRONG_SHOWN = 10
NAME, NAME_COLUMN = "stand_around", 9
OTHER, LOST = "somebody else's", "lost"


def gather(arguments):
    """A crowd that stands: (its process, its pids)."""
    crowd = subprocess.Popen([arguments.crowd, str(arguments.count)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids = []
    for line in crowd.stdout:
        if line == "\n":
            return crowd, pids
        pids.append(int(line))
    reason = crowd.stderr.read().strip()
    print(f"{'skipped' if crowd.wait() == SKIPPED else 'stand_around failed'}: {reason}")
    sys.exit(SKIPPED if crowd.returncode == SKIPPED else 1)


def record(arguments):
    """Returns (pids that stay, that end early, that end late, counts by (event, pid))."""
    crowd, pids = gather(arguments)
    third = len(pids) // 3
    stay, late, early = pids[:-2 * third], pids[-2 * third:-third], pids[-third:]
    with tempfile.TemporaryFile("w+") as output, \
            subprocess.Popen([arguments.watch, FLAGS], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watch:
        # They end one after the other, from now on: some before anybody looks, some while it looks.
        crowd.stdin.write("\n" * third)
        crowd.stdin.flush()
        first = watch.stdout.readline()
        if first != "ready\n":
            crowd.stdin.close()
            reason = watch.stderr.read().strip()
            skips = watch.wait() == SKIPPED
            print(f"{'skipped' if skips else 'watch_kernel failed'}: {reason}")
            sys.exit(SKIPPED if skips else 1)
        crowd.stdin.write("\n" * third)
        crowd.stdin.flush()
        # The last one of them has ended when it is gone.
        wait_until_gone(late[0])
        watch.stdin.close()
        output.writelines(watch.stdout)
        if watch.wait(timeout=SECONDS):
            sys.exit(watch.stderr.read())
        crowd.stdin.close()
        crowd.wait(timeout=SECONDS)
        counts = collections.Counter()
        output.seek(0)
        for line in output:
            words = line.rstrip("\n").split("\t")
            if words[0] == "end":
                counts[LOST] = int(words[3]) + int(words[4])
            if len(words) > 5 and words[2][:2] in ("03", "05"):
                counts[words[2], int(words[5])] += 1
                if words[2] in (START, DC_START, DC_END) and words[NAME_COLUMN] != NAME:
                    counts[OTHER, int(words[5])] += 1
    return set(stay), set(early), set(late), counts


def wait_until_gone(pid):
    """Until a process is not there any more; its parent waits for it."""
    while True:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                stat.read()
        except (FileNotFoundError, ProcessLookupError):
            return


def check(stay, early, late, counts):
    """Sentences about what is wrong."""
    wrong = []
    for pid in sorted(stay):
        wanted = {DC_START: 1, DC_END: 1, COUNTERS_RUNDOWN: 1, THREAD_DC_START: 2,
                  THREAD_DC_END: 2, START: 0, END: 0, COUNTERS: 0}
        for event, count in wanted.items():
            if counts[event, pid] != count:
                wrong.append(f"{pid} stays and has {counts[event, pid]} events {event}")
    for pid in sorted(early | late):
        if counts[START, pid] or counts[OTHER, pid]:
            continue
        # Whoever is in the midst of its end when the recording begins may be described alone.
        for event in (DC_END, COUNTERS_RUNDOWN, THREAD_DC_END):
            if pid in late and counts[event, pid]:
                wrong.append(f"{pid} ends and has {counts[event, pid]} events {event}")
        for event in (DC_START, END, COUNTERS):
            if counts[event, pid] > 1:
                wrong.append(f"{pid} ends and has {counts[event, pid]} events {event}")
        if pid in late and not counts[END, pid] and not counts[LOST]:
            wrong.append(f"{pid} was there, and its end is missing")
        if pid in late and not counts[DC_START, pid]:
            wrong.append(f"{pid} was there, and is not described")
    return wrong


def main():
    """Record, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True, help="the program watch_kernel")
    parser.add_argument("--crowd", required=True, help="the program stand_around")
    parser.add_argument("--count", type=int, default=300, help="of processes")
    arguments = parser.parse_args()
    stay, early, late, counts = record(arguments)
    wrong = check(stay, early, late, counts)
    end = early | late
    for sentence in wrong[:WRONG_SHOWN]:
        print(sentence)
    seen = sum(1 for pid in end if counts[DC_START, pid])
    told = sum(1 for pid in end if counts[END, pid])
    print(f"{len(stay)} processes stayed, {len(end)} ended: {seen} were described before, "
          f"{told} ends were told; {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
