#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill the host of a recording of tracepoints: what is missing is what the trace says.

    survive_host --etw PROGRAM

Processes are made all the time, and the host is killed in the midst. Of those that ftrace saw
meanwhile, those that the trace lacks were made within the time that a note of the trace says is
missing; all before and behind are there.

Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
TRACING = pathlib.Path("/sys/kernel/tracing")
EVENT = pathlib.Path("events/sched/sched_process_fork/enable")
LOAD = "import subprocess\nwhile True:\n subprocess.run(['/bin/true'], check=True)"
LINE = re.compile(r" ([\d.]+): sched_process_fork: .*child_pid=(\d+)")
NOTE = re.compile(r"the host of the session died .*: tracepoints of the last (\d+) ms are missing")
SECONDS = 60


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


class Instance:
    """An instance of ftrace of its own, by CLOCK_MONOTONIC."""

    def __init__(self):
        self.path = TRACING / "instances" / f"etw-host-{os.getpid()}"

    def __enter__(self):
        self.path.mkdir()
        (self.path / "buffer_size_kb").write_text("8192")
        (self.path / "trace_clock").write_text("mono")
        (self.path / EVENT).write_text("1")
        return self

    def __exit__(self, *unused):
        (self.path / EVENT).write_text("0")
        self.path.rmdir()

    def forks(self):
        """Return [(time, child)], in order of time."""
        lines = (self.path / "trace").read_text(errors="replace").splitlines()
        found = [LINE.search(line) for line in lines]
        return sorted((float(match[1]), int(match[2])) for match in found if match)


def wait_for(found, what):
    end = time.monotonic() + SECONDS
    while not found():
        if time.monotonic() > end:
            sys.exit(f"{what} did not come")
        time.sleep(0.05)


def host_of(folder):
    """Return the pid of the host, 0 when there is none."""
    try:
        page = (folder / "epoch").read_bytes()
    except OSError:
        return 0
    epoch, host = struct.unpack_from("=I", page, 8)[0], struct.unpack_from("=I", page, 20)[0]
    return host if epoch & 1 else 0


def runs_command(recorder):
    """Whether `sleep` runs, which it does when everything is recorded."""
    children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text()
    for child in children.split():
        try:
            if pathlib.Path(f"/proc/{child}/comm").read_text() == "sleep\n":
                return True
        except OSError:
            pass
    return False


def record(etw, folder, file, instance):
    """Record, and kill the host in the midst.

    Return when the recording had begun, when it was not yet to end, and what was printed.
    """
    recorder = subprocess.Popen([etw, "record", "--force", "--quiet", "-o", file, "--provider",
                                 "linux:sched:sched_process_fork", "--", "sleep", "1000"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait_for(lambda: host_of(folder), "a host")
        wait_for(lambda: runs_command(recorder), "the command")
        begin = time.monotonic()
        time.sleep(2)
        first = host_of(folder)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: host_of(folder) not in (0, first), "another host")
        time.sleep(1)
        behind = len(instance.forks()) + 100
        wait_for(lambda: len(instance.forks()) > behind, "100 further processes")
        end = time.monotonic()
        recorder.send_signal(signal.SIGINT)
        output = recorder.communicate(timeout=SECONDS)[0]
    finally:
        recorder.kill()
    return begin, end, output.decode(errors="replace")


def read(etw, file):
    """Return the children that the trace has."""
    done = subprocess.run([etw, "dump", "--json", "--filter", 'provider = "linux:sched"', file],
                          check=True, capture_output=True, text=True)
    return {json.loads(line)["fields"]["child_pid"] for line in done.stdout.splitlines()}


def told_ms(etw, file):
    """Return how much a note says is missing; 0: there is none."""
    done = subprocess.run([etw, "info", file], check=False, capture_output=True, text=True)
    match = NOTE.search(done.stdout)
    return int(match[1]) if match else 0


def check(forks, children, told):
    """Return what is wrong."""
    missing = [moment for moment, child in forks if child not in children]
    print(f"{len(forks)} processes, {len(forks) - len(missing)} of them in the trace; "
          f"{told} ms are told to be missing")
    if not told:
        return ["no note says that events are missing"]
    if missing and (missing[-1] - missing[0]) * 1000 > told:
        return [f"{len(missing)} processes are missing over {missing[-1] - missing[0]:.3f} s"]
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etw", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("tracepoints are recorded by root")
    if not (TRACING / "instances").is_dir():
        skip("tracefs is not mounted, or has no instances")
    with tempfile.TemporaryDirectory() as name, Instance() as instance, \
            subprocess.Popen([sys.executable, "-c", LOAD]) as load:
        folder = pathlib.Path(name)
        os.environ["ETW_RUNTIME_DIR"] = name
        try:
            begin, end, output = record(arguments.etw, folder, folder / "host.etl", instance)
        finally:
            load.kill()
        forks = [fork for fork in instance.forks() if begin < fork[0] < end]
        problems = check(forks, read(arguments.etw, folder / "host.etl"),
                         told_ms(arguments.etw, folder / "host.etl"))
    if problems:
        print(*problems, output, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
