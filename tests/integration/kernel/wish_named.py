#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold what is asked of the kernel's manifest providers against what comes.

    wish_named --etw PROGRAM --control PROGRAM

Two sessions that want different things at once, and one that wants everything, record a worker on
a machine that is busy. Step by step the two want each keyword of Microsoft-Windows-Kernel-Process,
-File and -Network alone, other levels, and filters by ids of events. Of what the worker did in a
step each has exactly those of the third's events that it asked for. Each event that a call of the
worker's makes, of the network and of disks as well, has a stack there, and no other event of files,
the network and disks has.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from compare_named import DETAILS, PORTS, PREFIX, SPIN, work
from kernel_checks import SKIPPED, until_whole

SECONDS = 120
CHANNEL = 1 << 63
STACK_TRACE = 0x4
GUIDS = {"Process": "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716",
         "Network": "7dd42a49-5329-4832-8dfd-43d979153a88",
         "Disk": "c7bde69a-e1e0-4177-b6ef-283ad1525271",
         "File": "edd08927-9cc4-4e65-b970-c2560fb5c289"}
NETWORK_CALLS = {10, 11, 12, 15, 26, 27, 28, 31, 42, 43, 58, 59}
KEY_FIELDS = ("ThreadID", "ImageBase", "ImageName", "FileName", *PORTS, *DETAILS)
NAMES = {10, 11}  # of File: once for each file and session, whoever used it
OPERATION_END = 24
PRIORITIES = {7, 8}  # of Process: as the programs of a session happened to look
MAY_DIFFER = ({("File", number) for number in NAMES}
              | {("Process", number) for number in PRIORITIES})
Wish = collections.namedtuple("Wish", "level any property way ids", defaults=(0, 0, 0, "in", ()))
EVERYTHING = Wish(property=STACK_TRACE)
# What two sessions want at once, one step after the other; what is not named is enabled as before.
STEPS = (
    ({"File": Wish(any=0x10), "Process": Wish(any=0x10)},
     {"File": Wish(any=0x20), "Network": Wish(any=0x10)}),
    ({"File": Wish(any=0x40), "Process": Wish(any=0x20)},
     {"File": Wish(any=0x80), "Network": Wish(any=0x20)}),
    ({"File": Wish(any=0x100), "Process": Wish(any=0x40)},
     {"File": Wish(any=0x200), "Network": Wish(ids=(10, 15))}),
    ({"File": Wish(any=0x400), "Process": Wish(any=0x80)},
     {"File": Wish(any=0x800), "Network": Wish(level=3)}),
    ({"File": Wish(any=0x1000), "Process": Wish(level=3)},
     {"File": Wish(ids=(12, 16)), "Network": Wish(level=4)}),
    ({"File": Wish(any=0x300, way="out", ids=(15,)), "Process": Wish(ids=(1, 4))},
     {"File": Wish(level=5), "Network": Wish(any=0x30, ids=(11,))}))


class Session:
    """One that is recorded by control_session. @words: the program, flags and the process."""

    def __init__(self, words, folder, name, environment):
        self.path, self.wishes, self.lost = f"{folder}/{name}.etl", {}, 0
        self.has_begun = False
        self.process = subprocess.Popen(
            [words[0], f"etw-wishes-{os.getpid()}-{name}", self.path, *words[1:]],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.wait()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self):
        answer = self.process.stdout.readline().strip()
        if answer != "ok" and self.has_begun:
            sys.exit(f"a session is refused what it wants: {answer}")
        if answer != "ok":
            print(f"skipped: a session or what it wants cannot be had: {answer}")
            sys.exit(SKIPPED)

    def wish(self, wishes):
        """From now on; what is under way goes by what was wanted before."""
        self.say("flush")
        self.wait()
        self.wishes = {**self.wishes, **wishes}
        for provider, wish in wishes.items():
            self.say(f"enable {GUIDS[provider]} {wish.level:x} {wish.any:x} 0 {wish.property:x} "
                     f"{wish.way} {','.join(map(str, wish.ids)) or '-'}")
            self.wait()
        self.has_begun = True

    def end(self):
        self.process.stdin.close()
        self.lost = int(self.process.stdout.read().split()[-1])
        self.process.wait(timeout=SECONDS)


def pid_of(event):
    return event["fields"].get("PID", event.get("header_pid", event["pid"]))


