#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold operations of files against what a program did.

    compare_files --etw PROGRAM --files PROGRAM [--rounds N] [--load N]

make_files works on files of all kinds (plain, deleted, in memory, on an overlay and below a bind
mount in a mount namespace of its own, deeper than PATH_MAX, as a 32-bit program does) and tells for
each operation what an event should say: type, name as /proc/self/fd has it, place, size, result. Of
its thread there must be these events in this order, and no others; each has its end with the
status, and each open file the same FileObject from its Create to its Close. The whole machine is
recorded, and other programs work on files meanwhile.

Where something was lost it is done again; without loss no difference is forgiven.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import errno
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from kernel_checks import SKIPPED, until_whole

SECONDS = 600
KINDS = "PROC_THREAD+FILENAME+FILE_IO+FILE_IO_INIT"
PAGING_IO = 2
MARK = "/etw-mark"
NAMES = ("Name", "FileCreate")
GIVEN = {"SetLinkPath", "RenamePath", "DeletePath", "Create"}
LOST = re.compile(r"^lost: (\d+) events, (\d+) buffers", re.MULTILINE)
RETRY = 0xC000022D
STATUS = {0: 0, errno.ENOENT: 0xC0000034, errno.EISDIR: 0xC00000BA, errno.ENOTTY: 0xC0000010,
          errno.EOPNOTSUPP: 0xC00000BB, errno.EINVAL: 0xC000000D, errno.EPERM: 0xC0000061,
          errno.EEXIST: 0xC0000035, errno.EXDEV: 0xC00000D4, errno.EACCES: 0xC0000022}
LOAD = """import os
while os.getppid() == {parent}:
    with open("{path}", "w") as file:
        file.write("load")
    os.stat("{path}")
    os.unlink("{path}")
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def read_wanted(text):
    """([operation], [what is open at the end], [what could be mounted])"""
    operations, left, mounted = [], [], []
    for line in text.splitlines():
        if line.startswith("#"):
            mounted.append(line[2:])
            continue
        kind, name, *numbers = line.split("\t")
        values = [None if value == "-" else int(value) for value in numbers]
        if kind == "exit":
            left.append(name)
        else:
            operations.append((kind, name, *values))
    return operations, left, mounted


class Trace:
    """FileIo of one thread between the marks, with names and ends."""

    def __init__(self, lines, tid):
        self.tid = tid
        self.operations = []    # (type, fields, name)
        self.behind = []        # likewise, behind the second mark
        self.ends = {}
        self.names = {}
        self.told = set()       # keys whose name was told since the last look
        self.marks = 0
        self.rundown = set()
        self.deleted = []
        for line in lines:
            if '"FileIo"' in line:
                event = json.loads(line)
                self.take(event["opcode_name"], event["fields"])

    def take(self, kind, fields):
        if kind in NAMES:
            self.names[fields["FileObject"]] = fields["FileName"]
            self.told.add(fields["FileObject"])
        elif kind == "FileRundown":
            self.rundown.add(fields["FileName"])
        elif kind == "FileDelete":
            self.deleted.append(fields["FileName"])
        elif kind == "OperationEnd":
            self.ends[fields["IrpPtr"]] = fields
        elif fields.get("TTID") == self.tid or self.marks == 2 and kind in ("Cleanup", "Close"):
            # The last thread of a process closes what is open: it may be one of io_uring's.
            self.take_operation(kind, fields)

    def take_operation(self, kind, fields):
        name = fields.get("OpenPath") or fields.get("FileName") or \
            self.names.get(fields.get("FileKey"))
        if name == MARK:
            self.marks += 1
        elif self.marks:
            is_new = fields.get("FileKey") in self.told
            self.told.discard(fields.get("FileKey"))
            (self.operations if self.marks == 1 else self.behind).append(
                (kind, fields, name, is_new))


def is_same_name(told, wanted):
    """Bytes that are no UTF-8 are U+FFFD; of a path that is too long the inner part is there."""
    if told is None:
        return False
    if told.startswith("..."):
        return len(wanted) > 4000 and wanted.endswith(told[3:])
    # It was told before the file lost its name.
    return wanted in (told, told + " (deleted)")


def check_place(place, event, wanted, trace, problems):
    kind, fields, name, is_new = event
    want_kind, want_name, offset, size, info, extra, result = wanted
    where = f"operation {place}, {want_kind} of {want_name[-60:]}"
    # A name is what it was when it was told.
    named = kind in GIVEN or is_new or fields["FileKey"] not in trace.checked
    if kind not in GIVEN:
        trace.checked.add(fields["FileKey"])
    if named and not is_same_name(name, want_name):
        problems.append(f"{where}: the event has the name {name}")
    for key, want in (("Offset", offset), ("IoSize", size), ("Length", size),
                      ("InfoClass", info), ("ExtraInfo", extra)):
        if want is not None and key in fields and number(fields[key]) != want:
            problems.append(f"{where}: {key} is {fields[key]}, not {want}")
    end = trace.ends.get(fields["IrpPtr"])
    if not end:
        problems.append(f"{where}: has no end")
        return
    status = STATUS.get(-result if result < 0 else 0)
    if status is None or number(end["NtStatus"]) != status:
        problems.append(f"{where}: ends with {end['NtStatus']:#x}, not with {result}")
    if kind in ("Read", "Write", "DirEnum") and result >= 0 and \
            number(end["ExtraInfo"]) != result:
        problems.append(f"{where}: {end['ExtraInfo']} bytes, not {result}")


def check_objects(trace, problems):
    """An open file is its Create's, to its Close."""
    is_open = {}
    for kind, fields, name, _ in trace.operations:
        thing = fields["FileObject"]
        if kind == "Create":
            is_open[thing] = name
        elif kind == "Write" and number(fields["IoFlags"]) & PAGING_IO:
            if thing != fields["FileKey"]:
                problems.append(f"Write through memory of {name}: its FileObject is {thing}")
        elif kind in ("Read", "Write", "Flush", "Cleanup", "Close") and "memfd" not in str(name) \
                and thing not in is_open:
            problems.append(f"{kind} of {name}: its FileObject {thing} was not opened")
        if kind == "Close":
            is_open.pop(thing, None)


