#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every line of `etw dump --json` over the genuine traces is an object that loses nothing.

    check_json.py ETW

Each line is valid JSON without a repeated key, and with keys that docs/format/json.md has; the
number of lines is that of the reference, every event not fully decoded carries its payload, the
addresses are those of the reference files, and no event that is called complete has characters in
its fields that no text has. The header event has its true times.
Exit status: 0 all hold, 1 not, 77 no data.
"""

import json
import lzma
import pathlib
import re
import sys
import subprocess

from check_decode_share import find_data_dir

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "format" / "json.md"
DOCUMENTED = set(re.findall(r"`([a-z_]+)`", PAGE.read_text(encoding="utf-8")))
REQUIRED = {"time", "guid", "version", "level", "opcode", "cpu", "status", "address"}


def refuse_repeated(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"repeated keys in {keys}")
    return dict(pairs)


# Controls but tab and line ends, surrogates, private use, what stands for bytes that are no text.
ILLEGIBLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ue000-\uf8ff\ufffd-\uffff"
                       "\U000f0000-\U0010ffff]")


def illegible(value):
    """The first text within a value that cannot be text, or None."""
    if isinstance(value, str):
        return value if ILLEGIBLE.search(value) else None
    if isinstance(value, dict):
        value = list(value.values())
    return next(filter(None, map(illegible, value)), None) if isinstance(value, list) else None


def check_event(event):
    """Why an event's object is not as documented, or None."""
    if not REQUIRED <= event.keys():
        return f"lacks {REQUIRED - event.keys()}"
    unknown = {key for key in event.keys() - DOCUMENTED if not re.match(r"item_\d+(#\d+)?$", key)}
    if unknown:
        return f"has {unknown}, which docs/format/json.md has not"
    if event["status"] != "complete" and ("payload" not in event or "reason" not in event):
        return "is not fully decoded, yet has no payload or reason"
    if event["status"] != "no-schema" and "fields" not in event:
        return "has a schema, yet no fields"
    if event.get("provider") == "EventTrace" and event["opcode"] == 0:
        times = [int(event["fields"][name]) for name in ("BootTime", "StartTime")]
        if not 0 <= times[0] < times[1] or not 10**17 < times[1] < 2 * 10**17:
            return f"is the header event with the times {times}"
    if event["status"] == "complete" and illegible(event["fields"]):
        return f"is complete with the text {illegible(event['fields'])!r}"
    return None


def reference_addresses(data_dir, name):
    path = data_dir / "reference" / "events" / (name.replace("/", "__") + ".jsonl.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return {f"{event['buf']}:{event['off']}" for event in map(json.loads, lines)}


def check_file(etw, data_dir, name):
    result = subprocess.run([etw, "dump", "--json", str(data_dir / name)], capture_output=True,
                            check=False)
    if result.returncode:
        yield f"status {result.returncode}: {result.stderr.decode()}"
    addresses = set()
    for number, line in enumerate(result.stdout.splitlines(), 1):
        try:
            event = json.loads(line, object_pairs_hook=refuse_repeated)
        except ValueError as error:
            yield f"line {number}: {error}"
            continue
        problem = check_event(event)
        if problem:
            yield f"line {number} {problem}"
        if not event.get("synthesised"):
            addresses.add(event["address"])
    expected = reference_addresses(data_dir, name)
    if addresses != expected:
        yield f"{len(addresses)} addresses, expected {len(expected)}"


def main():
    data_dir = find_data_dir()
    failures = events = 0
    for fact in json.loads((data_dir / "facts.json").read_text(encoding="utf-8")):
        for problem in check_file(sys.argv[1], data_dir, fact["file"]):
            print(f"{fact['file']}: {problem}")
            failures += 1
        events += fact["events"]
    print(f"{events} events, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
