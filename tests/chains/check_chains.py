#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole chains of calls, from the live kernel to names: of at least 95 % of the stacks of a program
whose calls are known every function is there, in order, with its name.

    check_chains --etw PROGRAM --frames PROGRAM --none PROGRAM

The programs are call_chain.c with and without frame pointers. Each case records one of them with a
host of its own and reads the tree of calls that `etw stacks` makes of the file.
Exit status: 0; 1 with the reasons; 77 with the reason why it cannot run.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 900
SHARE = 0.95
EVENTS_LEAST = 30
CALLS = ["main", "outer_call", "middle_call", "inner_call"]
MADE = ["main", "outer_call", "middle_call", "made_call", "inner_call"]


def run(arguments, environment, is_checked=True):
    """Output of a command."""
    done = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
    if is_checked and done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.returncode}: {done.stderr.strip()}")
    return done


def paths_of(rows):
    """[(path, events with it as their innermost function)] of a tree that is told by depth."""
    paths, stack = [], []
    for i, row in enumerate(rows):
        del stack[row["depth"]:]
        stack.append(row.get("function") or row.get("process") or "?")
        below = 0
        for other in rows[i + 1:]:
            if other["depth"] <= row["depth"]:
                break
            if other["depth"] == row["depth"] + 1:
                below += other["events"]
        if row["events"] > below:
            paths.append((list(stack), row["events"] - below))
    return paths


def holds(path, chain):
    """Whether the functions of the chain follow each other directly, from where the first is."""
    if chain[0] not in path:
        return False
    at = path.index(chain[0])
    part = path[at:at + len(chain)]
    return part == chain


class Case:
    """One program, recorded and read."""

    def __init__(self, options, folder, environment):
        self.etw = options.etw
        self.folder = folder
        self.environment = environment
        self.failed = 0
        self.said = ""  # at the end of the last recording

    def record(self, name, command, *how):
        """A file of the command's own processes."""
        trace = self.folder / f"{name}.etl"
        done = run([self.etw, "record", "--only-command", "--force", "-o", trace, *how, "--",
                    *command], self.environment, is_checked=False)
        if done.returncode == SKIPPED:
            return None
        if done.returncode or not trace.exists():
            sys.exit(f"{name}: recording failed: {done.returncode}: {done.stderr.strip()}")
        self.said = done.stderr
        return trace

    def expect(self, name, holds_it, sentence):
        """Count what does not hold."""
        if not holds_it:
            print(f"{name}: {sentence}\n{self.said}")
            self.failed += 1

    def check_told(self, name, trace, module, is_by_tables=False):
        """That stacks without callers are told: nearly all, in MODULE, or none for None."""
        result = json.loads(run([self.etw, "stacks", "--json", "--process", "call_chain*", trace],
                                self.environment).stdout)
        lacking, every = result["stacks_frameless"], result["events"]
        text = run([self.etw, "stacks", "--process", "call_chain*", trace],
                   self.environment).stdout
        print(f"{name}: {lacking} of {every} stacks are said to lack callers")
        self.expect(name, "Where the command's CPU time went" in self.said,
                    "the recording does not end with the command's CPU time")
        self.expect(name, ("tables of unwinding" in self.said) == is_by_tables,
                    "how stacks were followed is not told")
        self.expect(name, ("etw record --unwind dwarf finds them" in text) == bool(lacking),
                    f"etw stacks says otherwise: {text[-2000:]}")
        if module:
            self.expect(name, lacking >= SHARE * every, "stacks that lack callers are not told")
            self.expect(name, result["frameless"][0]["module"].startswith(module),
                        f"they are said to be in {result['frameless'][:3]}")
            self.expect(name, "lack callers, for want of frame pointers in " + module in self.said,
                        "the recording does not say that callers are missing")
        else:
            self.expect(name, lacking <= (1 - SHARE) * every, "callers are said to be missing")
            self.expect(name, is_by_tables <= (not lacking), "tables of unwinding are forgotten")

    def check(self, name, trace, chain, *how):
        """That nearly all stacks of the program have the chain."""
        if trace is None:
            print(f"{name}: left out: not on this machine")
            return
        text = run([self.etw, "stacks", "--json", "--tree", "--top", "100000", "--process",
                    "call_chain*", *how, trace], self.environment).stdout
        paths = paths_of(json.loads(text)["tree"])
        every = sum(events for _, events in paths)
        # What runs before main and behind it is the loader's.
        inside = [(path, events) for path, events in paths if "main" in path or
                  any(function in path for function in chain[1:])]
        known = sum(events for _, events in inside)
        good = sum(events for path, events in inside if holds(path, chain))
        share = good / known if known else 0
        print(f"{name}: {good} of {known} stacks ({share:.1%}) have {' > '.join(chain)}; "
              f"{every} events")
        if known < EVENTS_LEAST or share < SHARE:
            for path, events in sorted(inside, key=lambda item: -item[1]):
                if not holds(path, chain):
                    print(f"    {events}: {' > '.join(path)}")
            print(self.said)
            self.failed += 1


