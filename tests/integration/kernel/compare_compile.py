#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record a compile with every class on; what the file says of each process is what is counted.

    compare_compile --etw PROGRAM --etwd PROGRAM [--sources N]

The sums are computed from the file by the walker, and not by etw:

    processor   between context switches, of each compiler with its children: as wait4() gives it
    files       bytes of OperationEnd behind Read and Write, likewise: rchar and wchar of
                /proc/PID/io
    disk        bytes of DiskIo, by whoever asked: read_bytes of /proc/PID/io; and all of one disk:
                /sys/block/DISK/stat
    network     bytes of TcpIp and UdpIp, by process: as both ends count them

The bytes of disks and the network are exact.
Exit status: 0; 1 with what is wrong; 77 with the reason why it cannot run.
"""

import argparse
import bisect
import collections
import contextlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from build_sources import disk_counts
from kernel_checks import SECONDS, SKIPPED, TRIES, Checks

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "walker"))

from layout import TYPE_HEADER  # pylint: disable=wrong-import-position
from tracefile import TraceFile  # pylint: disable=wrong-import-position

KINDS = ("proc_thread+loader+cswitch+dispatcher+profile+syscall+interrupt+dpc+priority+"
         "diskio+fileio+network+memory")
DISK_BYTES = 192 << 20
# The kernel reads of each program that is taken, which is no system call: its first bytes, and
# those of its interpreter.
READ_BY_EXEC = 64 << 10
CPU_SHARE, CPU_SLACK_S = 0.07, 0.05  # between two looks at the scheduler's clock
FILE_SHARE = 0.02
# Hooks, and the payloads in front of what is of no interest here.
PROCESS_START, THREAD_START, THREAD_RUNDOWN, SWITCH = 0x0301, 0x0501, 0x0503, 0x0524
FILE_READ, FILE_WRITE, FILE_END = 0x0443, 0x0444, 0x044C
DISK_READ, DISK_WRITE = 0x010A, 0x010B
SENT = {0x060A, 0x061A, 0x080A, 0x081A}
RECEIVED = {0x060B, 0x061B, 0x080B, 0x081B}
TWO_IDS = struct.Struct("<II")
FILE_REQUEST, FILE_ENDED = struct.Struct("<QQQQII"), struct.Struct("<QQI")
PROCESS, DISK = struct.Struct("<QII"), struct.Struct("<IIIIQQQQI")
WANTED = {PROCESS_START, THREAD_START, THREAD_RUNDOWN, SWITCH, FILE_READ, FILE_WRITE, FILE_END,
          DISK_READ, DISK_WRITE} | SENT | RECEIVED
FAILED = 0x80000000


class Sums:
    """What a file says of each process."""

    def __init__(self, path):
        self.threads = collections.defaultdict(list)  # id: [(time, process)], in order
        self.parents = {}
        self.cpu_raw = collections.Counter()
        self.file_bytes = {FILE_READ: collections.Counter(), FILE_WRITE: collections.Counter()}
        self.disk_bytes = {DISK_READ: collections.Counter(), DISK_WRITE: collections.Counter()}
        self.by_disk = {DISK_READ: collections.Counter(), DISK_WRITE: collections.Counter()}
        self.sent, self.received = collections.Counter(), collections.Counter()
        with TraceFile(str(path)) as trace:
            self.frequency = trace.logfile.perf_freq
            events = sorted(self.read(trace), key=lambda event: event[0])
        for time, hook, payload, _ in events:
            if hook in (THREAD_START, THREAD_RUNDOWN):
                pid, tid = TWO_IDS.unpack_from(payload)
                self.threads[tid].append((time, pid))
        self.add_all(events)

    @staticmethod
    def read(trace):
        for buffer in trace.buffers():
            if buffer.header.type == TYPE_HEADER:
                continue
            cpu = buffer.header.cpu
            for event in buffer.events():
                if event.hook in WANTED:
                    payload = buffer.body[event.payload_pos:event.pos + event.size]
                    yield event.ts, event.hook, payload, cpu

    def process_of(self, tid, time):
        """The process of a thread; 0 where nothing tells it."""
        known = self.threads.get(tid)
        if not known:
            return 0
        at = bisect.bisect_right(known, (time, 1 << 32))
        return known[max(at - 1, 0)][1]

    def add_all(self, events):
        running, requests = {}, {}
        for time, hook, payload, cpu in events:
            if hook == PROCESS_START:
                _, pid, parent = PROCESS.unpack_from(payload)
                self.parents[pid] = parent
            elif hook == SWITCH:
                new, old = TWO_IDS.unpack_from(payload)
                tid, since = running.get(cpu, (None, 0))
                if tid == old:
                    self.cpu_raw[self.process_of(old, time)] += time - since
                running[cpu] = new, time
            elif hook in self.file_bytes:
                _, irp, _, _, tid, _ = FILE_REQUEST.unpack_from(payload)
                requests[irp] = hook, self.process_of(tid, time)
            elif hook == FILE_END:
                irp, moved, status = FILE_ENDED.unpack_from(payload)
                begun = requests.pop(irp, None)
                if begun and status < FAILED:
                    self.file_bytes[begun[0]][begun[1]] += moved
            elif hook in self.disk_bytes:
                disk, _, count, _, _, _, _, _, tid = DISK.unpack_from(payload)
                self.disk_bytes[hook][self.process_of(tid, time)] += count
                self.by_disk[hook][disk] += count
            elif hook in SENT | RECEIVED:
                pid, count = TWO_IDS.unpack_from(payload)
                (self.sent if hook in SENT else self.received)[pid] += count

    def of_tree(self, root, counter):
        """The sum of a process and of all that descend from it."""
        inside = {root}
        while more := {pid for pid, parent in self.parents.items()
                       if parent in inside and pid not in inside}:
            inside |= more
        return sum(counter[pid] for pid in inside)


@contextlib.contextmanager
def own_disk(folder):
    """A file system on a disk of its own: (folder, name of the disk or None where none can be)."""
    image, place = folder / "image", folder / "disk"
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(DISK_BYTES)
    made = subprocess.run(["mkfs.ext4", "-q", image], capture_output=True, check=False)
    loop = subprocess.run(["losetup", "--show", "-f", image], capture_output=True, text=True,
                          check=False) if not made.returncode else made
    if loop.returncode:
        yield place, None
        return
    device = loop.stdout.strip()
    try:
        subprocess.run(["mount", device, place], check=True)
        try:
            yield place, pathlib.Path(device).name
        finally:
            subprocess.run(["umount", place], check=True)
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


def write_sources(folder, count):
    for number in range(count):
        lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>"]
        lines += [f"int f{i}(int x) {{ return x * {i} + (int)strlen(getenv(\"HOME\")); }}"
                  for i in range(300)]
        (folder / f"source{number}.c").write_text("\n".join(lines) + "\n")


def forget_pages(device, place):
    """What was written is read from the disk again."""
    subprocess.run(["umount", place], check=True)
    subprocess.run(["mount", f"/dev/{device}", place], check=True)


def record(arguments, folder, place, device):
    trace, result = folder / "compile.etl", folder / "result.json"
    (folder / "run").mkdir(exist_ok=True)
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"), ETW_ETWD=arguments.etwd)
    done = subprocess.run([arguments.etw, "record", "--kernel", KINDS, "-o", trace, "--",
                           sys.executable, HERE / "build_sources.py", place, result,
                           *([device] if device else [])],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS,
                          check=False)
    if not trace.exists() or not result.exists():
        print(f"skipped: no kernel events can be recorded here: {done.stdout.strip()}")
        sys.exit(SKIPPED)
    return trace, json.loads(result.read_text()), done.stdout


def lost_in(arguments, trace):
    """What the header counts as lost; the causes must add up to it."""
    text = subprocess.run([arguments.etw, "info", "--json", trace], capture_output=True, text=True,
                          timeout=SECONDS, check=True).stdout
    info = json.loads(text)
    by_cause = sum(loss["events"] for loss in info.get("loss_by_cause", ()) if loss["is_lost"])
    return info["header"]["events_lost"], by_cause


def compare_compilers(checks, sums, compiled):
    for counts in compiled:
        root = counts["pid"]
        name = f"compiler {root}"
        cpu_s = sums.of_tree(root, sums.cpu_raw) / sums.frequency
        read = sums.of_tree(root, sums.file_bytes[FILE_READ])
        written = sums.of_tree(root, sums.file_bytes[FILE_WRITE])
        from_disk = sums.of_tree(root, sums.disk_bytes[DISK_READ])
        print(f"{name}: {cpu_s:.3f} s ({counts['cpu_s']:.3f}), read {read} ({counts['rchar']}), "
              f"written {written} ({counts['wchar']}), "
              f"from disk {from_disk} ({counts['read_bytes']})")
        checks.equal(f"{name}: exit status", counts["status"], 0)
        slack = counts["cpu_s"] * CPU_SHARE + CPU_SLACK_S
        checks.within(f"{name}: processor time", cpu_s, counts["cpu_s"] - slack,
                      counts["cpu_s"] + slack)
        checks.within(f"{name}: bytes read of files", read,
                      counts["rchar"] * (1 - FILE_SHARE) - READ_BY_EXEC, counts["rchar"])
        checks.within(f"{name}: bytes written to files", written,
                      counts["wchar"] * (1 - FILE_SHARE), counts["wchar"])
        checks.equal(f"{name}: bytes read from disks", from_disk, counts["read_bytes"])


def compare_talk(checks, sums, talk):
    received, sent = talk
    for what, end, counter in (("received", received, sums.received), ("sent", sent, sums.sent)):
        total = end["stream"] + end["datagrams"]
        print(f"{what}: {counter[end['pid']]} ({total})")
        checks.equal(f"bytes {what} by process {end['pid']}", counter[end["pid"]], total)
    checks.equal("bytes sent and received", sum(received[key] for key in ("stream", "datagrams")),
                 sum(sent[key] for key in ("stream", "datagrams")))


def compare_disk(checks, sums, least, most):
    """Others may look at a new disk while the recording begins."""
    for hook, low, high, what in ((DISK_READ, least[0], most[0], "read"),
                                  (DISK_WRITE, least[1], most[1], "written")):
        told = sums.by_disk[hook]
        print(f"of the disk {what}: {dict(told)} ({low} to {high})")
        checks.within(f"a disk has the {low} to {high} bytes that were {what}; it",
                      sum(low <= count <= high for count in told.values()), 1, len(told))


def try_once(arguments):
    """Returns whether nothing was lost, and what was found."""
    checks = Checks()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        with own_disk(folder) as (place, device):
            write_sources(place, arguments.sources)
            before = after = (0, 0)
            if device:
                forget_pages(device, place)
                before = disk_counts(device)
            trace, result, text = record(arguments, folder, place, device)
            if device:
                after = disk_counts(device)
            lost, by_cause = lost_in(arguments, trace)
            checks.equal("losses by cause", by_cause, lost)
            if lost:
                print(text)
                return False, checks
            sums = Sums(trace)
            compare_compilers(checks, sums, result["compiled"])
            compare_talk(checks, sums, result["talk"])
            if device:
                compare_disk(checks, sums, result["disk"],
                             (after[0] - before[0], after[1] - before[1]))
            else:
                print("no disk of its own can be made here")
    return True, checks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", help="not used: what all tests of the kernel are given")
    parser.add_argument("--etw", required=True)
    parser.add_argument("--etwd", required=True)
    parser.add_argument("--sources", type=int, default=2)
    arguments = parser.parse_args()
    for _ in range(TRIES):
        is_whole, checks = try_once(arguments)
        if is_whole:
            checks.finish()
        if checks.wrong:
            checks.finish()
        print("events were lost, once more")
    print("skipped: this machine is too slow to compare without loss")
    sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
