#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record files with sessions of every kind; each must satisfy the walker's strict rules.

    check_files.py RECORD_FILES [ARGUMENT...]

The number of events that the session says it has put into the file is what the walker must find in
its data buffers.

Exit status: 0 all hold, 1 a problem, 77 with the reason when the program cannot do its part here.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
DATA_BUFFER = re.compile(r" type=0 .* events=(\d+)$", re.MULTILINE)
WALKER = pathlib.Path(__file__).resolve().parent.parent / "walker" / "etl_walk.py"


def walk(*arguments):
    """The walker's exit status and output."""
    done = subprocess.run([sys.executable, WALKER, *arguments], capture_output=True, text=True,
                          check=False, timeout=1500)
    return done.returncode, done.stdout + done.stderr


def check_file(path, count):
    """Problems of one file, as lines."""
    status, output = walk("check", "--strict", path)
    problems = [output] if status else []
    status, output = walk("dump-buffers", path)
    if status:
        return problems + [output]
    found = sum(int(events) for events in DATA_BUFFER.findall(output))
    if found != count:
        problems.append(f"{path}: {found} events, the session says {count}\n")
    return problems


def main():
    """See the module's text."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="etw-session-") as folder:
        done = subprocess.run([*sys.argv[1:], folder], capture_output=True, text=True, check=False,
                              timeout=1500)
        if done.returncode:
            print(done.stdout, done.stderr, sep="", end="")
            return SKIPPED if done.returncode == SKIPPED else 1
        for line in done.stdout.splitlines():
            path, count = line.rsplit(" ", 1)
            problems += check_file(path, int(count))
    sys.stdout.writelines(problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
