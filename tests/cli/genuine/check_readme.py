#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README.md shows of a genuine trace is what etw prints.

    check_readme.py ETW

The lines of the block that begins with `$ etw net.4.5.2.x86.etl` stand in the output in their
order, without a gap but at `...`.
Exit status: 0 they do, 1 not, 77 no data.
"""

import os
import pathlib
import subprocess
import sys

from check_decode_share import find_data_dir

README = pathlib.Path(__file__).resolve().parents[3] / "README.md"
TRACE = "net.4.5.2.x86.etl"


def shown_pieces():
    block = README.read_text(encoding="utf-8").split(f"$ etw {TRACE}\n")[1].split("\n```")[0]
    return [piece.strip("\n").splitlines() for piece in block.split("\n...\n")]


def find_piece(lines, piece, start):
    for at in range(start, len(lines) - len(piece) + 1):
        if lines[at:at + len(piece)] == piece:
            return at + len(piece)
    return None


def main():
    folder = find_data_dir() / "merged-perfview"
    environment = {**os.environ, "COLUMNS": "80", "ETW_PROVIDERS_DIR": "/nonexistent"}
    result = subprocess.run([os.path.abspath(sys.argv[1]), TRACE], cwd=folder, env=environment,
                            capture_output=True, text=True, check=True)
    lines = result.stdout.splitlines()
    end = 0
    for piece in shown_pieces():
        end = find_piece(lines, piece, end)
        if end is None:
            print("not in the output, or not there:", *piece, sep="\n")
            return 1
    print(f"{len(lines)} lines are as README.md shows them")
    return 0 if end == len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