def strip_apart(program, folder):
    """A copy without symbols, and its debug file beside it."""
    copy = folder / program.name
    debug = folder / f"{program.name}.debug"
    shutil.copy(program, copy)
    for command in (["objcopy", "--only-keep-debug", copy, debug], ["strip", "--strip-all", copy],
                    ["objcopy", f"--add-gnu-debuglink={debug}", copy]):
        run(command, dict(os.environ))
    return copy


def check_all(options, folder, environment):
    """All cases; the number of those that do not hold."""
    case = Case(options, folder, environment)
    samples = ("--kernel", "process,thread,loader,profile", "--stacks", "profile")
    switches = ("--kernel", "process,thread,loader,cswitch", "--stacks", "cswitch")
    frames, none = options.frames, options.none

    trace = case.record("frames", [frames, "spin", "500"], *samples)
    case.check("frame pointers", trace, CALLS + ["spin"])
    case.check_told("frame pointers", trace, None)
    trace = case.record("without", [none, "spin", "500"], *samples)
    case.check_told("no frame pointers, and followed by them", trace, "call_chain_none")
    trace = case.record("debug", [strip_apart(frames, folder), "spin", "500"], *samples)
    case.check("separate debug file", trace, CALLS + ["spin"])
    trace = case.record("jit", [frames, "jit", "500"], *samples)
    case.check("made at run time, with a perf map", trace, MADE + ["spin"])
    trace = case.record("vdso", [frames, "clock", "500"], *samples, "--unwind", "dwarf")
    case.check("vDSO, by tables", trace, CALLS + ["ask_clock"])
    trace = case.record("tables", [none, "spin", "500"], *samples, "--unwind", "dwarf")
    case.check("no frame pointers, by tables", trace, CALLS + ["spin"])
    case.check_told("no frame pointers, by tables", trace, None, is_by_tables=True)
    trace = case.record("blocked", [none, "sleep", "200"], *switches, "--unwind", "dwarf")
    case.check("blocked in libc, by tables", trace, CALLS + ["sleep_often"], "--event", "cswitch",
               "--weight", "count")
    check_tasks(case, frames, none)
    return case.failed


def check_tasks(case, frames, none):
    """What tasks do: each event has the stack of who did it."""
    kinds = ("--kernel", "process,thread,loader", "--stacks",
             "ProcessCreate,ProcessDelete,ThreadCreate,ThreadDelete,ImageLoad,ImageUnload")
    count = ("--weight", "count")
    # The C library has no frame pointers: its caller is left out, and those before are there.
    trace = case.record("clone", [frames, "clone", "100"], *kinds)
    case.check("clone", trace, CALLS, "--event", "Process/Start", *count)
    trace = case.record("forks", [none, "fork", "100"], *kinds, "--unwind", "dwarf")
    case.check("fork, by tables", trace, CALLS + ["fork_often"], "--event", "Process/Start", *count)
    case.check("exit, by tables", trace, CALLS + ["fork_often"], "--event", "Process/End", *count)
    trace = case.record("threads", [none, "thread", "100"], *kinds, "--unwind", "dwarf")
    case.check("thread, by tables", trace, CALLS + ["thread_often"], "--event", "Thread/Start",
               *count)
    trace = case.record("opens", [none, "open", "100"], *kinds, "--unwind", "dwarf")
    case.check("dlopen, by tables", trace, CALLS + ["open_often"], "--event", "Image/Load", *count)
    case.check("dlclose, by tables", trace, CALLS + ["open_often"], "--event", "Image/UnLoad",
               *count)


def main():
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("etw", "frames", "none"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIP: kernel events need root")
        return SKIPPED
    if not shutil.which("objcopy"):
        print("SKIP: objcopy is not here")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="etw-chains-") as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"))
        (folder / "run").mkdir()
        probe = run([options.etw, "record", "--kernel", "profile", "-o", folder / "probe.etl",
                     "--", "true"], environment, is_checked=False)
        if probe.returncode:
            print(f"SKIP: no samples can be had here: {probe.stderr.strip()}")
            return SKIPPED
        return 1 if check_all(options, folder, environment) else 0


if __name__ == "__main__":
    sys.exit(main())
