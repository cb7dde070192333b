#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold samples by another source than the clock against perf's, taken at the same time.

    compare_sources --etw PROGRAM --etwd PROGRAM --touch PROGRAM

A program touches a known number of pages while both sample the whole machine by page faults.

- Where each fault is a sample, both have as many of the program's as it touched pages, and no more
  than 5 % above that, which are those of its start. They differ by 1 % at most: neither has what
  happens while the kernel holds programs of perf back.
- Where each hundredth is, there is one sample of the program for 100 of its faults, to 20 %: other
  programs' faults count in between.
- Every sample has its stack, and names its source; the trace says the interval, and its source.
- A source that the machine lacks is refused, by name.

Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from compare_processes import skip
from kernel_checks import Checks
from perf_data import count_gaps, read_samples, start_perf, stop_perf

PAGES = 40_000
PAGE_FAULTS = 0x1002
COUNTER = "LLCMisses"  # which virtual machines lack
SECONDS = 600
TRIES = 5


def start_host_folder(folder):
    """The environment of a host of this test's own."""
    runtime = pathlib.Path(folder) / "run"
    runtime.mkdir(mode=0o700)
    return {**os.environ, "ETW_RUNTIME_DIR": str(runtime), "ETWD_IDLE_MS": "500"}


def record(etw, environment, path, source, command):
    """What etw record says; its status and its output."""
    done = subprocess.run([etw, "record", "--quiet", "--force", "--kernel", "process,thread",
                           "--stacks", "PmcInterrupt", "--profile-source", source, "-o", path,
                           "--", *command], env=environment, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def read_trace(etw, path):
    """Samples by thread, stacks by thread, the sources of samples, intervals, how much was lost."""
    samples, stacks = collections.Counter(), collections.Counter()
    sources, intervals = set(), []
    with subprocess.Popen([etw, "dump", "--json", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as dump:
        for line in dump.stdout:
            event = json.loads(line)
            key, fields = (event["task_name"], event["opcode"]), event.get("fields", {})
            if key == ("PerfInfo", 47):
                samples[fields["ThreadId"]] += 1
                sources.add(fields["ProfileSource"])
            elif key == ("PerfInfo", 73):
                intervals.append((fields["Source"], fields["NewInterval"], fields["SourceName"]))
            elif key == ("StackWalk", 32):
                stacks[fields["StackThread"]] += 1
    info = json.loads(subprocess.run([etw, "info", "--json", path], capture_output=True, text=True,
                                     timeout=SECONDS, check=True).stdout)
    return samples, stacks, sources, intervals, info["header"]["events_lost"]


def compare(arguments, environment, folder, interval):
    """(ours of the program, its stacks, perf's, sources, intervals, how much either has lost)"""
    trace, data = str(folder / "a.etl"), str(folder / "perf.data")
    perf = start_perf(data, interval, "page-faults")
    status, text, complaint = record(arguments.etw, environment, trace, f"PageFaults:{interval}",
                                     [arguments.touch, str(PAGES)])
    stop_perf(perf)
    if status:
        if "CAP_" in complaint or "may not" in complaint or "not allowed" in complaint:
            skip(complaint.strip())
        sys.exit(f"etw record: {complaint}")
    pid = int(text.split("touched ")[1].split()[0])
    samples, stacks, sources, intervals, lost = read_trace(arguments.etw, trace)
    theirs = sum(process == pid for _, process in read_samples(data))
    gaps = count_gaps(data)
    if gaps:
        print(f"perf says {gaps} times that it lost samples")
    return samples[pid], stacks[pid], theirs, sources, intervals, lost + gaps


def compare_whole(arguments, environment, folder, interval):
    """As compare(), once neither has lost anything: a busy machine may take more than one try."""
    for _ in range(TRIES):
        *compared, lost = compare(arguments, environment, folder, interval)
        if not lost:
            return compared
        print(f"{lost} lost, once more")
    skip("this machine is too slow to compare without loss")
    return None


def check_every_fault(checks, arguments, environment, folder):
    ours, stacks, theirs, sources, intervals = compare_whole(arguments, environment, folder, 1)
    print(f"{PAGES} pages: {ours} samples, {theirs} of perf's, {stacks} stacks")
    checks.within("samples of faults", ours, PAGES, PAGES + PAGES // 20)
    checks.within("perf's samples less ours", theirs - ours, -(PAGES // 100), PAGES // 100)
    checks.equal("stacks of the samples", stacks, ours)
    checks.equal("sources", sources, {PAGE_FAULTS})
    checks.equal("intervals", intervals, [(PAGE_FAULTS, 1, "PageFaults")])


def check_each_hundredth(checks, arguments, environment, folder):
    ours, _, theirs, _, intervals = compare_whole(arguments, environment, folder, 100)
    print(f"{PAGES} pages, each 100th: {ours} samples, {theirs} of perf's")
    checks.within("samples of each 100th fault", ours, PAGES // 125, PAGES // 80)
    checks.within("samples less perf's", ours - theirs, -(PAGES // 500), PAGES // 500)
    checks.equal("intervals", intervals, [(PAGE_FAULTS, 100, "PageFaults")])


def check_refusal(checks, arguments, environment, folder):
    probe = subprocess.run([arguments.etwd, "--probe"], capture_output=True, text=True, check=False,
                           timeout=SECONDS).stdout
    line = next(line for line in probe.splitlines() if line.startswith("has\tprofile sources\t"))
    checks.equal("PageFaults is listed", "PageFaults" in line, True)
    if COUNTER in line:
        print(f"this machine has {COUNTER}: not refused")
        return
    status, _, complaint = record(arguments.etw, environment, str(folder / "b.etl"), COUNTER,
                                  ["/bin/true"])
    checks.equal(f"{COUNTER} is refused", status != 0 and COUNTER in complaint, True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--watch", help="is not used")
    for option in ("--etw", "--etwd", "--touch"):
        parser.add_argument(option, required=True)
    arguments = parser.parse_args()
    if os.geteuid():
        skip("root records the kernel")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="etw-sources-") as name:
        folder = pathlib.Path(name)
        environment = start_host_folder(folder)
        check_every_fault(checks, arguments, environment, folder)
        check_each_hundredth(checks, arguments, environment, folder)
        check_refusal(checks, arguments, environment, folder)
    checks.finish()


if __name__ == "__main__":
    main()
