#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold operations of files against what strace saw of the same programs.

    compare_traced_files --etw PROGRAM [--load N]

A script of the shell's tools makes, copies, moves, links, lists, packs and deletes files under
`strace -ff`, and the whole machine is recorded meanwhile. Of each thread that strace followed, the
trace must have the operations that its system calls are, in their order, and no others: type, name
of the path or of the descriptor's file, bytes, result. Close is told where nobody else has the open
file, which strace does not know: a Close must have a Cleanup before it, of the same open file.

Where something was lost it is done again; without loss no difference is forgiven.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from compare_files import KINDS, LOST, STATUS, number, skip, start_load
from kernel_checks import until_whole

SECONDS = 600
SCRIPT = """set -e
mkdir -p a/b
echo hello >a/x
cat a/x a/x >a/y
cp a/y a/b/z
exec 5<>a/b/z
mv a/b/z a/b/w
echo later >&5
exec 5<&-
cat a/b/w
mv a/b a/c
ln a/x a/hard
ln -s x a/soft
cat a/soft a/hard | sort >sorted
ls -lR a >list
dd if=/dev/zero of=a/big bs=4096 count=20 conv=fsync 2>none
tar cf packed.tar a
tar xf packed.tar -C a/c
truncate -s 100 a/big
chmod 600 a/x
touch a/y
find a -type f >found
(cat nowhere || true) 2>none
(rmdir a || true) 2>none
(mkdir a || true) 2>none
rm -r a list sorted found none packed.tar
"""
LINE = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+)(?:<[^>]*>)?(?: ([A-Z]\w+))?")
FD = re.compile(r"^(-?\d+|AT_FDCWD)(?:<(.*)>)?$", re.DOTALL)
STATUSES = STATUS | {errno.ENOTDIR: 0xC0000103, errno.ENOTEMPTY: 0xC0000101,
                     errno.ENXIO: 0xC000000E, errno.ENOSYS: 0xC0000002}
NO_FILE = re.compile(r"^(pipe:|socket:|anon_inode:|\[)")

# Of each call: type of the event, place of the folder's descriptor, of the path.
BY_PATH = {
    "open": ("Create", None, 0), "creat": ("Create", None, 0), "openat": ("Create", 0, 1),
    "openat2": ("Create", 0, 1), "mkdir": ("Create", None, 0), "mkdirat": ("Create", 0, 1),
    "mknod": ("Create", None, 0), "mknodat": ("Create", 0, 1), "symlink": ("Create", None, 1),
    "symlinkat": ("Create", 1, 2), "unlink": ("DeletePath", None, 0),
    "unlinkat": ("DeletePath", 0, 1), "rmdir": ("DeletePath", None, 0),
    "rename": ("RenamePath", None, 1), "renameat": ("RenamePath", 2, 3),
    "renameat2": ("RenamePath", 2, 3), "link": ("SetLinkPath", None, 1),
    "linkat": ("SetLinkPath", 2, 3), "stat": ("QueryInfo", None, 0),
    "lstat": ("QueryInfo", None, 0), "newfstatat": ("QueryInfo", 0, 1),
    "statx": ("QueryInfo", 0, 1), "access": ("QueryInfo", None, 0),
    "faccessat": ("QueryInfo", 0, 1), "faccessat2": ("QueryInfo", 0, 1),
    "truncate": ("SetInfo", None, 0), "chmod": ("SetInfo", None, 0),
    "fchmodat": ("SetInfo", 0, 1), "fchmodat2": ("SetInfo", 0, 1), "chown": ("SetInfo", None, 0),
    "lchown": ("SetInfo", None, 0), "fchownat": ("SetInfo", 0, 1), "utimensat": ("SetInfo", 0, 1),
}
# Type, place of the descriptor.
BY_FD = {
    "close": ("Cleanup", 0), "dup2": ("Cleanup", 1), "dup3": ("Cleanup", 1), "read": ("Read", 0),
    "pread64": ("Read", 0), "readv": ("Read", 0), "write": ("Write", 0), "pwrite64": ("Write", 0),
    "writev": ("Write", 0), "fsync": ("Flush", 0), "fdatasync": ("Flush", 0),
    "getdents64": ("DirEnum", 0), "fstat": ("QueryInfo", 0), "ftruncate": ("SetInfo", 0),
    "fallocate": ("SetInfo", 0), "fchmod": ("SetInfo", 0), "fchown": ("SetInfo", 0),
    "ioctl": ("FSControl", 0),
}
# Places of what is read and of what is written.
COPIES = {"copy_file_range": (0, 2), "sendfile": (1, 0), "splice": (0, 2)}
COUNTED = ("Read", "Write", "DirEnum")


