#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of the genuine traces decodes with every byte consumed.

    check_decode_share.py ETW

Prints events and fully decoded events per trace, first with what the trace and the program know,
the table of known providers included, then with the genuine manifests and MOF files too. The
first table, with the events that nothing in the trace or built in describes, must be that of
docs/format/decode-share.md. Every kind of event (classic ones: by their
opcode) with bytes left over or cut, and every provider's events without a schema, must be in
docs/format/decode-leftovers.md with the same numbers, and nothing else may be there. Event counts
are held against facts.json.
Exit status: 0 at least 99.4 % without the files, and with them at most 0.5 % of the events that
have a schema not to the last byte; 1 else, or with a wrong count or list; 77 no data.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

WANTED_SHARE = 0.994
LEFT_SHARE_MAX = 0.005
SCHEMA_FOLDERS = ("manifests", "mof", "wevt", "mc")
LEFT_STATUSES = ("extra", "truncated", "malformed")
ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = ROOT / "docs" / "format" / "decode-leftovers.md"
SHARES = ROOT / "docs" / "format" / "decode-share.md"
README = ROOT / "README.md"


def find_data_dir():
    path = pathlib.Path(os.environ.get("ETW_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (path / "facts.json").is_file():
        print(f"skipped: no genuine traces at {path} (set ETW_TEST_DATA)")
        sys.exit(77)
    return path


def read_list():
    """Events by kind (GUID, id, version, status), and without a schema by GUID, as listed."""
    left, unknown = collections.Counter(), collections.Counter()
    for line in LIST.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[5].isdigit():
            left[cells[1], int(cells[2]), int(cells[3]), cells[4]] = int(cells[5])
        elif len(cells) == 4 and cells[2].replace(",", "").isdigit():
            unknown[cells[1]] = int(cells[2].replace(",", ""))
    return left, unknown


def read_shares():
    """By trace: events, decoded ones, those that only the table may describe, decoded of these."""
    shares = {}
    for line in SHARES.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[1].replace(",", "").isdigit():
            shares[cells[0]] = tuple(int(cell.replace(",", "")) for cell in cells[1:5])
    return shares


def count_undescribed(kinds):
    """Events that the trace, a file and the program itself do not describe; how many decode."""
    undescribed = decoded = 0
    for kind in kinds:
        if kind.get("schema") == "known":
            undescribed += kind["count"]
            decoded += kind.get("complete", 0)
        elif "schema" not in kind:
            undescribed += kind.get("no-schema", 0)
    return undescribed, decoded


class Share:
    """Counts over all traces with one set of schemas."""

    def __init__(self, etw, options):
        self.command = [etw, "info", "--json", *options]
        self.events = self.decoded = self.wrong = 0
        self.left = collections.Counter()
        self.unknown = collections.Counter()
        self.names = {}
        self.shares = {}

    def add_kinds(self, kinds):
        for kind in kinds:
            self.names[kind["guid"]] = kind.get("provider", "?")
            self.unknown[kind["guid"]] += kind.get("no-schema", 0)
            for status in LEFT_STATUSES:
                key = kind["guid"], kind["id"] or kind["opcode"], kind["version"], status
                self.left[key] += kind.get(status, 0)

    def add_trace(self, path, fact):
        result = subprocess.run([*self.command, str(path)], capture_output=True, check=False)
        if result.returncode:
            print(f"{fact['file']}: status {result.returncode}: {result.stderr.decode()}")
            self.wrong += 1
            return
        info = json.loads(result.stdout)
        if info["events"] != fact["events"]:
            print(f"{fact['file']}: {info['events']} events, expected {fact['events']}")
            self.wrong += 1
        print(f"{info['events']:9,} {info['decoded']:9,} "
              f"{info['decoded'] / max(info['events'], 1):7.1%}  {fact['file']}")
        self.events += info["events"]
        self.decoded += info["decoded"]
        self.add_kinds(info["events_by_kind"])
        self.shares[fact["file"]] = (info["events"], info["decoded"],
                                     *count_undescribed(info["events_by_kind"]))

    def run(self, data_dir):
        for fact in json.loads((data_dir / "facts.json").read_text(encoding="utf-8")):
            self.add_trace(data_dir / fact["file"], fact)
        # A Counter keeps what was counted as 0.
        self.left, self.unknown = +self.left, +self.unknown
        print(f"{self.events:9,} {self.decoded:9,} "
              f"{self.decoded / max(self.events, 1):7.1%}  all")

    def left_share(self):
        return self.left.total() / max(self.events - self.unknown.total(), 1)


def compare(what, found, listed, name_of):
    """The number of entries that differ from the list."""
    wrong = 0
    for key in sorted(found | listed, key=str):
        note = ""
        if found[key] != listed[key]:
            note = f", but {LIST.name} has {listed[key]}"
            wrong += 1
        print(f"{found[key]:9,}  {what}: {name_of(key)}{note}")
    return wrong


def compare_shares(found, listed):
    """The number of traces that differ from the table."""
    wrong = 0
    found["all"] = tuple(map(sum, zip(*found.values())))
    for trace in sorted(found.keys() | listed.keys()):
        if found.get(trace) != listed.get(trace):
            print(f"{trace}: {found.get(trace)}, but {SHARES.name} has {listed.get(trace)}")
            wrong += 1
    return wrong


def readme_errors(share):
    """How many of these sentences README.md lacks: the "all" row of the table in words."""
    events, decoded, undescribed, of_these = share.shares["all"]
    page = " ".join(README.read_text(encoding="utf-8").split())
    sentences = (f"Of the {events:,} events of {len(share.shares) - 1} genuine traces",
                 f"all but {events - decoded} decode",
                 f"{undescribed:,} events are described by nothing but the table",
                 f"{of_these / undescribed:.2%}".replace("%", " %") + " of them decode")
    missing = [sentence for sentence in sentences if sentence not in page]
    for sentence in missing:
        print(f'README.md does not say "{sentence}"')
    return len(missing)


def main():
    data_dir = find_data_dir()
    alone = Share(sys.argv[1], [])
    alone.run(data_dir)
    options = [option for folder in SCHEMA_FOLDERS
               for option in ("--manifest", str(data_dir / folder))]
    helped = Share(sys.argv[1], options)
    print("with manifests:")
    helped.run(data_dir)
    left, unknown = read_list()
    wrong = alone.wrong + helped.wrong + compare_shares(alone.shares, read_shares())
    wrong += readme_errors(alone)
    wrong += compare("not to the last byte", helped.left, left,
                     lambda key: f"{helped.names.get(key[0])} {key}")
    wrong += compare("without schema", helped.unknown, unknown,
                     lambda key: f"{helped.names.get(key)} {key}")
    print(f"{helped.left.total()} of {helped.events - helped.unknown.total()} events that have a "
          f"schema are not decoded to the last byte: {helped.left_share():.2%}")
    if alone.decoded < WANTED_SHARE * alone.events or helped.left_share() > LEFT_SHARE_MAX:
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
