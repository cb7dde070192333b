#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the stacks of processes, threads and images against their events.

    check_task_stacks --watch PROGRAM --tasks PROGRAM --images PROGRAM [--count N]

While tasks of every kind start and end, and libraries come and go, each start, end, load and
unload must have a stack right behind it on its processor: of the same time, of the thread that the
event's header names. As many as have none are counted as such by the source. What describes who is
there has none. The stack of a fork, an exec, an exit and a mapping begins in the kernel.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile

from compare_images import can_load
from compare_processes import wait_ready

SKIPPED = 77
SECONDS = 900
MASKS = "7"  # PROCESS, THREAD, IMAGE_LOAD
HOOKS = "301,302,30a,1402,501,502"
NAMES = {"03.1": "Process start", "03.2": "Process end", "05.1": "Thread start",
         "05.2": "Thread end", "03.10": "Image load", "14.2": "Image unload"}
RUNDOWN = {"03.3", "03.4", "05.3", "05.4", "14.3", "14.4"}
IMAGES = {"03.10", "14.2"}
STACK = "18.32"
KERNEL = 1 << 63
LIBRARIES = ("libm.so.6", "libz.so.1", "libexpat.so.1", "libelf.so.1")


def read(lines):
    """{cpu: [(time, class, words behind it)]}, and the words of the last line."""
    found = collections.defaultdict(list)
    end = None
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if words[0] == "end":
            end = [int(word) for word in words[1:]]
        elif words[0].isdecimal() and not words[2].startswith("id."):
            found[int(words[1])].append((int(words[0]), words[2], words[3:]))
    return found, end


def check(found):
    """(events with a stack by class, events without, differences)."""
    with_stack, without = collections.Counter(), collections.Counter()
    differences = []
    for events in found.values():
        before = None
        for event in events + [(0, "", [])]:
            time_ns, what, words = event
            if before and before[1] in NAMES:
                if what == STACK:
                    with_stack[before[1]] += 1
                else:
                    # Of what the kernel makes (BPF programs of anybody) nobody's stack can be had.
                    is_kernels = before[1] in IMAGES and before[2][2] == "0"
                    without["kernel" if is_kernels else before[1]] += 1
            if what == STACK:
                stamp, who = int(words[2], 16), int(words[3], 16)
                frames = [int(word, 16) for word in words[4:]]
                if not before or before[1] not in NAMES:
                    differences.append(f"a stack behind {before[1] if before else 'nothing'}")
                elif stamp != time_ns or before[0] != time_ns:
                    differences.append(f"{NAMES[before[1]]} at {before[0]}: stack at {time_ns}, "
                                       f"of {stamp}")
                elif f"{who >> 32}\t{who & 0xFFFFFFFF}" != "\t".join(before[2][:2]):
                    differences.append(f"{NAMES[before[1]]} of {before[2][:2]}: stack of {who:x}")
                elif not frames or not frames[0] & KERNEL:
                    differences.append(f"{NAMES[before[1]]}: the stack begins in user code")
            before = event
    return with_stack, without, differences


def main():
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("watch", "tasks", "images"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIP: kernel events need root")
        return SKIPPED
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen([options.watch, MASKS, "0", HOOKS], stdin=subprocess.PIPE,
                              stdout=output, stderr=subprocess.PIPE, text=True) as watch:
            wait_ready(watch, output)
            subprocess.run([options.tasks, str(options.count)], stdout=subprocess.DEVNULL,
                           timeout=SECONDS, check=True)
            libraries = [name for name in LIBRARIES if can_load(options.images, name)]
            subprocess.run([options.images, "20", *libraries], stdout=subprocess.DEVNULL,
                           timeout=SECONDS, check=True)
            watch.stdin.close()
            watch.wait(timeout=SECONDS)
            if watch.returncode:
                print(watch.stderr.read())
                return 1
        output.seek(0)
        found, end = read(output)
    with_stack, without, differences = check(found)
    for what, name in NAMES.items():
        print(f"{name}: {with_stack[what]} with a stack, {without[what]} without")
    missing, counted = sum(without.values()), end[6]
    print(f"code of the kernel's own: {without['kernel']} without")
    print(f"without a stack: {missing}, counted: {counted}; lost records: {end[2]}")
    if missing != counted:
        differences.append(f"{missing} events without a stack, {counted} are counted")
    for what, name in NAMES.items():
        if not with_stack[what]:
            differences.append(f"no {name} has a stack")
        elif without[what] * 100 > with_stack[what] + without[what] and not end[2]:
            differences.append(f"{name}: more than one in a hundred has no stack")
    if not any(what in RUNDOWN for events in found.values() for _, what, _ in events):
        differences.append("nothing was described: the test saw no rundown")
    for difference in differences[:20]:
        print(f"DIFFERENT: {difference}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
