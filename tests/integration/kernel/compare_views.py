#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's events of memory and of views against what the kernel says is mapped.

    compare_views --watch PROGRAM --views PROGRAM

The program maps, moves and unmaps in two threads at once and in a child, while other processes keep
the machine busy, and says at some moments what /proc/self/maps has. What its events came to by such
a moment must be that, page by page: which pages are views, of which page of which file, and which
are memory. At one moment all keys of a file are one, and no two files have one. What the stack
grows by has no event. What a process has that does nothing is told at the start and at the end, and
how much that is meanwhile. At its end a process must have given back all that it has (Linux 6.16).
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

from compare_processes import skip
from kernel_checks import until_whole, watch_during

MASKS = "8000,888000"  # VAMAP; VIRTUAL_ALLOC, MEMINFO, MEMINFO_WS
PAGE = 4096
ROUNDS = 20
SECONDS = 600
ALLOC, FREE, MAP, UNMAP = "02.98", "02.99", "04.37", "04.38"
START = {"02.128": ALLOC, "04.39": MAP}
END_TOO = {"02.129": ALLOC, "04.40": MAP}
COMMIT, RESERVE, DECOMMIT, RELEASE = 0x1000, 0x2000, 0x4000, 0x8000
LOAD = "while :; do ls -l /usr/bin; done"
LINE = re.compile(r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<rights>\S+) (?P<offset>[0-9a-f]+) "
                  r"(?P<device>\S+) (?P<inode>\d+)\s*(?P<path>.*)")
END = (1 << 47) - PAGE  # of what programs may map


def run_program(arguments, folder):
    load = [subprocess.Popen(["sh", "-c", LOAD], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True) for _ in range(2)]
    try:
        done = subprocess.run([arguments.views, folder / "file", str(ROUNDS), str(os.getpid())],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=SECONDS, check=False)
    finally:
        for process in load:
            os.killpg(process.pid, 9)
            process.wait()
    if done.returncode:
        sys.exit(f"the program failed: {done.stderr}")
    return done.stdout


