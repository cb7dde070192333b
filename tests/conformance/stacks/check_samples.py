#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `etw stacks` sums up of genuine samples is what an independent reader counts.

    check_samples.py ETW

Samples by process, idle ones, and how many have a stack, of every genuine trace that has samples.
Exit status: 0 all hold, 1 one does not, 77 no data.
"""

import collections
import json
import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "conformance" / "kernel"))
sys.dont_write_bytecode = True

from kernel_common import TraceFile, find_data_dir  # noqa: E402 (found through the path above)
from stack_oracle import Attached  # noqa: E402

SAMPLE = 0x0F2E
DAMAGED = 3     # exit status of a file that is read with findings
THREADS = (0x0501, 0x0503, 0x0504)
IN_DPC_OR_ISR = 3


def read_sample(event):
    """Thread and flags."""
    return struct.unpack_from("<I2xB", event.payload, event.pointer)


def count(attached):
    """Idle samples, others by process, and those of them that have a stack."""
    owners = collections.defaultdict(set)
    for event in attached.events:
        if event.kind in THREADS:
            pid, tid = struct.unpack_from("<II", event.payload)
            owners[tid].add(pid)
    owners[0] = {0}
    idle, with_stack, by_process = 0, 0, collections.Counter()
    for event in attached.events:
        if event.kind != SAMPLE:
            continue
        tid, flags = read_sample(event)
        if not tid and not flags & IN_DPC_OR_ISR:
            idle += 1
            continue
        with_stack += bool(event.found and event.found.frames())
        # A thread's id that was used again is counted for nobody.
        by_process[next(iter(owners[tid])) if len(owners[tid]) == 1 else None] += 1
    return idle, with_stack, by_process


def check_file(etw, path):
    """Complaints, and how many samples there are."""
    with TraceFile(path) as trace:
        idle, with_stack, by_process = count(Attached(trace))
    total = sum(by_process.values())
    if not total:
        return [], 0
    done = subprocess.run([etw, "stacks", "--json", "--weight", "count", path],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, DAMAGED):
        return [f"etw stacks ended with {done.returncode}"], total
    stacks = json.loads(done.stdout)
    found = {one.get("pid"): one["events"] for one in stacks["processes"]}
    complaints = []
    for what, number, expected in (
            ("samples", stacks["events"], total), ("idle", stacks["idle_samples"], idle),
            ("with a stack", stacks["stacks_whole"] + stacks["stacks_kernel_only"], with_stack),
            ("weight", stacks["weight"], total)):
        if number != expected:
            complaints.append(f"{what}: {number}, not {expected}")
    unsure = by_process.pop(None, 0)
    for pid, expected in by_process.items():
        if not expected <= found.get(pid, 0) <= expected + unsure:
            complaints.append(f"process {pid}: {found.get(pid)} samples, not {expected}")
    return complaints, total


def main():
    data_dir = find_data_dir()
    failures = samples = 0
    for path in sorted(data_dir.glob("*/*.etl")):
        complaints, total = check_file(sys.argv[1], path)
        samples += total
        failures += len(complaints)
        for complaint in complaints:
            print(f"{path.name}: {complaint}")
    print(f"{samples} samples, {failures} complaints")
    return 1 if failures or not samples else 0


if __name__ == "__main__":
    sys.exit(main())