def begins_once_more(trace, event):
    """A signal came, and the kernel made the call again, of which the program knows nothing."""
    end = trace.ends.get(event[1]["IrpPtr"])
    return end is not None and number(end["NtStatus"]) == RETRY


def settle(operations, wanted):
    """What is wanted, without a `Close?` that is not there."""
    settled = []
    for want in wanted:
        if want[0] != "Close?":
            settled.append(want)
        elif operations[len(settled):] and operations[len(settled)][0] == "Close":
            settled.append(("Close", *want[1:]))
    return settled


def compare(trace, wanted, left):
    problems = []
    trace.checked = set()
    trace.operations = [event for event in trace.operations if not begins_once_more(trace, event)]
    wanted = settle(trace.operations, wanted)
    for place, (event, want) in enumerate(zip(trace.operations, wanted)):
        if event[0] != want[0]:
            problems.append(f"operation {place}: {event[0]} of {event[2]}, not "
                            f"{want[0]} of {want[1][-60:]}")
            return problems
        check_place(place, event, want, trace, problems)
    if len(trace.operations) != len(wanted):
        problems.append(f"{len(trace.operations)} operations, not {len(wanted)}")
    check_objects(trace, problems)
    wanted_deleted = {want[1] for want in wanted
                      if want[0] == "Close" and want[1].endswith(" (deleted)")}
    for name in wanted_deleted:
        if name not in trace.deleted:
            problems.append(f"{name} is gone, and no FileDelete says so")
    for name in left:
        kinds = [kind for kind, _, told, _ in trace.behind if told == name]
        if kinds != ["Cleanup", "Close"]:
            problems.append(f"{name} is open at the end, and has {kinds} then")
        if name not in trace.rundown:
            problems.append(f"{name} is not in the rundown")
    return problems


def has_uring():
    """Linux 6.0 and later tells which request it is."""
    events = pathlib.Path("/sys/kernel/tracing/events/io_uring")
    return any((events / f"io_uring_submit_{name}").exists() for name in ("req", "sqe"))


def start_load(count, folder):
    return [subprocess.Popen([sys.executable, "-c", LOAD.format(parent=os.getpid(),
                                                                path=f"{folder}/load{i}")])
            for i in range(count)]


def run_program(arguments, folder, trace_path, environment):
    """(pid, what the program printed, what was lost)"""
    work = pathlib.Path(folder, "work")
    work.mkdir()
    shell = f'echo $$ >"{folder}/pid"; exec "$0" "$@" >"{folder}/out"'
    done = subprocess.run([arguments.etw, "record", "--kernel", KINDS, "--stacks", "none",
                           "--buffer-size", "1024", "--buffers", "32", "-o", trace_path, "--",
                           "sh", "-c", shell, arguments.files, work, str(arguments.rounds),
                           str(int(has_uring()))],
                          env=environment, capture_output=True, text=True, timeout=SECONDS,
                          check=False, stdin=subprocess.DEVNULL)
    if not os.path.exists(f"{folder}/out"):
        skip(f"etw record: {done.stderr.strip()}")
    if "not all can be recorded" in done.stderr:
        skip(done.stderr.strip().splitlines()[0])
    if done.returncode not in (0, 1):
        sys.exit(f"make_files ended with {done.returncode}: {done.stderr}")
    lost = LOST.search(done.stdout + done.stderr)
    text = pathlib.Path(folder, "out").read_bytes().decode("utf-8", "replace")
    pid = int(pathlib.Path(folder, "pid").read_text(encoding="ascii"))
    return pid, text, sum(map(int, lost.groups())) if lost else 1


def run(arguments):
    """(problems, lost, summary)"""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        environment = dict(os.environ, ETW_RUNTIME_DIR=folder)
        trace_path = f"{folder}/files.etl"
        loads = start_load(arguments.load, folder)
        try:
            pid, text, lost = run_program(arguments, folder, trace_path, environment)
        finally:
            for process in loads:
                process.kill()
                process.wait()
        if lost:
            return [], lost, ""
        dump = subprocess.run([arguments.etw, "dump", "--json", trace_path], capture_output=True,
                              timeout=SECONDS, check=True)
    wanted, left, mounted = read_wanted(text)
    trace = Trace(dump.stdout.decode("utf-8", "replace").splitlines(), pid)
    return compare(trace, wanted, left), 0, (
        f"{len(wanted)} operations, {len(trace.names)} names, {len(trace.rundown)} of them at "
        f"the end; mounted: {', '.join(mounted) or 'nothing'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw", required=True)
    parser.add_argument("--files", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--load", type=int, default=2)
    arguments = parser.parse_args()
    if os.geteuid():
        skip("needs root")
    sys.exit(until_whole(run, arguments))


if __name__ == "__main__":
    main()
