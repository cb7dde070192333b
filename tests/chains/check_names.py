#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `etw stacks` says of a recording, against addr2line and /proc/kallsyms.

    check_names --etw PROGRAM --program INLINED_CALLS

The addresses of every stack are taken from the file by `etw dump`, and named by addr2line with
inlined functions and lines (those of the program), and by /proc/kallsyms (those of the kernel). The
tree of `etw stacks --lines --inlines` has the same stacks, each as often, and no others. Then: the
known hot function is first, and its sums and its callers are those of the stacks; chains lead into
the kernel by the known system call. Exit status: 0; 1 with the reasons; 77 with the reason why it
cannot run.
"""

import argparse
import bisect
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from check_chains import EVENTS_LEAST, SHARE, SKIPPED, run

KERNEL = 0xFFFF000000000000
PAGE_OF_NOTHING = 4096
SAMPLES = ("--kernel", "process,thread,loader,profile", "--stacks", "profile", "--unwind", "dwarf")
HOT = "hottest"
CALL = ["main", "work", "read_zeros"]
# Functions of the kernel that a read goes through, on each machine.
READ = re.compile(r"^(__(x64|arm64)_sys_read|ksys_read|vfs_read)$")
ENTRY = re.compile(r"^(entry_SYSCALL_64\w*|do_syscall_64|el0_svc|el0t_64_sync\w*|invoke_syscall)$")


class Program:
    """Names of a file by addr2line."""

    def __init__(self, path):
        self.path = path
        self.name = path.name
        self.known = {}

    def learn(self, addresses):
        """Ask for all addresses at once."""
        asked = sorted(set(addresses))
        text = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", self.path],
                              input="".join(f"{at:#x}\n" for at in asked), text=True,
                              capture_output=True, check=True).stdout
        frames = None
        lines = iter(text.splitlines())
        for line in lines:
            if re.match(r"^0x[0-9a-f]+$", line):
                frames = self.known[int(line, 16)] = []
                continue
            place = next(lines).split(" (discriminator")[0]
            file, _, number = place.rpartition(":")
            frames.append((None if line == "??" else line,
                           None if file == "??" else os.path.basename(file),
                           int(number) if number.isdigit() and number != "0" else None))

    def frames(self, address):
        """[(function, file, line)], the outermost first."""
        return list(reversed(self.known[address]))


class Kernel:
    """Names of the kernel itself by /proc/kallsyms."""

    def __init__(self):
        self.at = collections.defaultdict(set)
        self.start = self.end = 0
        for line in pathlib.Path("/proc/kallsyms").read_text(encoding="utf-8").splitlines():
            words = line.split()
            address = int(words[0], 16)
            if words[2] == "_stext":
                self.start = address
            if words[2] == "_etext":
                self.end = address
            if words[1] in "tTwW" and len(words) == 3:
                self.at[address].add(words[2])
        self.order = sorted(self.at)

    def names(self, address):
        """All names at the nearest place before an address."""
        return self.at[self.order[bisect.bisect_right(self.order, address) - 1]]


def stacks_of(etw, trace, pid, environment):
    """[[(address, is_return)]] of the samples of a process, the outermost first."""
    text = run([etw, "dump", "--json", "--event", "StackWalk/Stack", trace], environment).stdout
    found = []
    for line in text.splitlines():
        fields = json.loads(line)["fields"]
        if fields["StackProcess"] != pid:
            continue
        stack = [int(str(address), 0) for address in fields["Stack"]]
        users = sum(address < KERNEL for address in stack)
        kernel = len(stack) - users
        sound = kernel
        while sound < len(stack) and stack[sound] >= PAGE_OF_NOTHING:
            sound += 1
        frames = [(address, i not in (0, kernel)) for i, address in enumerate(stack[:sound])]
        found.append(list(reversed(frames)))
    return found


def image_of(etw, trace, pid, name, environment):
    """(base, end) of the program."""
    text = run([etw, "dump", "--json", "--event", "Image/*", trace], environment).stdout
    for line in text.splitlines():
        fields = json.loads(line)["fields"]
        if fields.get("ProcessId") == pid and fields.get("FileName", "").endswith("/" + name):
            base = int(str(fields["ImageBase"]), 0)
            return base, base + int(str(fields["ImageSize"]), 0)
    sys.exit(f"the recording has no image {name}")


def paths_of(rows, pick):
    """Counter of tuples: of each stack of a tree those levels that PICK makes something of."""
    counter, path = collections.Counter(), []
    for i, row in enumerate(rows):
        del path[row["depth"]:]
        path.append(pick(row))
        below = 0
        for other in rows[i + 1:]:
            if other["depth"] <= row["depth"]:
                break
            if other["depth"] == row["depth"] + 1:
                below += other["events"]
        counter[tuple(one for one in path if one)] += row["events"] - below
    return +counter


def told(name, difference, limit=10):
    """Print what is in one of two and not in the other."""
    for one, count in list(difference.items())[:limit]:
        print(f"    {name}: {count}: {one}")


class Check:
    """One recording."""

    def __init__(self, options, trace, pid, environment):
        self.etw, self.trace, self.environment = options.etw, trace, environment
        self.pid = pid
        self.program = Program(options.program)
        self.kernel = Kernel()
        self.failed = 0
        self.stacks = stacks_of(options.etw, trace, pid, environment)
        self.base, self.end = image_of(options.etw, trace, pid, self.program.name, environment)
        self.program.learn(self.place(*frame) for stack in self.stacks for frame in stack
                           if self.base <= frame[0] < self.end)

    def place(self, address, is_return):
        """In the file; a call is before the address that it returns to."""
        return address - is_return - self.base

    def ask(self, *how):
        """What etw stacks says of the process."""
        return json.loads(run([self.etw, "stacks", "--json", "--pid", str(self.pid),
                               "--weight", "count", *how, self.trace], self.environment).stdout)

    def expect(self, holds, sentence):
        """Count what does not hold."""
        if not holds:
            print(sentence)
            self.failed += 1

    def is_ours(self, row):
        """Whether a level of a tree is of the program."""
        return row.get("module") == self.program.name

    def check_program(self):
        """The program's frames with inlined functions and lines."""
        wanted = collections.Counter()
        for stack in self.stacks:
            wanted[tuple(one for frame in stack if self.base <= frame[0] < self.end
                         for one in self.program.frames(self.place(*frame)))] += 1
        rows = self.ask("--lines", "--inlines")["tree"]
        found = paths_of(rows, lambda row: self.is_ours(row) and
                         (row.get("function"), row.get("file") and
                          os.path.basename(row["file"]), row.get("line")))
        names = {one for path in wanted for one in path}
        print(f"{len(self.program.known)} addresses of the program in {len(self.stacks)} stacks: "
              f"{len(names)} functions and lines, {len(wanted)} different chains by addr2line, "
              f"{len(found)} by etw stacks")
        self.expect(found == wanted and len(self.stacks) >= EVENTS_LEAST, "they differ")
        told("addr2line alone", wanted - found)
        told("etw stacks alone", found - wanted)
        self.expect(any(function == "mix" for function, _, _ in names),
                    "no inlined function was met")

    def check_kernel(self):
        """The kernel's frames: one of the names that kallsyms has there."""
        rows = self.ask()["tree"]
        found = paths_of(rows, lambda row: row.get("module") == "vmlinux" and
                         (row.get("function") or "?"))
        own = {name for path in found for name in path}
        wanted, count, elsewhere = collections.Counter(), set(), 0
        for stack in self.stacks:
            path = []
            for address, is_return in stack:
                if self.kernel.start <= address < self.kernel.end:
                    names = self.kernel.names(address - is_return)
                    count.add(address)
                    path.append(min(names & own or {f"none of {sorted(names)}"}))
                elsewhere += address >= self.kernel.end
            wanted[tuple(path)] += 1
        print(f"{len(count)} addresses of the kernel: {len(wanted)} different chains by kallsyms, "
              f"{len(found)} by etw stacks; {elsewhere} frames in modules left out")
        self.expect(found == wanted, "they differ")
        told("kallsyms alone", wanted - found)
        told("etw stacks alone", found - wanted)

    def check_call(self):
        """From the program through the C library and the entry into the kernel's function."""
        paths = paths_of(self.ask()["tree"], lambda row: row.get("function") or
                         row.get("process") or "?")
        good = known = 0
        for path, events in paths.items():
            calls = [i for i, name in enumerate(path) if READ.match(name)]
            if not calls:
                continue
            entries = [i for i, name in enumerate(path) if ENTRY.match(name)]
            # The loader and the start of the program read too.
            if "main" not in path and any(name in path for name in ("_dl_start", "_dl_map_object")):
                continue
            known += events
            at = path.index("main") if "main" in path else 0
            good += events if list(path[at:at + 3]) == CALL and entries and \
                at + 2 < entries[0] < calls[0] else 0
        print(f"{good} of {known} stacks in a read lead from {' > '.join(CALL)} into the kernel")
        self.expect(known >= EVENTS_LEAST and good >= SHARE * known, "that is not nearly all")

    def check_hot(self):
        """The hot function first, with the sums and callers that the stacks have."""
        result = self.ask("--callers", HOT)
        first = result["functions"][0]
        own = [[self.program.frames(self.place(*frame))[0][0]
                if self.base <= frame[0] < self.end else "other" for frame in stack]
               for stack in self.stacks]
        itself = sum(path[-1] == HOT for path in own)
        inside = sum(HOT in path for path in own)
        callers = collections.Counter(path[path.index(HOT) - 1] for path in own if HOT in path[1:])
        by_sum = max(result["functions"], key=lambda row: (row["weight"] if
                                                           row.get("function") == HOT else 0))
        print(f"{HOT}: itself {itself}, with callees {inside}, called by {dict(callers)}; "
              f"etw stacks: {first}")
        self.expect(first.get("function") in (HOT, "hash"), f"the hottest function is {first}")
        self.expect((by_sum["weight_itself"], by_sum["weight"]) == (itself, inside),
                    f"the sums differ: {by_sum}")
        tree = result["callers"]
        level = collections.Counter({row["function"]: row["events"] for row in tree
                                     if row["depth"] == 1 and "function" in row})
        self.expect(tree[0].get("function") == HOT and level == callers,
                    f"the callers differ: {level}")


def main():
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("etw", "program"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIP: kernel events need root")
        return SKIPPED
    if not shutil.which("addr2line"):
        print("SKIP: addr2line is not here")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="etw-names-") as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"))
        (folder / "run").mkdir()
        trace = folder / "t.etl"
        done = run([options.etw, "record", "--only-command", "-o", trace, *SAMPLES, "--",
                    options.program, "1000"], environment, is_checked=False)
        if done.returncode:
            print(f"SKIP: no samples can be had here: {done.stderr.strip()}")
            return SKIPPED
        # The command was forked from the recorder, whose command line names the program too.
        table = [json.loads(line) for line in
                 run([options.etw, "processes", "--json", trace], environment).stdout.splitlines()]
        pids = [row["pid"] for row in table if row.get("process") == options.program.name]
        if not pids:
            sys.exit(f"the recording has no process {options.program.name}: {done.stderr}")
        check = Check(options, trace, pids[-1], environment)
        for part in (check.check_program, check.check_kernel, check.check_call, check.check_hot):
            part()
        return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
