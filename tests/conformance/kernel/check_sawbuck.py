#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Process and Image events of all versions, 32 and 64 bit, hold the values that were written.

    check_sawbuck.py DUMP_PAYLOAD

The files of classic-32bit/ were written by a test program with known modules and processes
(reference/sawbuck-expected.json): each version's file holds each of them, as far as the version has
the fields. Files named _64_ have 64-bit payloads in 32-bit events.
Exit status: 0 all hold, 1 one does not, 77 no data.
"""

import json
import sys

from kernel_common import as_number, classic_events, decode, fields_of, find_data_dir

# Our names of the expected values; a version that lacks one does not have it.
MODULE_NAMES = {"base": ("ImageBase", "BaseAddress"), "size": ("ImageSize", "ModuleSize"),
                "checksum": ("ImageChecksum",), "timestamp": ("TimeDateStamp",),
                "name": ("FileName", "ImageFileName")}
PROCESS_NAMES = {"pid": ("ProcessId",), "parent": ("ParentId",), "session": ("SessionId",),
                 "image": ("ImageFileName",), "cmd": ("CommandLine",)}

INCOMPLETE = {"process_data_32_v1.etl"}  # one process only


def as_written(expected, names, fields):
    """Whether the event holds the expected values, all that its version has."""
    compared = 0
    for key, value in expected.items():
        name = next((name for name in names[key] if name in fields), None)
        if name is None:
            continue
        ours = fields[name] if isinstance(value, str) else as_number(fields[name])
        if name == "ImageSize":
            ours &= 0xFFFFFFFF  # viewer-test_data_64_v2.etl: 4 bytes of the writer's padding follow
        if ours != value:
            return False
        compared += 1
    return compared >= 3


def main():
    data_dir = find_data_dir()
    expected = json.loads((data_dir / "reference" / "sawbuck-expected.json").read_text())
    failures = events = 0
    for path in sorted((data_dir / "classic-32bit").glob("*.etl")):
        requests = [request for _, request in classic_events(path)]
        seen = {"modules": set(), "processes": set()}
        for request, answer in zip(requests, decode(sys.argv[1], requests), strict=True):
            if answer["class"] not in ("Image", "Process"):
                continue
            events += 1
            what, names = (("modules", MODULE_NAMES) if answer["class"] == "Image"
                           else ("processes", PROCESS_NAMES))
            found = [i for i, entry in enumerate(expected[what])
                     if as_written(entry, names, fields_of(answer))]
            if answer["status"] != "complete" or not found:
                print(f"{path.name}: {answer['status']}: {answer['fields']}")
                failures += 1
            seen[what].update(found)
        what = "processes" if path.name.startswith("process") else "modules"
        missing = set(range(len(expected[what]))) - seen[what]
        if missing and path.name not in INCOMPLETE:
            print(f"{path.name}: {what} {sorted(missing)} do not occur")
            failures += 1
    print(f"{events - failures} of {events} events hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
