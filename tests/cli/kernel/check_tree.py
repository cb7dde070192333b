#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""etw record -- COMMAND as root: the command's processes with parent, duration, CPU and end.

    check_tree.py ETW

Exit status: 0 as it should be, 1 not, 77 skipped: the kernel cannot be recorded here.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

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
    """Return [(cpu, exit, pid, parent, depth, command)] of the tree."""
    rows = []
    lines = text.split("The command's processes", 1)[-1].splitlines()[2:]
    for line in lines:
        match = ROW.match(line)
        if not match:
            break
        rows.append((match[2], match[3], int(match[4]), int(match[5]), len(match[6]) // 2,
                     match[7]))
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


def record(etw, folder, *arguments):
    run = pathlib.Path(folder) / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(run), ETWD_IDLE_MS="200")
    return subprocess.run([etw, "record", *arguments], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
                          text=True)


def check_running(etw, folder):
    """What outlives the recording is still running."""
    result = record(etw, folder, "--duration", "0.5", "-o", "r.etl", "--",
                    "sh", "-c", "sleep 1.5; exit 4")
    states = [(row[1], row[5]) for row in read_rows(result.stderr)]
    if states != [("still running", 'sh -c "sleep 1.5; exit 4"'), ("still running", "sleep 1.5")]:
        fail(result.stderr, "the processes that outlived the recording are not still running")


def check_unseen(etw, folder):
    """Where the file ended early nobody knows: neither that it ended nor that it ran."""
    disk = pathlib.Path(folder) / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk],
                      check=False).returncode:
        return
    try:
        # Small buffers, and enough processes that the command's start is in the file.
        work = ("i=0; while [ $i -lt 300 ]; do i=$((i+1)); /bin/true; done; "
                "head -c 4m /dev/zero >disk/ballast; exit 0")
        result = record(etw, folder, "--buffer-size", "4", "-o", "disk/t.etl", "--",
                        "sh", "-c", work)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)
    rows = read_rows(result.stderr)
    if result.returncode != 1 or "the recording is incomplete" not in result.stderr:
        fail(result.stderr, "a full disk is not told")
    if not rows or rows[0][1] != "end not seen":
        fail(result.stderr, "the command's end was seen, or it is said to run")


def main(etw):
    with tempfile.TemporaryDirectory() as folder:
        result = record(etw, folder, "-o", "t.etl", "--", "sh", "-c", WORK)
        if "not all of the kernel can be recorded" in result.stderr or os.geteuid():
            print(result.stderr.splitlines()[0] if result.stderr else "not root")
            return 77
        if result.returncode != 4:
            fail(result.stderr, f"exit status {result.returncode}, not the command's")
        check(result.stderr)
        check_running(etw, folder)
        check_unseen(etw, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
