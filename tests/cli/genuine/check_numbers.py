#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""summary, info and dump say the same of each genuine trace, and of damaged copies of some.

    check_numbers.py ETW

Events, decoded events and the sentence of what was lost; the sums of info's tables too.
Exit status: 0 they agree, 1 not, 77 no data.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from check_decode_share import find_data_dir

SMALL = 400000  # bytes; traces up to here are also damaged


def number(text):
    return int(text.replace(",", ""))


def run(etw, *words):
    environment = {**os.environ, "ETW_PROVIDERS_DIR": "/nonexistent"}
    result = subprocess.run([etw, *words], capture_output=True, text=True, errors="replace",
                            env=environment, check=False)
    return result.returncode, result.stdout, result.stderr


def sums(info):
    """Every way in which info counts events."""
    return [info["events"], sum(info["events_by_header"].values()),
            sum(info["events_by_processor"].values()),
            sum(kind["count"] for kind in info["events_by_kind"]),
            sum(buffer["events"] for buffer in info["buffer_list"])]


def check_file(etw, path):
    status, page, _ = run(etw, str(path))
    statuses = [status, *(run(etw, *words, str(path))[0] for words in (["info", "--json"],))]
    if 1 in statuses:
        return f"status {statuses}" if statuses != [1, 1] else None
    joined = re.sub(r"\n {10}", " ", page)
    info = json.loads(run(etw, "info", "--json", "--buffers", str(path))[1])
    text = run(etw, "info", str(path))
    dumped = run(etw, "dump", str(path))
    told = re.search(r"([\d,]+) events? shown of ([\d,]+) read; (.*)", dumped[2])
    events = number(re.search(r"^Events +([\d,]+)", joined, re.M)[1])
    decoded = number(re.search(r"^Decoded .*?\(([\d,]+) of", joined, re.M)[1])
    lost = page.rstrip().splitlines()[-1]
    losses = [lost, text[1].rstrip().splitlines()[-1], told[3]]
    counts = [events, number(told[1]) - info["loss_marks"], *sums(info)]
    if len(set(counts)) > 1 or decoded != info["decoded"]:
        return f"events {counts}, decoded {decoded} and {info['decoded']}"
    if len(set(losses)) > 1 or len({*statuses, text[0], dumped[0]}) > 1:
        return f"{losses}, statuses {statuses} {text[0]} {dumped[0]}"
    if dumped[1].count("\n") != number(told[1]):
        return f"{dumped[1].count(chr(10))} lines, {told[1]} events shown"
    return None


def damage(data, folder):
    """Copies that are cut in the middle of a buffer, have a hole, or something else behind them."""
    middle = len(data) // 2 + 100
    copies = {"cut": data[:middle], "hole": data[:middle] + bytes(3000) + data[middle + 3000:],
              "tail": data + b"\xff\x02" * 2500}
    for name, copy in copies.items():
        path = pathlib.Path(folder) / f"{name}.etl"
        path.write_bytes(copy)
        yield path


def main():
    failures = files = 0
    data_dir = find_data_dir()
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(data_dir.glob("*/*.etl")):
            paths = [path]
            if path.stat().st_size < SMALL:
                paths.extend(damage(path.read_bytes(), folder))
            for one in paths:
                problem = check_file(sys.argv[1], one)
                files += 1
                if problem:
                    print(f"{path.name}, {one.name}: {problem}")
                    failures += 1
    print(f"{files} files, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
