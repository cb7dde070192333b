#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""etw record -- COMMAND as root: the command's processes with parent, duration, CPU and end.

    check_tree.py ETW END_ORDER

Exit status: 0 as it should be, 1 not, 77 skipped: the kernel cannot be recorded here,
or no small disk can be mounted.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SECONDS = 1500  # a command that hangs
# A busy shell, a child that fails, a grandchild, and one that a signal ends.
WORK = ("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "
        "sh -c 'exit 3'; sh -c 'sleep 0.1; true'; sh -c 'kill -9 $$'; exit 4")
ROW = re.compile(r"^\s*([\d.]+ [a-z]+|-)\s+(?:([\d.]+ [a-z]+)\s+)?"
                 r"(signal \d+|\d+|still running|end not seen)"
                 r"\s+(\d+)\s+(\d+)\s\s( *)(\S.*)$")


def fail(text, sentence):
    print(text)
    print(f"check_tree: {sentence}", file=sys.stderr)
    sys.exit(1)


def read_rows(text):
    """Return [(cpu, exit, pid, parent, depth, command, duration)] of the tree."""
    rows = []
    lines = text.split("The command's processes", 1)[-1].splitlines()[2:]
    for line in lines:
        match = ROW.match(line)
        if not match:
            break
        rows.append((match[2], match[3], int(match[4]), int(match[5]), len(match[6]) // 2,
                     match[7], match[1]))
    return rows


def check(text):
    rows = read_rows(text)
    wanted = [(0, "4", "sh -c \"i=0;"), (1, "3", "sh -c \"exit 3\""),
              (1, "0", "sh -c \"sleep 0.1; true\""), (2, "0", "sleep 0.1"),
              (1, "signal 9", "sh -c \"kill -9 $$\"")]
    if len(rows) != len(wanted):
        fail(text, f"{len(rows)} processes, not {len(wanted)}")
    for row, (depth, status, command) in zip(rows, wanted):
        if row[4] != depth or row[1] != status or not row[5].startswith(command):
            fail(text, f"{row} is not {command} at depth {depth} with {status}")
    for row in rows[1:]:
        if row[3] != rows[2 if row[4] == 2 else 0][2]:
            fail(text, f"{row} has another parent")
    if not rows[0][0] or rows[0][0] == "0 s":
        fail(text, "the busy shell has no CPU time")
    if "lost: 0 events, 0 buffers; the file is undamaged" not in text:
        fail(text, "something was lost")


def environment_of(folder):
    run = pathlib.Path(folder) / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    return dict(os.environ, ETW_RUNTIME_DIR=str(run), ETWD_IDLE_MS="200")


def start(etw, folder, *arguments):
    return subprocess.Popen([etw, "record", *arguments], cwd=folder, env=environment_of(folder),
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def record(etw, folder, *arguments):
    with start(etw, folder, *arguments) as recorder:
        said = recorder.communicate(timeout=SECONDS)[1]
    return recorder.returncode, said


def has_session(etw, folder):
    return subprocess.run([etw, "sessions", "--json"], env=environment_of(folder), check=True,
                          capture_output=True, timeout=SECONDS).stdout != b""


def check_running(etw, folder):
    """What outlives the recording is still running: a shell, and what reads from the pipe."""
    wanted = [("still running", 'sh -c "cat pipe; exit 4"'), ("still running", "cat pipe")]
    pipe = pathlib.Path(folder) / "pipe"
    os.mkfifo(pipe)
    # On a loaded machine the second may begin when the recording is over.
    for duration in ("0.5", "4", "30"):
        with start(etw, folder, "--duration", duration, "-o", f"r{duration}.etl", "--",
                   "sh", "-c", "cat pipe; exit 4") as recorder:
            with open(pipe, "wb"):
                while has_session(etw, folder):
                    time.sleep(0.05)
            said = recorder.communicate(timeout=SECONDS)[1]
        states = [(row[1], row[5]) for row in read_rows(said)]
        if states == wanted:
            return
        if states != wanted[:1]:
            break
    fail(said, "the processes that outlived the recording are not still running")


def check_end_orders(etw, folder, program):
    """Any thread may end a process, or take another program: its end is seen all the same."""
    work = f"{program} thread; {program} exec; exit 5"
    status, said = record(etw, folder, "-o", "o.etl", "--", "sh", "-c", work)
    rows = read_rows(said)
    if status != 5 or [row[1] for row in rows] != ["5", "4", "4"]:
        fail(said, "the ends of processes that a thread ended are not seen")
    if any(row[6] == "-" for row in rows):
        fail(said, "a process has no duration")


def check_only_command(etw, folder):
    """Its process is made before the recording, and counts from when it becomes the command."""
    status, said = record(etw, folder, "--only-command", "-o", "c.etl", "--", "sh", "-c",
                          "sleep 0.1; exit 6")
    rows = read_rows(said)
    if status != 6 or [row[1] for row in rows] != ["6", "0"]:
        fail(said, "the command alone is not told with its child")
    if any(row[6] == "-" for row in rows):
        fail(said, "of the command alone a process has no duration")
    causes = re.findall(r"^ *((?:incomplete|lost), .*)$", said, re.MULTILINE)
    if len(causes) != len(set(causes)):
        fail(said, "a cause of loss is told twice")


def check_unseen(etw, folder):
    """Where the file ended early nobody knows: neither that it ended nor that it ran."""
    disk = pathlib.Path(folder) / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk],
                      check=False).returncode:
        print("skipped: no small disk can be mounted here; all else holds")
        sys.exit(SKIPPED)
    try:
        # Small buffers, and enough processes that the command's start is in the file.
        work = ("i=0; while [ $i -lt 300 ]; do i=$((i+1)); /bin/true; done; "
                "head -c 4m /dev/zero >disk/ballast; exit 0")
        status, said = record(etw, folder, "--buffer-size", "4", "-o", "disk/t.etl", "--",
                              "sh", "-c", work)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)
    rows = read_rows(said)
    if status != 1 or "the recording is incomplete" not in said:
        fail(said, "a full disk is not told")
    if not rows or rows[0][1] != "end not seen":
        fail(said, "the command's end was seen, or it is said to run")


def main(etw, end_order):
    with tempfile.TemporaryDirectory() as folder:
        status, said = record(etw, folder, "-o", "t.etl", "--", "sh", "-c", WORK)
        if "kernel events are not collected" in said or os.geteuid():
            print("skipped:", said.splitlines()[0] if said else "not root")
            return SKIPPED
        if status != 4:
            fail(said, f"exit status {status}, not the command's")
        check(said)
        check_running(etw, folder)
        check_end_orders(etw, folder, end_order)
        check_only_command(etw, folder)
        check_unseen(etw, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(os.path.abspath, sys.argv[1:3])))
