#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stop or kill the host of `etw record` in the midst of a burst: each call is there or counted.

    stop_hosts --etw PROGRAM --etwd PROGRAM --call PROGRAM [--count N]

A command makes N system calls and stops, or kills, the host that records them after half of them.
What the trace has of its beginnings and ends of calls, and what it counts as lost of them, are
together exactly as many as of an undisturbed run, and N more; the session refuses none of them. A
host that stays stopped does not hold the recorder up forever, which says what is missing.
Exit status: 0; 1 with what is wrong; 77 with the reason why it cannot run.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from kernel_checks import SECONDS, SKIPPED, Checks

KINDS = {51: "calls", 52: "returns"}  # opcodes of PerfInfo, and the classes of loss
REFUSED = "rejected"  # the cause of loss of events of which the session knows no class
NONE = 0
QUIET = 1000  # calls of the run that shows how many others there are
# Name, signal in the midst of the calls, signal at their end.
WHOLE = (("a host that stands still for a while", signal.SIGSTOP, signal.SIGCONT),
         ("a host that is killed", signal.SIGKILL, NONE))


class Recorder:
    """`etw record` of one run of the program that calls, with a host of its own."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.trace = folder / "calls.etl"
        self.page = folder / "run" / "epoch"
        (folder / "run").mkdir()
        self.environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"),
                                ETW_ETWD=arguments.etwd)

    def record(self, count, first, last):
        """(exit status, everything that was printed)"""
        done = subprocess.run(
            [self.arguments.etw, "record", "--kernel", "SYSCALL", "--only-command", "-o",
             self.trace, "--", self.arguments.call, str(count), self.page, str(int(first)),
             str(int(last))], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=SECONDS, check=False)
        return done.returncode, done.stdout

    def counts(self):
        """({class: events that are there}, {class, or REFUSED: events that are lost})"""
        text = subprocess.run([self.arguments.etw, "info", "--json", self.trace],
                              env=self.environment, capture_output=True, text=True,
                              timeout=SECONDS, check=True).stdout
        info = json.loads(text)
        there = dict.fromkeys(KINDS.values(), 0)
        lost = dict.fromkeys((*KINDS.values(), REFUSED), 0)
        for kind in info["events_by_kind"]:
            if kind["provider"] == "PerfInfo" and kind["opcode"] in KINDS:
                there[KINDS[kind["opcode"]]] += kind["count"]
        for loss in info.get("loss_by_cause", ()):
            name = REFUSED if loss["cause"] == REFUSED else loss["class"]
            if loss["is_lost"] and name in lost:
                lost[name] += loss["events"]
        return there, lost

    def end(self):
        """No host of this folder stays, whatever became of it."""
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"ETW_RUNTIME_DIR={self.folder}/run\0".encode() in path.read_bytes():
                    pid = int(path.parent.name)
                    os.kill(pid, signal.SIGCONT)
                    os.kill(pid, signal.SIGTERM)
            except OSError:
                pass  # gone


def run(arguments, count, first, last):
    """(exit status, what was printed, what is there, what is lost)"""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        recorder = Recorder(arguments, pathlib.Path(folder))
        try:
            status, text = recorder.record(count, first, last)
            if not recorder.trace.exists():
                print(f"skipped: no kernel events can be recorded here: {text.strip()}")
                sys.exit(SKIPPED)
            return status, text, *recorder.counts()
        finally:
            recorder.end()


def check_whole(checks, arguments, extra, case):
    name, first, last = case
    status, text, there, lost = run(arguments, arguments.count, first, last)
    print(f"{name}: {there} there, {lost} lost")
    checks.equal(f"{name}: exit status", status, 0)
    checks.equal(f"{name}: {REFUSED}", lost[REFUSED], 0)
    for kind in KINDS.values():
        checks.equal(f"{name}: {kind}", there[kind] + lost[kind], extra[kind] + arguments.count)
        checks.within(f"{name}: what etw says of lost {kind}",
                      text.count(f"{lost[kind]:,} system calls"), min(lost[kind], 1), SECONDS)


def check_forever(checks, arguments):
    status, text, there, _ = run(arguments, arguments.count, signal.SIGSTOP, NONE)
    print(f"a host that stays stopped: {there} there")
    print(text[-500:])
    checks.equal("a host that stays stopped: exit status", status, 1)
    for word in ("does not answer", "is not complete"):
        checks.within(f"a host that stays stopped: what etw says: {word}", text.count(word), 1,
                      SECONDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", help="not used: what all tests of the kernel are given")
    parser.add_argument("--etw", required=True)
    parser.add_argument("--etwd", required=True)
    parser.add_argument("--call", required=True)
    parser.add_argument("--count", type=int, default=1000000)
    arguments = parser.parse_args()
    checks = Checks()
    _, _, there, lost = run(arguments, QUIET, NONE, NONE)
    extra = {kind: there[kind] + lost[kind] - QUIET for kind in KINDS.values()}
    print(f"beside the calls that are asked for: {extra}")
    for case in WHOLE:
        check_whole(checks, arguments, extra, case)
    check_forever(checks, arguments)
    checks.finish()


if __name__ == "__main__":
    main()