def read_moments(said):
    """[(time, process, {page: (file, page of it) or None}, pages of the stack)]"""
    moments = []
    for line in said.splitlines():
        words = line.split()
        if words[0] == "at":
            moments.append((int(words[1]), int(words[2]), {}, set()))
            continue
        match = LINE.match(line)
        if not match or int(match["start"], 16) >= END:
            continue
        # The first shared memory of a machine has the inode 0.
        is_file = int(match["inode"]) or match["path"].startswith("/SYSV")
        file = (match["device"], int(match["inode"])) if is_file else None
        _, _, pages, stack = moments[-1]
        first = int(match["start"], 16) // PAGE
        for i in range(int(match["end"], 16) // PAGE - first):
            if match["path"] == "[stack]":
                stack.add(first + i)
            elif file:
                pages[first + i] = (file, int(match["offset"], 16) // PAGE + i)
            else:
                pages[first + i] = None
    return moments


class Memory:
    """What events say that a process has."""

    def __init__(self):
        self.pages = {}  # as of read_moments(), with a key for the file
        self.left = {}  # by page, what a move left behind and has not told: [(what, who got it)]
        self.flags = []  # (range, flags) that change no addresses

    def take_left(self, page, what, tid):
        """Whether the thread @tid tells now what its move left behind."""
        for left in self.left.get(page, []):
            if left[0] == what and left[1] != tid:
                self.left[page].remove(left)
                return True
        return False

    def apply(self, words, problems):
        numbers = [int(word, 16) for word in words[5:]]
        if words[2] in (ALLOC, FREE):
            base, size, flags = numbers[0], numbers[1], numbers[2] >> 32
            if not flags & (RESERVE | RELEASE):
                self.flags.append((base, size // PAGE, flags))
                return
            takes, file, first = words[2] == FREE, None, 0
        else:
            base, file, first, size = numbers[0], numbers[1], numbers[2] >> 32, numbers[3]
            takes = words[2] == UNMAP
        for i in range(size // PAGE):
            page, what = base // PAGE + i, (file, first + i) if file else None
            there = self.pages.get(page, "nothing")
            if not takes:
                # What a move leaves behind is told at its end: another thread may have it by then.
                if there != "nothing":
                    self.left.setdefault(page, []).append((there, words[3]))
                self.pages[page] = what
            elif not self.take_left(page, what, words[3]):
                if there not in ("nothing", what):
                    problems.append(f"{words[2]} at {page * PAGE:x} of {what} where {there} is")
                self.pages.pop(page, None)


def process_of(words):
    """Whose memory it is."""
    return (int(words[7], 16) if words[2] in (ALLOC, FREE) else int(words[9], 16)) & 0xFFFFFFFF


def compare_moment(memory, moment, problems):
    """How many pages are the same."""
    files = {}  # by key and by file: what is gone leaves its key to another
    at_ns, pid, pages, stack = moment
    ours = {page: what for page, what in memory.pages.items() if page not in stack}
    problems += [f"process {pid} at {at_ns}: over {left[0][0]} at {page * PAGE:x}"
                 for page, left in memory.left.items() if left]
    low = min(stack, default=0)
    for page in sorted(set(ours) ^ set(pages)):
        # The stack began with more than it has touched, or is where it was not any more.
        if not low - 64 <= page < low:
            problems.append(f"process {pid} at {at_ns}: {page * PAGE:x} is "
                            f"{'told' if page in ours else 'mapped'} alone")
            break
    for page in set(ours) & set(pages):
        our, their = ours[page], pages[page]
        if (our is None) != (their is None) or (our and our[1] != their[1]):
            problems.append(f"process {pid} at {at_ns}: {page * PAGE:x} is {our}, not {their}")
            break
        if our and (files.setdefault(our[0], their[0]) != their[0] or
                    files.setdefault(their[0], our[0]) != our[0]):
            problems.append(f"{our[0]:x} is {files[our[0]]} and {their[0]}")
            break
    return len(ours)


def bytes_of(words):
    return b"".join(struct.pack("<Q", int(word, 16)) for word in words[5:])


def check_there(lines, pid, maps, statm, problems):
    """What is told at the start and at the end of a process that does nothing meanwhile."""
    moment = read_moments(f"at 0 {pid}\n{maps}")[0]
    for kinds in (START, END_TOO):
        memory = Memory()
        for words in lines:
            if words[0].isdecimal() and words[2] in kinds:
                words = [*words[:2], kinds[words[2]], *words[3:]]
                if process_of(words) == pid:
                    memory.apply(words, problems)
        compare_moment(memory, moment, problems)
    sets = {}
    for words in lines:
        if words[0].isdecimal() and words[2] == "02.125":
            data = bytes_of(words)
            for i in range(struct.unpack_from("<I", data)[0]):
                entry = struct.unpack_from("<I8Q", data, 4 + i * 68)
                sets[entry[0]] = entry[1:]
    size, resident, shared, _, _, written = (int(word) for word in statm.split()[:6])
    if sets.get(pid) != (resident, written, size, resident - shared, 0, 0, 0, 0):
        problems.append(f"process {pid} uses {statm.strip()}, and MemInfoWS has {sets.get(pid)}")
    uses = [bytes_of(words) for words in lines if words[0].isdecimal() and words[2] == "02.112"]
    pages = os.sysconf("SC_PHYS_PAGES")
    for data in uses:
        free, dirty, cached = (struct.unpack_from("<Q", data, at)[0] for at in (9, 17, 81))
        if data[0] != 8 or not 0 < free + dirty + cached <= pages:
            problems.append(f"MemInfo: {free} + {dirty} + {cached} of {pages} pages")
    if not uses:
        problems.append("no MemInfo")


def compare(arguments):
    """(problems, lost, summary)"""
    stays = subprocess.Popen(["sleep", "600"])
    try:
        # It has its program, and sleeps.
        while "(sleep) S" not in pathlib.Path(f"/proc/{stays.pid}/stat").read_text():
            time.sleep(0.01)
        return compare_beside(arguments, stays.pid)
    finally:
        stays.kill()
        stays.wait()


def compare_beside(arguments, stays):
    """The same, while the process @stays is there and does nothing."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        said, lines = watch_during(arguments.watch, MASKS,
                                   lambda: run_program(arguments, pathlib.Path(folder)))
    lost = sum(int(word) for word in lines[-1][3:5])
    problems, memories, compared = [], {}, 0
    if int(lines[-1][2]):
        problems.append(f"{lines[-1][2]} events in disorder")
    if lost:
        return problems, lost, ""
    moments = sorted(read_moments(said), key=lambda moment: moment[0])
    pids = {moment[1] for moment in moments}
    check_there(lines, stays, pathlib.Path(f"/proc/{stays}/maps").read_text(),
                pathlib.Path(f"/proc/{stays}/statm").read_text(), problems)
    events = sorted(((int(words[0]), words) for words in lines if words[0].isdecimal() and
                     words[2] in (ALLOC, FREE, MAP, UNMAP)), key=lambda event: event[0])
    events = [event for event in events if process_of(event[1]) in pids]
    left = list(moments)
    for at_ns, words in events:
        while left and left[0][0] < at_ns:
            compared += compare_moment(memories.setdefault(left[0][1], Memory()), left.pop(0),
                                       problems)
        memories.setdefault(process_of(words), Memory()).apply(words, problems)
    tells_end = tuple(map(int, re.match(r"(\d+)\.(\d+)",
                                        os.uname().release).groups())) >= (6, 16)
    if left and tells_end:
        problems.append(f"{len(left)} moments without an event behind them")
    for moment in left:
        compared += compare_moment(memories.setdefault(moment[1], Memory()), moment, problems)
    if tells_end:
        problems += [f"process {pid} ends with {len(memories[pid].pages)} pages"
                     for pid in pids if memories[pid].pages]
    for words in (line.split() for line in said.splitlines()):
        if words[0] in ("committed", "decommitted"):
            flags = COMMIT if words[0] == "committed" else DECOMMIT
            if (int(words[2], 16), int(words[3]), flags) not in memories[int(words[1])].flags:
                problems.append(f"what was {words[0]} at {words[2]} is not told")
    return problems, 0, f"{len(moments)} moments, {compared} pages, {len(events)} events"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True, help="the program watch_kernel")
    parser.add_argument("--views", required=True, help="the program make_views")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    sys.exit(until_whole(compare, arguments))


if __name__ == "__main__":
    main()
