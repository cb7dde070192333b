#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""System calls of 32-bit programs, as tracepoints have them.

    compat_calls --etw PROGRAM --calls PROGRAM

A program makes calls as 32-bit programs do. Those of its thread that the trace has in the system
raw_syscalls are, number by number, those that ftrace has; and the system syscalls, whose
tracepoints are of the 64-bit table, has none of them, as in ftrace.

Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
TRACING = pathlib.Path("/sys/kernel/tracing")
# Call 20 is getpid of the 32-bit table, and writev of the other one.
KINDS = ("raw_syscalls/sys_enter", "syscalls/sys_enter_getpid", "syscalls/sys_enter_writev")
CALL, COUNT = 20, 100
GETPID = 39  # of the 64-bit table
LINE = re.compile(r"-(\d+)\s+\[\d+\].* [\d.]+: (?:sys_enter: NR (\d+) |sys_(getpid|writev)\()")


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


class Instance:
    """An instance of ftrace of its own, which follows no process before it is told to."""

    def __init__(self):
        self.path = TRACING / "instances" / f"etw-compat-{os.getpid()}"

    def __enter__(self):
        self.path.mkdir()
        for kind in KINDS:
            (self.path / "events" / kind / "enable").write_text("1")
        return self

    def __exit__(self, *unused):
        for kind in KINDS:
            (self.path / "events" / kind / "enable").write_text("0")
        self.path.rmdir()

    def calls(self, pid):
        """Return [number or name] of a thread."""
        lines = (self.path / "trace").read_text(errors="replace").splitlines()
        found = [LINE.search(line) for line in lines]
        return [int(match[2]) if match[2] else match[3]
                for match in found if match and int(match[1]) == pid]


def record(etw, file, calls, instance):
    """Return the pid of the command, which ftrace follows, too."""
    providers = [word for kind in KINDS
                 for word in ("--provider", f"linux:{kind.replace('/', ':')}")]
    script = f'echo $$ > {instance.path}/set_event_pid && exec "$@"'
    done = subprocess.run([etw, "record", "--force", "--quiet", "-o", file, *providers, "--", "sh",
                           "-c", script, "sh", calls, str(CALL), str(COUNT)],
                          check=False, capture_output=True, text=True)
    if done.returncode == SKIPPED:
        skip("the kernel makes no calls of 32-bit programs")
    if done.returncode:
        sys.exit(f"etw record failed: {done.stderr[-600:]}")
    if "lost: 0 events" not in done.stdout:
        sys.exit(f"events were lost: {done.stdout[-600:]}")
    return int(done.stdout.split()[0])


def read(etw, file, pid):
    """Return [number or name] of a thread."""
    done = subprocess.run([etw, "dump", "--json", "--provider", "linux:*", "--pid", str(pid), file],
                          check=True, capture_output=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event["fields"]["id"] if event["task_name"] == "sys_enter"
            else event["task_name"].removeprefix("sys_enter_") for event in events]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etw", required=True)
    parser.add_argument("--calls", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("tracepoints are recorded by root")
    if platform.machine() != "x86_64":
        skip("calls of 32-bit programs are made on x86-64 alone")
    if not (TRACING / "events" / KINDS[1]).is_dir():
        skip("tracefs is not mounted, or has no tracepoints of single calls")
    with tempfile.TemporaryDirectory() as folder, Instance() as instance:
        os.environ["ETW_RUNTIME_DIR"] = folder
        file = pathlib.Path(folder) / "compat.etl"
        pid = record(arguments.etw, file, arguments.calls, instance)
        ours, theirs = read(arguments.etw, file, pid), instance.calls(pid)
    # ftrace follows the shell from within; it ends with what the program did last.
    problems = []
    # Which of the two tracepoints of one call fires first is the order in which they were enabled.
    for kind in (int, str):
        our, their = ([call for call in calls if isinstance(call, kind)]
                      for calls in (ours, theirs))
        if our[-len(their):] != their:
            problems.append(f"the trace ends with {our[-len(their):]}, ftrace has {their}")
    if theirs.count(CALL) < COUNT:
        problems.append(f"ftrace has {theirs.count(CALL)} calls of the program")
    # Those that the program makes as 64-bit programs do are there.
    single = [call for call in ours if isinstance(call, str)]
    if single != ["getpid"] * ours.count(GETPID):
        problems.append(f"the tracepoints of single calls are {single}, of "
                        f"{ours.count(GETPID)} calls by number {GETPID}")
    print(f"{ours.count(CALL)} calls by number {CALL}, {len(theirs)} in all are those of ftrace")
    if problems:
        print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
