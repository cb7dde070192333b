#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracepoints of one process tree alone.

    only_command --etw PROGRAM

A command makes processes and threads while others do, too. `etw record --only-command` has of each
of its threads what ftrace, which records the whole machine, has of them, and nothing of others.

Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
TRACING = pathlib.Path("/sys/kernel/tracing")
KINDS = ("sched_process_exec", "sched_process_exit", "sched_process_fork")
COMMAND = r"""
import os, subprocess, threading
print(os.getpid(), flush=True)
for i in range(10):
    threads = [threading.Thread(target=os.getppid) for _ in range(3)]
    for thread in threads:
        thread.start()
    subprocess.run(["/bin/sh", "-c", "/bin/true; exec /bin/true"], check=True)
    for thread in threads:
        thread.join()
"""
LOAD = "import subprocess\nwhile True:\n subprocess.run(['/bin/true'], check=True)"
LINE = re.compile(r"^.*-(\d+)\s+\[\d+\].* ([\d.]+): (\w+): (.*)$")


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


class Instance:
    """An instance of ftrace of its own, with the tracepoints on."""

    def __init__(self):
        self.path = TRACING / "instances" / f"etw-only-{os.getpid()}"

    def __enter__(self):
        self.path.mkdir()
        (self.path / "buffer_size_kb").write_text("8192")
        for kind in KINDS:
            (self.path / "events" / "sched" / kind / "enable").write_text("1")
        return self

    def __exit__(self, *unused):
        for kind in KINDS:
            (self.path / "events" / "sched" / kind / "enable").write_text("0")
        self.path.rmdir()

    def events(self):
        """Return [(time, thread, kind, child or None)]."""
        found = []
        for line in (self.path / "trace").read_text(errors="replace").splitlines():
            match = LINE.match(line)
            if match and match[3] in KINDS:
                child = re.search(r"child_pid=(\d+)", match[4])
                found.append((float(match[2]), int(match[1]), match[3],
                              int(child[1]) if child else None))
        return sorted(found, key=lambda event: event[0])


def of_tree(events, root):
    """Count (thread, kind, child) of the threads that descend from the first one."""
    tree, counts = {root}, collections.Counter()
    for _, thread, kind, child in events:
        if thread in tree:
            counts[thread, kind, child] += 1
            if child:
                tree.add(child)
    return counts


def record(etw, file):
    """Return the pid of the command."""
    providers = [word for kind in KINDS for word in ("--provider", f"linux:sched:{kind}")]
    done = subprocess.run([etw, "record", "--force", "--quiet", "-o", file, "--only-command",
                           *providers, "--", sys.executable, "-c", COMMAND],
                          check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"etw record failed: {done.stderr[-600:]}")
    if "lost: 0 events" not in done.stdout:
        sys.exit(f"events were lost: {done.stdout[-600:]}")
    return int(done.stdout.split()[0])


def read(etw, file):
    """Count (thread, kind, child) of the trace."""
    done = subprocess.run([etw, "dump", "--json", "--filter", 'provider = "linux:sched"', file],
                          check=True, capture_output=True, text=True)
    counts = collections.Counter()
    for line in done.stdout.splitlines():
        event = json.loads(line)
        child = event["fields"].get("child_pid")
        counts[event["tid"], event["task_name"], child] += 1
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etw", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("tracepoints are recorded by root")
    if not (TRACING / "instances").is_dir():
        skip("tracefs is not mounted, or has no instances")
    with tempfile.TemporaryDirectory() as folder, Instance() as instance, \
            subprocess.Popen([sys.executable, "-c", LOAD]) as load:
        os.environ["ETW_RUNTIME_DIR"] = folder
        file = pathlib.Path(folder) / "only.etl"
        try:
            root = record(arguments.etw, file)
        finally:
            load.kill()
        expected = of_tree(instance.events(), root)
        found = read(arguments.etw, file)
    problems = [f"{what} is missing {count} times" for what, count in (expected - found).items()]
    problems += [f"{what} is {count} times too many" for what, count in (found - expected).items()]
    print(f"{sum(found.values())} events of {len({key[0] for key in found})} threads")
    if not problems and len({key[0] for key in found}) < 40:
        problems.append("the command has made more threads than that")
    if problems:
        print(*problems[:40], sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
