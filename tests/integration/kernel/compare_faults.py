#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's page faults against what a program did, and against perf's own events.

    compare_faults --watch PROGRAM --faults PROGRAM

The program has faults of every type at known pages, while a thread of its own and processes beside
it map and unmap. Each page must have the one event of its type, and no other event may be there.
perf records the faults of the same program at the same time: between the two marks that the program
sets, each of perf's faults is one event with the same thread, address and code, and each event one
of perf's, but for those that no page served, of which perf tells nothing.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from compare_processes import skip
from kernel_checks import until_whole, watch_during

MASKS = "3000"  # MEMORY_PAGE_FAULTS, MEMORY_HARD_FAULTS
PAGE = 4096
SECONDS = 600
DEMAND_ZERO, HARD, VIOLATION = 11, 14, 15
KERNEL = 1 << 63
LOAD = "while :; do dd if=/dev/zero of=/dev/null bs=1M count=20; ls -l /usr/bin; done"
LINE = re.compile(r"\s*(?P<tid>\d+)\s+(?P<event>minor|major)-faults:\S*\s+"
                  r"(?P<address>[0-9a-f]+)\s+(?P<pc>[0-9a-f]+)\s*$")

Fault = collections.namedtuple("Fault", "type tid address pc")
Read = collections.namedtuple("Read", "tid address start time offset key bytes")


def run_program(arguments, folder):
    """(what the program says, perf's faults as text)"""
    data = folder / "perf.data"
    load = [subprocess.Popen(["sh", "-c", LOAD], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True) for _ in range(2)]
    try:
        # Without build ids (-B): over reading them perf crashes at times.
        done = subprocess.run(
            ["perf", "record", "-q", "-B", "-o", data, "-d", "-c", "1", "-m", "512", "-e",
             "minor-faults,major-faults", arguments.faults, folder / "file"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
    finally:
        for process in load:
            os.killpg(process.pid, 9)
            process.wait()
    if done.returncode:
        sys.exit(f"the program or perf failed: {done.stderr}")
    script = subprocess.run(["perf", "script", "-i", data, "-F", "tid,event,addr,ip"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            timeout=SECONDS, check=True)
    return done.stdout, script.stdout


def read_perf(text):
    """[(tid, address, pc, is major)] in the order of time."""
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            found.append((int(match["tid"]), int(match["address"], 16), int(match["pc"], 16),
                          match["event"] == "major"))
    return found


def read_events(lines):
    """([Fault], [Read]) in the order of time."""
    faults, reads = [], []
    for words in sorted((line for line in lines if line[0].isdecimal()),
                        key=lambda line: int(line[0])):
        group, _, opcode = words[2].partition(".")
        if group == "02" and 10 <= int(opcode) <= 15:
            faults.append(Fault(int(opcode), int(words[3]), int(words[5], 16), int(words[6], 16)))
        elif words[2] == "02.32":
            start, offset, address, key, last = (int(word, 16) for word in words[5:10])
            reads.append(Read(last & 0xFFFFFFFF, address, start, int(words[0]), offset, key,
                              last >> 32))
    return faults, reads


def page_of(address):
    return address & ~(PAGE - 1)


def cut(faults, get, marks):
    """What lies between the faults at the two marks; @get: (tid, address) of one."""
    places = [get(fault) for fault in faults]
    begin, end = (next(i for i, (tid, address) in enumerate(places)
                       if (tid, page_of(address)) == mark) for mark in marks)
    return faults[begin:end + 1]


def check_known(said, faults, reads, problems):
    """Each page that the program names."""
    for words in (line.split() for line in said.splitlines()):
        if words[0] not in ("expect", "within", "hard", "copied"):
            continue
        if words[0] == "hard":
            words = ["hard", HARD, *words[1:]]
        elif words[0] == "copied":
            words = ["copied", DEMAND_ZERO, *words[1:]]
        how, kind, tid, base, pages = words[0], int(words[1]), int(words[2]), int(words[3], 16), \
            int(words[4])
        there = [fault for fault in faults
                 if fault.tid == tid and base <= fault.address < base + pages * PAGE]
        # A page that is written later than it was read has another fault.
        first = {}
        for fault in there:
            first.setdefault(page_of(fault.address), fault)
        types = collections.Counter(fault.type for fault in first.values())
        wanted = {kind: pages}
        if how == "within":
            wanted = {kind: types[kind]}
            if not types[kind]:
                problems.append(f"{how} {kind}: no fault at all at {base:x}")
        if dict(types) != wanted:
            problems.append(f"{how} {kind} at {base:x}: {pages} pages have {dict(types)}")
        if how == "copied" and any(fault.pc < KERNEL for fault in there):
            problems.append(f"copied by user code: {there[:3]}")
        if how == "hard":
            check_reads([read for read in reads if read.tid == tid and
                         base <= read.address < base + pages * PAGE], base, pages, problems)


def check_reads(reads, base, pages, problems):
    """The hard faults at a file that is read page by page."""
    if sorted(page_of(read.address) for read in reads) != list(
            range(base, base + pages * PAGE, PAGE)):
        problems.append(f"{len(reads)} HardFault events for {pages} pages")
        return
    if len({read.key for read in reads}) != 1 or not reads[0].key:
        problems.append(f"the file has the keys {({read.key for read in reads})}")
    for read in reads:
        if read.offset != page_of(read.address) - base or read.bytes != PAGE:
            problems.append(f"{read.bytes} read at {read.offset:x} for {read.address - base:x}")
        if os.uname().machine == "x86_64" and not read.start < read.time:
            problems.append(f"a read that takes {read.time - read.start} ns")


def compare(arguments):
    """(problems, lost, summary)"""
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        (said, theirs), lines = watch_during(
            arguments.watch, MASKS, lambda: run_program(arguments, pathlib.Path(folder)))
    faults, reads = read_events(lines)
    lost = sum(int(word) for word in lines[-1][3:5])
    problems = []
    if int(lines[-1][2]):
        problems.append(f"{lines[-1][2]} events in disorder")
    if lost:
        return problems, lost, ""
    marks = [(int(words[1]), int(words[2], 16)) for words in
             (line.split() for line in said.splitlines()) if words[0] in ("begin", "end")]
    ours = [fault for fault in faults if fault.tid in {tid for tid, _ in marks}]
    children = {int(line.split()[2]) for line in said.splitlines() if line.startswith("expect")}
    check_known(said, [fault for fault in faults if fault.tid in children], reads, problems)
    ours = cut(ours, lambda fault: (fault.tid, fault.address), marks)
    perf = [fault for fault in read_perf(theirs) if fault[0] == marks[0][0]]
    perf = cut(perf, lambda fault: fault[:2], marks)
    ours_set = collections.Counter((fault.tid, fault.address, fault.pc, fault.type == HARD)
                                   for fault in ours if fault.type != VIOLATION)
    perf_set = collections.Counter(perf)
    for fault in (ours_set - perf_set):
        problems.append("only here: " + str(fault))
    for fault in (perf_set - ours_set):
        problems.append("only perf has: " + str(fault))
    types = collections.Counter(fault.type for fault in ours)
    return problems, 0, (f"{sum(ours_set.values())} faults as perf has them; by type "
                         f"{dict(sorted(types.items()))}; {len(reads)} reads")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True, help="the program watch_kernel")
    parser.add_argument("--faults", required=True, help="the program make_faults")
    parser.add_argument("--folder", default="/var/tmp", help="on a file system with a device")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    if not shutil.which("perf"):
        skip("there is no perf")
    sys.exit(until_whole(compare, arguments))


if __name__ == "__main__":
    main()
