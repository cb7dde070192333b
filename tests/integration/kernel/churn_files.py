#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory stays flat while files come and go, and every operation is told or counted as lost.

    churn_files --etw PROGRAM --etwd PROGRAM --churn PROGRAM [--seconds N] [--rate N]

churn_files makes, writes, renames, links and deletes files in many folders, and is recorded
meanwhile. Of the host are sampled: what it has in memory of its own and altogether, its open
descriptors, and the memory of the BPF maps that it has open. The first third of the time is to
fill the tables of names; from the second to the last third nothing may grow by more than a slack.
At the end the trace has as many events of each kind as the program says it did, and as many bytes;
what is missing must have been counted as lost.
Exit status: 0; 1 with what does not hold; 77 with the reason why it cannot run.
"""

import argparse
import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from kernel_checks import SKIPPED, Checks

KINDS = "PROC_THREAD+FILENAME+FILE_IO+FILE_IO_INIT"
SAMPLES = 120
OTHERS = 40
PAGE = 4096
BEHIND_SECONDS = 1200  # for the file's end, and for a machine that stalls
LOST = re.compile(r"^lost: (\d+) events, (\d+) buffers", re.MULTILINE)
OPERATION = re.compile(r'"task_name":"FileIo","opcode_name":"(\w+)".*?"fields":\{(.*)\}')
SIZE = re.compile(r'"IoSize":"?(\d+)')
THREAD = re.compile(r'"TTID":"?(\d+)')
STATUS_KEYS = ("RssAnon", "VmRSS")
SLACK_KB = {"RssAnon": 6 << 10, "VmRSS": 24 << 10, "maps": 4 << 10, "descriptors": 4}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def hosts_of(folder):
    """Process ids of what runs with the folder as its runtime folder, and is no recorder."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (path / "comm").read_text() == "etwd\n" and \
                    f"ETW_RUNTIME_DIR={folder}\0".encode() in (path / "environ").read_bytes():
                yield path
        except OSError:
            pass  # gone


def kilobytes_of_maps(process):
    """Of every BPF map that it has open, once."""
    maps = {}
    for path in (process / "fdinfo").iterdir():
        try:
            about = dict(line.split(":", 1) for line in path.read_text().splitlines()
                         if ":" in line)
        except OSError:
            continue
        if "map_id" in about:
            maps[about["map_id"]] = int(about["memlock"]) // 1024
    return sum(maps.values())


def sample(folder):
    """What all hosts have together; None: there is none."""
    found = collections.Counter()
    for process in hosts_of(folder):
        try:
            status = dict(line.split(":", 1)
                          for line in (process / "status").read_text().splitlines())
            for key in STATUS_KEYS:
                found[key] += int(status[key].split()[0])
            found["maps"] += kilobytes_of_maps(process)
            found["descriptors"] += len(list((process / "fd").iterdir()))
        except (OSError, KeyError):
            continue
    return found if found["VmRSS"] else None


def record(arguments, folder):
    """(what etw record printed, what the program printed, samples)"""
    (folder / "work").mkdir()
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder), ETW_ETWD=arguments.etwd)
    shell = f'exec "$0" "$@" >"{folder}/out"'
    samples = []
    with open(folder / "said", "w+", encoding="utf-8") as said, subprocess.Popen(
            [arguments.etw, "record", "--kernel", KINDS, "--stacks", "none", "--only-command",
             "--buffer-size", "512", "--buffers", "32", "-o", folder / "churn.etl", "--",
             "sh", "-c", shell, arguments.churn, folder / "work", str(arguments.seconds),
             str(arguments.rate)],
            env=environment, stdout=said, stderr=said, stdin=subprocess.DEVNULL) as recorder:
        end = time.monotonic() + arguments.seconds
        while recorder.poll() is None and time.monotonic() < end:
            time.sleep(arguments.seconds / SAMPLES)
            found = sample(folder)
            if found and (folder / "out").exists():
                samples.append(found)
        try:
            recorder.wait(BEHIND_SECONDS)
        except subprocess.TimeoutExpired:
            recorder.kill()
        said.seek(0)
        text = said.read()
    if not (folder / "out").exists():
        skip(f"etw record: {text.strip()}")
    if recorder.returncode:
        sys.exit(f"etw record ended with {recorder.returncode}: {text}")
    return text, (folder / "out").read_text(), samples


def count_events(arguments, folder, tid):
    """{kind: events of the thread, and "bytes": what it wrote, names: of all}"""
    counts = collections.Counter()
    with subprocess.Popen([arguments.etw, "dump", "--json", folder / "churn.etl"],
                          stdout=subprocess.PIPE, text=True, errors="replace") as dump:
        for line in dump.stdout:
            match = OPERATION.search(line)
            if not match:
                continue
            kind, fields = match.groups()
            thread = THREAD.search(fields)
            if thread and int(thread[1]) != tid:
                continue
            counts[kind] += 1
            if kind == "Write":
                counts["bytes"] += int(SIZE.search(fields)[1])
    if dump.returncode:
        sys.exit(f"etw dump ended with {dump.returncode}")
    return counts


def check_account(checks, did, told, lost):
    """What its loader opens, and what it prints at the end, are no part of the account."""
    for kind in ("RenamePath", "SetLinkPath", "DeletePath"):
        checks.within(f"{kind} in the trace", told[kind], did[kind] - lost, did[kind])
    for kind in ("Write", "Create", "Cleanup", "Read"):
        checks.within(f"{kind} in the trace", told[kind], did[kind] - lost, did[kind] + OTHERS)
    checks.within("bytes in the trace", told["bytes"], did["bytes"] - lost * PAGE,
                  did["bytes"] + PAGE)
    for kind in ("FileCreate", "FileDelete"):
        checks.within(f"{kind} in the trace", told[kind], did["files"] - lost, did["files"] + 8)


def check_memory(checks, samples):
    third = len(samples) // 3
    for key, slack in SLACK_KB.items():
        values = [found[key] for found in samples]
        middle = statistics.median(values[third:2 * third])
        last = statistics.median(values[2 * third:])
        print(f"{key}: {values[0]} at first, {middle:.0f} in the middle, {last:.0f} in the end, "
              f"{max(values)} at most")
        checks.within(f"growth of {key}", last - middle, -(1 << 30), slack)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw", required=True)
    parser.add_argument("--etwd", required=True)
    parser.add_argument("--churn", required=True)
    parser.add_argument("--seconds", type=int, default=9)
    parser.add_argument("--rate", type=int, default=600)
    arguments = parser.parse_args()
    if os.geteuid():
        skip("needs root")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(os.path.realpath(folder))
        text, out, samples = record(arguments, folder)
        if "not all can be recorded" in text:
            skip(text.strip().splitlines()[0])
        did = {kind: int(count) for kind, count in (line.split() for line in out.splitlines())}
        lost = LOST.search(text)
        lost = sum(map(int, lost.groups())) if lost else 0
        told = count_events(arguments, folder, did["tid"])
        size = (folder / "churn.etl").stat().st_size
    print(f"{did['files']} files, {lost} lost, {len(samples)} samples, {size >> 20} MiB")
    check_account(checks, did, told, lost)
    checks.within("samples", len(samples), 6, SAMPLES)
    if len(samples) >= 6:
        check_memory(checks, samples)
    checks.finish()


if __name__ == "__main__":
    main()
