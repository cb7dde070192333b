#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold what `etw record --only-command` has of a command, from its first call on, against ftrace.

    command_calls --etw PROGRAM [--programs N]

The command is a shell that starts N programs, one after the other. ftrace follows etw and all who
descend from it. From the call that makes the shell of its process until the end of the last
program, the trace must have each call of theirs, and no other: of what that process did before,
some is there, because it is marked before, and nothing else is. A second shell does the same beside
it.
Where something was lost it is done again.
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

from compare_processes import skip
from compare_syscalls import Calls, functions_of, read_ftrace, read_symbols

TRIES = 5
SECONDS = 600
LOOP = "i=0; while [ $i -lt {} ]; do /bin/true; i=$((i+1)); done"
SHELL = "/bin/sh"
EXECUTED = re.compile(r"-(\d+)\s+\[.*: sched_process_exec: filename=(\S+) pid=(\d+) ")
STARTED = re.compile(r"-(\d+)\s+\[.*: task_newtask: pid=(\d+) ")


class Tree(Calls):
    EVENTS = Calls.EVENTS + ("sched/sched_process_exec", "task/task_newtask")


def wait_for_word(command):
    """A process that becomes the command when it gets a line."""
    return subprocess.Popen([SHELL, "-c", 'read word; exec "$@"', SHELL, *command],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def tree_of(text, program):
    """Threads of the first process that took the program of this path, and of its descendants."""
    tree = set()
    for line in text.splitlines():
        if found := EXECUTED.search(line):
            if not tree and found[2] == program:
                tree.add(int(found[3]))
        elif (found := STARTED.search(line)) and int(found[1]) in tree:
            tree.add(int(found[2]))
    return tree


def since_exec(calls, execve):
    """Numbers of a process's calls from its first execve on; those before."""
    numbers = [number for what, number in calls if what == "enter"]
    place = numbers.index(execve)
    return numbers[place:], numbers[:place]


def read_trace(etw, path):
    """{function: how many calls}; lost"""
    info = json.loads(subprocess.run([etw, "info", "--json", path], capture_output=True, text=True,
                                     timeout=SECONDS, check=True).stdout)
    dump = subprocess.run([etw, "dump", "--json", "--event", "SysClEnter", path],
                          capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    found = collections.Counter()
    for line in dump.splitlines():
        found[int(json.loads(line)["fields"]["SysCallAddress"], 16)] += 1
    return found, info["header"]["events_lost"]


def record(arguments, folder):
    """(ours, ftrace's text, the command's path, lost)"""
    loop = [SHELL, "-c", LOOP.format(arguments.programs)]
    trace = folder / "command.etl"
    (folder / "run").mkdir()
    # By a link of its own, so that ftrace's lines name it.
    command = folder / "command"
    command.symlink_to(SHELL)
    recorder = Tree()
    os.environ["ETW_RUNTIME_DIR"] = str(folder / "run")
    asked = wait_for_word([arguments.etw, "record", "--only-command", "--kernel", "SYSCALL", "-o",
                           str(trace), "--", str(command), *loop[1:]])
    other = wait_for_word(loop)
    try:
        recorder.start(asked.pid)
        other.stdin.write("go\n")
        other.stdin.flush()
        _, said = asked.communicate("go\n", timeout=SECONDS)
        other.communicate(timeout=SECONDS)
        text, lost_lines = recorder.stop()
    finally:
        asked.kill()
        other.kill()
        recorder.close()
    if asked.returncode or not trace.exists():
        skip(f"no kernel events can be recorded here: {said.strip()}")
    ours, lost = read_trace(arguments.etw, trace)
    return ours, text, str(command), lost + lost_lines


def compare(ours, text, program):
    calls, names = read_ftrace(text)
    tree = tree_of(text, program)
    if not tree:
        return ["ftrace has no such command"], ""
    execve = next(number for number, name in names.items() if name == "execve")
    root = next(tid for tid in calls if tid in tree)
    counted, before = map(collections.Counter, since_exec(calls[root], execve))
    for tid in tree - {root}:
        counted.update(number for what, number in calls.get(tid, []) if what == "enter")
    addresses = collections.defaultdict(list)
    for address, known in read_symbols().items():
        for name in known:
            addresses[name].append(address)
    problems = []
    left = collections.Counter(ours)
    for number in counted.keys() | before.keys():
        functions = {address for function in functions_of(names.get(number, ""))
                     for address in addresses.get(function, [])} or {number}
        mine = sum(left.pop(address, 0) for address in functions)
        if not counted[number] <= mine <= counted[number] + before[number]:
            problems.append(f"{names.get(number, number)}: {mine} calls, ftrace has "
                            f"{counted[number]}, and {before[number]} before the command")
    problems += [f"{address:#x}: {count} calls that are nobody's"
                 for address, count in left.items()]
    return problems, (f"{sum(ours.values())} calls, ftrace {sum(counted.values())} of "
                      f"{len(tree)} processes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", help="not used: what all tests of the kernel are given")
    parser.add_argument("--etw", required=True)
    parser.add_argument("--programs", type=int, default=40)
    arguments = parser.parse_args()
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            ours, text, program, lost = record(arguments, pathlib.Path(folder))
        if lost:
            print(f"done again: {lost} lost")
            continue
        problems, summary = compare(ours, text, program)
        print(summary, *problems, sep="\n")
        return 1 if problems else 0
    print("something was lost each time")
    return 1


if __name__ == "__main__":
    sys.exit(main())
