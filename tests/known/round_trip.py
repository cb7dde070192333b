#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates a payload for every layout of the table and holds what is decoded against what went in.

    round_trip.py KNOWN_DECODE INDEX TABLE SHARE LEAST

Values are edges of their types or random ones; seeds are the layouts' own names, so that each run
is the same. Of an incomplete layout the fields before the first one of unknown size are generated,
and then bytes that belong to no field. SHARE: 1 for all layouts, n for every n-th one. LEAST: how
many providers with a GUID and events the table has at least.
"""

import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import known_table

COMPLETE, EXTRA = 0, 1
# bytes (0: a pointer), whether signed
INTEGERS = {"Int8": (1, True), "UInt8": (1, False), "Int16": (2, True), "UInt16": (2, False),
            "Int32": (4, True), "UInt32": (4, False), "Int64": (8, True), "UInt64": (8, False),
            "Pointer": (0, False), "Boolean": (4, False), "HexInt32": (4, False),
            "HexInt64": (8, False), "FILETIME": (8, False)}
BLOBS = {"Float": 4, "Double": 8, "GUID": 16, "SYSTEMTIME": 16}
TEXT_UNITS = {"UnicodeString": 2, "AnsiString": 1, "CountedUnicodeString": 2,
              "CountedAnsiString": 1}
CLASSIC_INTEGERS = {"SInt8": "Int8", "SInt16": "Int16", "SInt32": "Int32", "SInt64": "Int64"}
CLASSIC_EXTENSIONS = {"Guid": "GUID", "IPAddr": "UInt32", "IPAddrV4": "UInt32", "Port": "UInt16",
                      "WmiTime": "UInt64", "SizeT": "Pointer"}
CHARS = "aZ0 ~\u00e9\u0416\u4e2d\ue000"


class Maker:
    """One payload: its bytes, and the text that known_decode writes of it."""

    def __init__(self, seed, pointer):
        self.random, self.pointer = random.Random(seed), pointer
        self.payload, self.text = bytearray(), []

    def integer(self, kind, value=None):
        size, signed = INTEGERS[kind]
        size = size or self.pointer
        if value is None:
            low, high = (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else \
                (0, (1 << 8 * size) - 1)
            value = self.random.choice((low, high, 0, 1, high >> 1, self.random.randint(low, high)))
        self.payload += value.to_bytes(size, "little", signed=signed)
        return str(value)

    def blob(self, size):
        data = self.random.choice((bytes(size), b"\xff" * size, self.random.randbytes(size)))
        self.payload += data
        return "x" + data.hex()

    def characters(self, unit, count=None):
        if count is None:
            count = self.random.choice((0, 1, 2, 7, 30))
        text = "".join(self.random.choice(CHARS if unit == 2 else CHARS[:5]) for _ in range(count))
        return text.encode("utf-16-le" if unit == 2 else "ascii")

    def string(self, kind, length):
        unit = TEXT_UNITS[kind]
        data = self.characters(unit, length)
        if kind.startswith("Counted"):
            self.payload += struct.pack("<H", len(data)) + data
        else:
            self.payload += data + (bytes(unit) if length is None else b"")
        return "x" + data.hex()

    def sid(self):
        count = self.random.choice((0, 1, 5, 15))
        data = bytes((1, count)) + self.random.randbytes(6 + 4 * count)
        self.payload += data
        return "x" + data.hex()

    def value(self, kind, more, length):
        if kind in INTEGERS:
            return self.integer(kind)
        if kind in BLOBS:
            return self.blob(BLOBS[kind])
        if kind in TEXT_UNITS:
            return self.string(kind, length)
        if kind == "SID":
            return self.sid()
        if kind == "Binary":
            return self.blob(16 if length is None and more.get("out") == "IPv6" else length)
        raise ValueError(kind)

    def extent(self, more, key, values):
        """A number, or what the field that is named has in this payload."""
        given = more.get(key)
        return values[given] if isinstance(given, str) else given

    def fields(self, fields):
        """Appends them; returns their text."""
        wanted = {}
        for _, kind, *more in fields:
            for key in ("length", "count"):
                name = more[0].get(key) if more else None
                if isinstance(name, str) and not (key == "length" and kind == "SID"):
                    wanted[name] = self.random.choice((0, 1, 2, 3))
        text = []
        for name, kind, *more in fields:
            more = more[0] if more else {}
            if name in wanted:
                text.append(f"{name}={self.integer(kind, wanted[name])};")
                continue
            length = self.extent(more, "length", wanted) if kind != "SID" else None
            count = self.extent(more, "count", wanted)

            def one(kind=kind, more=more, length=length):
                if kind == "Struct":
                    return "{" + "".join(self.fields(more["fields"])) + "}"
                return self.value(kind, more, length)

            if count is None:
                text.append(f"{name}={one()};")
            else:
                text.append(f"{name}=[" + "".join(one() + ";" for _ in range(count)) + "];")
        return text

    def wbem_sid(self):
        self.payload += b"\1" + self.random.randbytes(2 * self.pointer - 1)
        return self.sid()

    def classic_value(self, kind, more):
        extension = more.get("extension")
        kind = CLASSIC_EXTENSIONS.get(extension, CLASSIC_INTEGERS.get(kind, kind))
        if extension == "Sid":
            return self.wbem_sid()
        if extension == "IPAddrV6":
            return self.blob(16)
        if kind == "String":
            return self.string("UnicodeString" if more.get("format") == "w" else "AnsiString", None)
        if kind == "Char16":
            return self.blob(2)
        if kind in BLOBS:
            return self.blob(BLOBS[kind])
        return self.integer(kind)

    def classic_fields(self, fields):
        text = []
        for name, kind, *more in fields:
            more = more[0] if more else {}
            if "count" in more:
                values = [self.classic_value(kind, more) + ";" for _ in range(more["count"])]
                text.append(f"{name}=[" + "".join(values) + "];")
            else:
                text.append(f"{name}={self.classic_value(kind, more)};")
        return text


def has_size(field):
    kind, more = field[1], field[2] if len(field) > 2 else {}
    if kind == "Struct":
        return "fields" in more and all(has_size(member) for member in more["fields"])
    return kind != "Binary" or "length" in more or more.get("out") == "IPv6"


def has_classic_size(field, template):
    kind, more = field[1], field[2] if len(field) > 2 else {}
    if kind == "String":
        return not template.get("incomplete")
    return kind != "Object" or "extension" in more


def known_part(fields, is_known):
    for i, field in enumerate(fields):
        if not is_known(field):
            return fields[:i]
    return fields


class Table:
    """The events to decode and what is expected of each."""

    def __init__(self, share):
        self.share, self.seen = share, 0
        self.input = tempfile.TemporaryFile()
        self.expected, self.names = [], []
        self.providers = self.incomplete = 0

    def add(self, is_classic, guid, event, number, template, seed):
        self.seen += 1
        if self.seen % self.share:
            return
        fields = template["fields"] if template else []
        maker = Maker(seed, 8 if self.seen & 1 else 4)
        if is_classic:
            known = known_part(fields, lambda field: has_classic_size(field, template))
            text = maker.classic_fields(known)
        else:
            known = known_part(fields, has_size)
            text = maker.fields(known)
        used = len(maker.payload)
        if len(known) < len(fields):
            self.incomplete += 1
            maker.payload += maker.random.randbytes(5)
        status = EXTRA if len(maker.payload) > used else COMPLETE
        version = event.get("version", 65535 if is_classic else 0)
        self.input.write(struct.pack("<B16sHHHBH", is_classic, uuid.UUID(guid).bytes_le,
                                     event["type" if is_classic else "id"], version, number,
                                     maker.pointer, len(maker.payload)) + maker.payload)
        self.expected.append(f"{status} {used} {''.join(text)}")
        self.names.append(seed)

    def add_provider(self, provider):
        name = provider["name"]
        if provider["guid"] and "events" in provider:
            self.providers += 1
            for event in provider["events"]:
                for number, layout in enumerate([event] + event.get("others", [])):
                    self.add(0, provider["guid"], event, number, layout.get("template"),
                             f"{name} {event['id']} {event.get('version', 0)} {number}")
        for event in provider.get("classic", []):
            if event["type"] < 256:
                self.add(1, event["class"], event, 0, event.get("template"),
                         f"{name} class {event['class']} {event['type']} {event.get('version')}")

    def check(self, decode, index):
        self.input.seek(0)
        result = subprocess.run([decode, index], stdin=self.input, capture_output=True, text=True,
                                check=False)
        lines = result.stdout.splitlines()
        wrong = 0
        for name, wanted, got in zip(self.names, self.expected, lines):
            if wanted != got:
                wrong += 1
                if wrong <= 10:
                    print(f"{name}:\n  in:  {wanted[:300]}\n  out: {got[:300]}")
        print(result.stderr, end="")
        print(f"{len(self.expected)} layouts of {self.providers} providers, {self.incomplete} "
              f"incomplete, {len(lines)} decoded, {wrong} differ")
        return result.returncode == 0 and len(lines) == len(self.expected) and not wrong


def main(decode, index, folder, share, least):
    table = Table(int(share))
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        table.add_provider(known_table.read_provider(path.read_text(encoding="utf-8")))
    return 0 if table.check(decode, index) and table.providers >= int(least) else 1


sys.exit(main(*sys.argv[1:]))
