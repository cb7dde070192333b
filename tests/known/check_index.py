#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the index says what the table says, provider by provider.

    check_index.py KNOWN_DUMP INDEX TABLE

Reads the table with its own reader (scripts/known_table.py), which shares nothing with the program
that makes the index, and compares it with what known_dump finds in the index. Files that are not in
the form that the table is written in are told, too, but for those that begin with a comment.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import known_table

IN_TYPES = dict(zip(
    "UnicodeString AnsiString Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double "
    "Boolean Binary GUID Pointer FILETIME SYSTEMTIME SID HexInt32 HexInt64 CountedUnicodeString "
    "CountedAnsiString".split(), range(1, 24)))
OUT_TYPES = {"string": 1, "dateTime": 2, "unsignedByte": 4, "unsignedShort": 6, "int": 7,
             "unsignedInt": 8, "unsignedLong": 10, "boolean": 13, "GUID": 14, "hexBinary": 15,
             "HexInt8": 16, "HexInt16": 17, "HexInt32": 18, "HexInt64": 19, "PID": 20, "TID": 21,
             "Port": 22, "IPv4": 23, "IPv6": 24, "SocketAddress": 25, "NTSTATUS": 31, "HResult": 32}
LENGTH, LENGTH_FIELD, COUNT, COUNT_FIELD, MAP, STRUCT, OUT = (1 << i for i in range(7))
MARKS = ("incomplete", "inferred", "doubt")
INDEX_BYTES_MAX = 6_000_000


def from_table_fields(fields):
    result, places = [], {}
    for name, kind, *more in fields:
        more = more[0] if more else {}
        flags, field = 0, {"name": name, "length": 0, "count": 0}
        if kind == "Struct":
            flags |= STRUCT
        else:
            field["in"] = IN_TYPES[kind]
        if "out" in more:
            flags |= OUT
            field["out"] = OUT_TYPES[more["out"]]
        for key, number, place in (("length", LENGTH, LENGTH_FIELD), ("count", COUNT, COUNT_FIELD)):
            if key in more:
                is_number = isinstance(more[key], int)
                flags |= number if is_number else place
                field[key] = more[key] if is_number else places[more[key]]
        if "map" in more:
            flags |= MAP
            field["map"] = more["map"]
        if "fields" in more:
            field["fields"] = from_table_fields(more["fields"])
        field["flags"] = flags
        places.setdefault(name, len(result))
        result.append(field)
    return result


def from_index_fields(fields):
    for field in fields:
        if field["flags"] & STRUCT:
            del field["in"]
        if not field["flags"] & OUT:
            del field["out"]
        if "fields" in field:
            from_index_fields(field["fields"])
    return fields


def marks_of(template):
    return sum(1 << i for i, mark in enumerate(MARKS) if template and template.get(mark))


def from_table_event(event, provider):
    result = {"id": event["id"], "version": event.get("version", 0),
              "level": event.get("level", 0), "keywords": int(event.get("keywords", "0"), 16),
              "keywordnames": "\n".join(event.get("keywordnames", [])),
              "symbol": event.get("symbol", ""), "layouts": []}
    for key in ("task", "opcode", "channel"):
        value = event.get(key, 0)
        result[key] = value if isinstance(value, int) else 0
        result[key + "name"] = value if isinstance(value, str) else ""
    for layout in [event] + event.get("others", []):
        template = layout.get("template")
        builds = layout.get("builds", "")
        if layout is event and not builds and "from" not in layout:
            builds = provider.get("builds", "")
        out = {"marks": marks_of(template), "builds": builds, "from": layout.get("from", "")}
        if template:
            out["fields"] = from_table_fields(template["fields"])
        result["layouts"].append(out)
    return result


def from_table_class(event):
    template = event.get("template")
    fields = []
    for name, kind, *more in template["fields"] if template else []:
        more = more[0] if more else {}
        fields.append({"name": name, "type": kind, "count": more.get("count", 0),
                       **{key: more.get(key, "")
                          for key in ("extension", "termination", "format")}})
    return {"type": event["type"], "class": event["class"], "version": event.get("version", 65535),
            "name": event["name"], "opcode": event.get("opcode", ""), "marks": marks_of(template),
            "fields": fields}


def from_table_names(provider):
    lists = {}
    for key, base in (("keywords", 16), ("tasks", 10), ("levels", 10), ("channels", 10)):
        lists[key] = [[int(value, base), name, -1]
                      for value, name in sorted(provider.get(key, {}).items(),
                                                key=lambda item: int(item[0], base))]
    lists["opcodes"] = []
    for value, names in provider.get("opcodes", {}).items():
        for name, tasks in [(names, [-1])] if isinstance(names, str) else names.items():
            lists["opcodes"] += [[int(value), name, task] for task in tasks]
    return lists


def from_table(provider):
    return {"guid": provider["guid"] or "", "name": provider["name"],
            "formerly": "\n".join(provider.get("formerly", [])),
            "builds": provider.get("builds", ""), "sources": " ".join(provider["sources"]),
            **from_table_names(provider),
            "maps": [{"bits": int(entries["kind"] == "bits"), "name": name,
                      "entries": entries["entries"]}
                     for name, entries in sorted(provider.get("maps", {}).items())],
            "events": [from_table_event(event, provider) for event in provider.get("events", [])],
            "classic": [from_table_class(event) for event in provider.get("classic", [])]}


def from_index(line):
    provider = json.loads(line)
    for event in provider["events"]:
        for layout in event["layouts"]:
            if "fields" in layout:
                from_index_fields(layout["fields"])
    return provider


def key_of(provider):
    return provider["guid"] or provider["name"]


def is_small(index):
    """Whether the index is within the 6 MB that docs/performance.md allows it."""
    count = pathlib.Path(index).stat().st_size
    if count > INDEX_BYTES_MAX:
        print(f"{index}: {count:,} bytes, more than {INDEX_BYTES_MAX:,}")
    return count <= INDEX_BYTES_MAX


def main(dump, index, table):
    lines = subprocess.run([dump, index], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in lines.splitlines():
        provider = from_index(line)
        found[key_of(provider)] = provider
    different = layouts = untidy = 0
    files = sorted(pathlib.Path(table).glob("*.txt"))
    for path in files:
        text = path.read_text(encoding="utf-8")
        provider = known_table.read_provider(text)
        if "#" not in text[:1] and text != known_table.write_provider(
                known_table.number_templates(provider)):
            print(f"{path.name}: not in the form of the table; "
                  "scripts/import_known_providers --tidy writes it so")
            untidy += 1
        wanted = from_table(provider)
        layouts += sum(len(event["layouts"]) for event in wanted["events"])
        got = found.pop(key_of(wanted), None)
        if got != wanted:
            different += 1
            keys = [key for key in wanted if not got or got.get(key) != wanted[key]]
            print(f"{path.name}: differs in {', '.join(keys)}")
            for key in keys[:1]:
                if got:
                    print("  table:", str(wanted[key])[:400], "\n  index:", str(got[key])[:400])
    for key in found:
        print(f"{key}: not in the table")
    print(f"{len(files)} providers, {layouts} layouts, {different} different")
    return 1 if different or untidy or found or not files or not is_small(index) else 0


sys.exit(main(*sys.argv[1:]))
