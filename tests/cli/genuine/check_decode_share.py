#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of the genuine traces decodes with every byte consumed.

    check_decode_share.py ETW

Prints events and fully decoded events per trace and of all; without manifests from outside. Event
counts are held against facts.json.
Exit status: 0 at least 80 %, 1 less or a wrong count, 77 no data.
"""

import json
import os
import pathlib
import subprocess
import sys

WANTED_SHARE = 0.80
ROOT = pathlib.Path(__file__).resolve().parents[3]


def find_data_dir():
    path = pathlib.Path(os.environ.get("ETW_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (path / "facts.json").is_file():
        print(f"skipped: no genuine traces at {path} (set ETW_TEST_DATA)")
        sys.exit(77)
    return path


def main():
    data_dir = find_data_dir()
    events = decoded = wrong = 0
    for fact in json.loads((data_dir / "facts.json").read_text(encoding="utf-8")):
        result = subprocess.run([sys.argv[1], "info", "--json", str(data_dir / fact["file"])],
                                capture_output=True, check=False)
        if result.returncode:
            print(f"{fact['file']}: status {result.returncode}: {result.stderr.decode()}")
            wrong += 1
            continue
        info = json.loads(result.stdout)
        if info["events"] != fact["events"]:
            print(f"{fact['file']}: {info['events']} events, expected {fact['events']}")
            wrong += 1
        print(f"{info['events']:9,} {info['decoded']:9,} "
              f"{info['decoded'] / max(info['events'], 1):7.1%}  {fact['file']}")
        events += info["events"]
        decoded += info["decoded"]
    print(f"{events:9,} {decoded:9,} {decoded / max(events, 1):7.1%}  all")
    return 1 if wrong or decoded < WANTED_SHARE * events else 0


if __name__ == "__main__":
    sys.exit(main())