def split_arguments(text):
    """At the commas that are in no string, name or list."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, char in enumerate(text):
        if char == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and char in "[{<(":
            depth += 1
        elif not quoted and char in "]}>)":
            depth -= 1
        elif not quoted and not depth and char == ",":
            parts.append(text[start:at].strip())
            start = at + 1
    return parts + [text[start:].strip()]


def full_path(folder, path):
    """As the events have it: without "." and "//", ".." stays."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    front = "" if path.startswith("/") else folder.rstrip("/")
    return front + "".join(f"/{part}" for part in parts) or "/"


def file_of(argument):
    """The name of a descriptor's file; None: it has none that is an operation's"""
    match = FD.match(argument)
    if not match or not match[2] or match[1] == "AT_FDCWD" or NO_FILE.match(match[2]):
        return None
    return match[2]


def operations_of(name, arguments, result, working):
    """[(type, name of the file, result)] of a call"""
    if name in COPIES:
        places = zip(("Read", "Write"), COPIES[name])
        return [(kind, file_of(arguments[place]), result) for kind, place in places
                if file_of(arguments[place])]
    if name in BY_PATH:
        kind, folder, path = BY_PATH[name]
        text = arguments[path].removesuffix("...")
        if text not in ("NULL", '""'):
            at = FD.match(arguments[folder])[2] if folder is not None else working
            return [(kind, full_path(at, text[1:-1]), result)]
        if arguments[folder].startswith("AT_FDCWD"):
            return [(kind, full_path(FD.match(arguments[folder])[2], ""), result)]
        return [(kind, file_of(arguments[folder]), result)] if file_of(arguments[folder]) else []
    if name in BY_FD:
        kind, place = BY_FD[name]
        if name.startswith("dup") and arguments[0].split("<")[0] == arguments[1].split("<")[0]:
            return []
        return [(kind, file_of(arguments[place]), result)] if file_of(arguments[place]) else []
    return []


def read_strace(path, working):
    """[(type, name, result)] of one thread"""
    operations = []
    for line in path.read_text(errors="surrogateescape").splitlines():
        match = LINE.match(line)
        if not match:
            continue
        name, arguments, result, error = match.groups()
        result = -getattr(errno, error) if error else \
            int(result, 16 if result.startswith("0x") else 10)
        arguments = split_arguments(arguments)
        if name in ("chdir", "fchdir") and not result:
            working = full_path(working, arguments[0][1:-1]) if name == "chdir" else \
                file_of(arguments[0])
        operations += operations_of(name, arguments, result, working)
    return operations


class Trace:
    """FileIo by thread, with the names that were told before, and the ends."""

    def __init__(self, lines, threads):
        self.operations = collections.defaultdict(list)
        self.ends, self.names = {}, {}
        for line in lines:
            if '"FileIo"' not in line:
                continue
            event = json.loads(line)
            kind, fields = event["opcode_name"], event["fields"]
            if kind in ("Name", "FileCreate"):
                self.names[fields["FileObject"]] = fields["FileName"]
            elif kind == "OperationEnd":
                self.ends[fields["IrpPtr"]] = fields
            elif fields.get("TTID") in threads:
                name = fields.get("OpenPath") or fields.get("FileName") or \
                    self.names.get(fields.get("FileKey"))
                self.operations[fields["TTID"]].append((kind, name, fields))