def read(etw, path, environment, pids, folder):
    """(provider, event) of what is the worker's, of processes of its as well."""
    expression = " or ".join([f"FileName contains {folder}", *(
        f"{name} = {pid}" for name in ("pid", "header_pid", "fields.PID") for pid in pids)])
    mine = set(pids)
    with subprocess.Popen([etw, "dump", "--json", "--filter", expression, path], text=True,
                          env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as dump:
        for line in dump.stdout:
            if PREFIX not in line:
                continue
            event = json.loads(line)
            provider = event["provider"][len(PREFIX):]
            if provider == "File" and event["id"] in NAMES:
                if folder not in event["fields"]["FileName"]:
                    continue
            elif pid_of(event) not in mine:
                continue
            yield provider, event


def step_of(pair):
    """The process whose event it is; of a name the step that has the file."""
    provider, event = pair
    if provider == "File" and event["id"] in NAMES:
        return event["fields"]["FileName"].rpartition("/")[0].rpartition("/")[2]
    return pid_of(event)


def key_of(provider, event):
    return (provider, event["id"], pid_of(event), *(
        str(event["fields"].get(name)) for name in KEY_FIELDS))


def is_wanted(wishes, provider, event):
    """By the rules of EnableTraceEx2."""
    wish = wishes.get(provider)
    if not wish or (wish.level and event["level"] > wish.level):
        return False
    if wish.any and not int(event["keywords"], 16) & wish.any:
        return False
    return not wish.ids or (event["id"] in wish.ids) == (wish.way == "in")


def compare_wishes(wishes, everything, found):
    """That a session has what it wanted of everything, and nothing else."""
    wrong = []
    wanted = collections.Counter(key_of(*pair) for pair in everything
                                 if is_wanted(wishes, *pair))
    ours = collections.Counter(key_of(*pair) for pair in found)
    for provider, event in found:
        if not is_wanted(wishes, provider, event):
            wrong.append(f"{wishes}: {provider} {event['id']}, which nobody wanted")
    for more, less, words in ((wanted, ours, "is missing"), (ours, wanted, "is too many")):
        for key, count in (more - less).items():
            if (key[0], key[1]) in MAY_DIFFER:
                continue
            wrong.append(f"{wishes}: {count} times {key} {words}")
    return wrong


def compare_stacks(everything):
    wrong, counts, kinds = [], collections.Counter(), collections.defaultdict(set)
    for provider, event in everything:
        calls = provider in ("File", "Disk") or (provider == "Network"
                                                 and event["id"] in NETWORK_CALLS)
        if provider == "File" and event["id"] in {*NAMES, OPERATION_END}:
            calls = False
        elif provider == "Process":
            continue
        key = provider, calls, "stack" in event
        kinds[key].add(event["id"])
        counts[key] += 1
    for (provider, calls, has), count in counts.items():
        if calls != has:
            wrong.append(f"{count} events of {provider} {'have' if has else 'lack'} a stack: "
                         f"{sorted(kinds[provider, calls, has])}")
    if not counts["Network", True, True]:
        wrong.append("no event of the network has a stack")
    return wrong, counts


def record(options, folder, environment):
    """(sessions, [(process of a step, wishes of each session)])"""
    steps = []
    with contextlib.ExitStack() as stack:
        worker = stack.enter_context(subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--work", folder], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True))
        stack.callback(worker.stdin.close)
        words = options.control, "0", str(worker.pid)
        sessions = []
        for name in ("everything", "left", "right"):
            sessions.append(Session(words, folder, name, environment))
            stack.callback(sessions[-1].end)
        sessions[0].wish({name: EVERYTHING for name in GUIDS})
        for number, wishes in enumerate(STEPS):
            for session, wish in zip(sessions[1:], wishes):
                session.wish(wish)
            worker.stdin.write(f"{number}\n")
            worker.stdin.flush()
            pid = int(worker.stdout.readline())
            steps.append((pid, [dict(session.wishes) for session in sessions[1:]]))
    return sessions, steps


def compare(options, folder):
    """(problems, lost, summary)"""
    environment = dict(os.environ, ETW_RUNTIME_DIR=f"{folder}/run")
    os.makedirs(environment["ETW_RUNTIME_DIR"], 0o700, exist_ok=True)
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        for _ in range(2):
            spin = subprocess.Popen([sys.executable, "-c", SPIN.format(parent=os.getpid())])
            stack.callback(spin.wait)
            stack.callback(spin.kill)
        sessions, steps = record(options, place, environment)
        pids = [pid for pid, _ in steps]
        found = [list(read(options.etw, session.path, environment, pids, place))
                 for session in sessions]
    wrong, stacks = compare_stacks(found[0])
    for number, (pid, wishes) in enumerate(steps):
        mine = [[pair for pair in pairs if step_of(pair) in (pid, f"step{number}")]
                for pairs in found]
        for wish, ours in zip(wishes, mine[1:]):
            wrong += compare_wishes(wish, mine[0], ours)
    seen = {(provider, event["id"]) for provider, event in found[0]}
    for provider, least in (("Process", {1, 2, 3, 4, 5, 6}), ("Network", {10, 11, 12, 15}),
                            ("File", {10, 12, 13, 14, 15, 16, 24, 26, 27})):
        for number in least - {number for name, number in seen if name == provider}:
            wrong.append(f"the worker made no event {number} of {provider}")
    lost = sum(session.lost for session in sessions)
    return wrong, lost, (f"{2 * len(STEPS)} wishes, {len(seen)} kinds of events, "
                         f"{stacks['Network', True, True]} stacks of the network, "
                         f"{stacks['Disk', True, True]} of disks, {len(wrong)} problems")


def work_in_child(folder):
    """A process of each step, whose id is printed when it has ended."""
    os.mkdir(folder)
    pid = os.fork()
    if not pid:
        os.close(1)
        os.nice(1)
        with open(os.devnull, "w", encoding="utf-8") as sys.stdout:
            work(folder)
        with open(f"{folder}/worked.3", "w", encoding="utf-8") as file:
            file.write("x" * 100)
        with open(f"{folder}/worked.3", encoding="utf-8") as file:
            file.read()
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("the work failed")
    print(pid, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw")
    parser.add_argument("--control")
    parser.add_argument("--work")
    options = parser.parse_args()
    if options.work:
        for line in sys.stdin:
            work_in_child(f"{options.work}/step{line.strip()}")
        return 0
    if os.geteuid():
        print("skipped: only root records the kernel")
        return SKIPPED
    options.etw = str(pathlib.Path(options.etw).resolve())
    # Not in memory: transfers of a disk are wanted, where the folder is on one.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        return until_whole(compare, options, folder)


if __name__ == "__main__":
    sys.exit(main())