def drop_closes(operations, problems):
    """Without Close, each of which must be behind a Cleanup of the same open file."""
    kept = []
    for kind, name, fields in operations:
        if kind != "Close":
            kept.append((kind, name, fields))
        elif not kept or kept[-1][0] != "Cleanup" or \
                kept[-1][2]["FileObject"] != fields["FileObject"]:
            problems.append(f"Close of {name} without a Cleanup")
    return kept


def is_same(told, wanted, trace):
    kind, name, fields = told
    want_kind, want_name, result = wanted
    end = trace.ends.get(fields["IrpPtr"])
    if kind != want_kind or end is None:
        return False
    # It was told before the file lost its name, and strace looks behind the call.
    if name.removesuffix(" (deleted)") != want_name.removesuffix("(deleted)").rstrip():
        return False
    if kind in COUNTED and result >= 0 and number(end["ExtraInfo"]) != result:
        return False
    return number(end["NtStatus"]) == STATUSES.get(-result if result < 0 else 0)


def compare_thread(tid, wanted, trace):
    problems = []
    told = drop_closes(trace.operations[tid], problems)
    place = 0
    for event in told:
        if place < len(wanted) and is_same(event, wanted[place], trace):
            place += 1
        elif event[0] != "Cleanup" or place < len(wanted) and wanted[place][0] == "Cleanup":
            # What execve and the end of a process close has no call of its own.
            end = trace.ends.get(event[2]["IrpPtr"])
            problems.append(f"thread {tid}: {event[:2]}, ends with {end}, is not "
                            f"{wanted[place] if place < len(wanted) else 'there'}")
            return problems
    if place < len(wanted):
        problems.append(f"thread {tid}: {wanted[place]} is not in the trace")
    return problems


def run(arguments):
    """(problems, lost, summary)"""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(os.path.realpath(folder))
        (folder / "work").mkdir()
        (folder / "script").write_text(SCRIPT)
        loads = start_load(arguments.load, folder)
        try:
            done = subprocess.run(
                [arguments.etw, "record", "--kernel", KINDS, "--stacks", "none", "--buffer-size",
                 "1024", "--buffers", "32", "-o", folder / "all.etl", "--", "strace", "-ff", "-y",
                 "-s1", "-o", folder / "thread", "sh", "../script"], cwd=folder / "work",
                env=dict(os.environ, ETW_RUNTIME_DIR=str(folder), LC_ALL="C",
                         PATH="/usr/bin:/bin"), capture_output=True, text=True, timeout=SECONDS,
                check=False, stdin=subprocess.DEVNULL)
        finally:
            for process in loads:
                process.kill()
                process.wait()
        if "not all can be recorded" in done.stderr or not list(folder.glob("thread.*")):
            skip(done.stderr.strip())
        if done.returncode:
            sys.exit(f"the script ended with {done.returncode}: {done.stderr}")
        lost = LOST.search(done.stdout + done.stderr)
        lost = sum(map(int, lost.groups())) if lost else 1
        if lost:
            return [], lost, ""
        dump = subprocess.run([arguments.etw, "dump", "--json", folder / "all.etl"],
                              capture_output=True, timeout=SECONDS, check=True)
        wanted = {int(path.suffix[1:]): read_strace(path, str(folder / "work"))
                  for path in folder.glob("thread.*")}
    trace = Trace(dump.stdout.decode("utf-8", "replace").splitlines(), wanted)
    problems = [problem for tid, operations in wanted.items()
                for problem in compare_thread(tid, operations, trace)]
    return problems, 0, (f"{sum(map(len, wanted.values()))} operations of {len(wanted)} threads, "
                         f"{sum(map(len, trace.operations.values()))} events of theirs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw", required=True)
    parser.add_argument("--load", type=int, default=2)
    arguments = parser.parse_args()
    arguments.etw = os.path.realpath(arguments.etw)
    if os.geteuid():
        skip("needs root")
    if not shutil.which("strace"):
        skip("there is no strace")
    sys.exit(until_whole(run, arguments))


if __name__ == "__main__":
    main()
