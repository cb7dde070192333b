#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Decode a trace twice, by this reader's own tables and by `etw dump`: every value must be equal.

    compare_decoded.py ETW FILE...

Both must have the same events, by their places in the file. Of each classic event that the table of
kernel_classes.py has, and of each that describes itself, every byte of the payload must belong to a
field for both, and names, order and values of all fields must be equal. Where the two write a
value differently, as a hexadecimal number, its value counts.

Exit status: 0 all equal, 1 a difference.
"""

import collections
import datetime
import json
import subprocess
import sys

from kernel_classes import NAMES, class_of, layout_of
from payload import Form, PayloadError, read_payload
from self_described import EXT_SCHEMA, UnreadType, read_self_described
from tracefile import TraceFile

PROBLEMS_MAX = 20
FILETIME_START = datetime.datetime(1601, 1, 1)


class Decoded:
    """One event as this reader decodes it."""

    __slots__ = ("event", "buffer", "kind", "name", "values")

    def __init__(self, event, buffer):
        self.event = event
        self.buffer = buffer
        self.kind = None        # (class, opcode, version), or the name of one that describes itself
        self.name = None        # of one that describes itself
        self.values = None      # None: neither in the table nor self-described

    @property
    def address(self):
        return f"{self.buffer.index}:{self.event.pos}"


def decode(event, buffer, pointer_bytes=None):
    """The event with its values; PayloadError when the table does not fit its payload.

    The size of pointers is the header's, unless the caller knows that those with a GUID are wrong.
    """
    decoded = Decoded(event, buffer)
    data = buffer.body[event.payload_pos:event.pos + event.size]
    for item in event.ext:
        if item.type == EXT_SCHEMA:
            schema = bytes(buffer.body[item.pos + 8:item.pos + 8 + item.data_bytes])
            try:
                decoded.name, decoded.values = read_self_described(schema, data)
            except UnreadType:
                return decoded
            decoded.kind = decoded.name
            return decoded
    guid = None if "id" in event.fields or "num" in event.fields else class_of(event)
    if guid not in NAMES:
        return decoded
    decoded.kind = NAMES[guid], event.fields["op"], event.fields["ver"]
    fields = layout_of(guid, event.fields["op"], event.fields["ver"])
    if fields is not None:
        if not pointer_bytes or event.hook is not None:
            pointer_bytes = 4 if event.kind.endswith("32") else 8
        decoded.values = read_payload(data, fields, pointer_bytes)
    return decoded


def _is_same_form(value, shown):
    if value.startswith("filetime "):
        time_ft = int(value.split()[1])
        when = FILETIME_START + datetime.timedelta(seconds=time_ft // 10_000_000)
        return shown == f"{when.isoformat()}.{time_ft % 10_000_000:07d}00Z"
    return shown.strip("{}").lower() == value.lower()


def is_same(value, shown):
    """Whether what `etw dump --json` shows is the value."""
    if isinstance(value, dict):
        return (isinstance(shown, dict) and list(value) == list(shown) and
                all(is_same(value[name], shown[name]) for name in value))
    if isinstance(value, list):
        return (isinstance(shown, list) and len(value) == len(shown) and
                all(map(is_same, value, shown)))
    if isinstance(value, bool):
        return shown is value
    if isinstance(value, int):
        if isinstance(shown, str):
            try:
                shown = int(shown, 0)
            except ValueError:
                return False
        return type(shown) is int and value == shown
    if not isinstance(shown, str):
        return False
    if isinstance(value, bytes):
        try:
            return shown == value.decode()
        except UnicodeDecodeError:
            return shown == value.decode("cp1252", "replace")
    return _is_same_form(value, shown) if isinstance(value, Form) else value == shown


def describe(decoded, shown):
    """How an event that both have differs, or None."""
    event = decoded.event
    if shown["status"] != "complete" and decoded.values is not None:
        return f"etw says {shown['status']}: {shown.get('reason')}"
    facts = {"raw_time": str(event.ts), "cpu": decoded.buffer.header.cpu}
    if decoded.name is not None:
        facts.update(guid=event.fields["guid"], task_name=decoded.name)
    elif decoded.kind is not None:
        facts.update(guid=class_of(event), opcode=event.fields["op"], version=event.fields["ver"])
    for key, value in facts.items():
        if shown.get(key) != value:
            return f"{key} is {shown.get(key)!r}, the walker says {value!r}"
    if decoded.values is None:
        return None
    fields = shown.get("fields", {})
    if list(fields) != list(decoded.values):
        return f"fields {list(fields)}, the walker says {list(decoded.values)}"
    for name, value in decoded.values.items():
        if not is_same(value, fields[name]):
            return f"{name} is {fields[name]!r}, the walker says {value!r}"
    return None


def read_dump(etw, path):
    """{address: line} of the events in the file, and the lines of those that etw adds."""
    lines, added = {}, []
    with subprocess.Popen([etw, "dump", "--json", path], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, errors="surrogateescape") as dump:
        for line in dump.stdout:
            if '"synthesised":true' in line.replace(" ", "")[-200:]:
                added.append(line)
                continue
            at = line.rindex('"address"')
            lines[line[at:].split('"')[3]] = line
    return lines, added


class Comparison:
    """What a comparison of one file found."""

    def __init__(self):
        self.problems = collections.Counter()   # sentence without the place -> how often
        self.kinds = collections.Counter()      # what was decoded
        self.unknown = collections.Counter()    # of a class of the table, and not in it
        self.others = 0                         # events that this reader has no fields for
        self.added = 0                          # RT_LostEvent records, which are in no file

    def note(self, address, kind, text):
        key = f"{kind}: {text}"
        if len(self.problems) < PROBLEMS_MAX:
            key = f"{address} {key}"
        elif key not in self.problems:
            key = "more of them"
        self.problems[key] += 1

    @property
    def compared(self):
        return sum(self.kinds.values())


def compare_file(etw, path, watch=None, pointer_bytes=None):
    """The Comparison of a file; `watch` is called with each event that was decoded."""
    found = Comparison()
    lines, added = read_dump(etw, path)
    found.added = len(added)
    with TraceFile(path) as trace:
        for buffer in trace.buffers():
            for event in buffer.events():
                line = lines.pop(f"{buffer.index}:{event.pos}", None)
                try:
                    decoded = decode(event, buffer, pointer_bytes)
                except PayloadError as error:
                    found.note(f"{buffer.index}:{event.pos}",
                               (event.kind, event.hook, event.fields), str(error))
                    continue
                if watch:
                    watch(decoded)
                if line is None:
                    found.note(decoded.address, decoded.kind, "etw does not show it")
                    continue
                text = describe(decoded, json.loads(line))
                if text:
                    found.note(decoded.address, decoded.kind, text)
                if decoded.values is not None:
                    found.kinds[decoded.kind] += 1
                elif decoded.kind is not None:
                    found.unknown[decoded.kind] += 1
                else:
                    found.others += 1
            if buffer.damage:
                found.note(buffer.index, "damage", buffer.damage[1])
    for address in lines:
        found.note(address, "event", "etw alone shows it")
    return found


def main():
    etw, *paths = sys.argv[1:]
    bad = 0
    for path in paths:
        found = compare_file(etw, path)
        print(f"{path}: {found.compared} events of {len(found.kinds)} kinds equal, "
              f"{found.others} without fields here, {sum(found.problems.values())} problems")
        for kind, count in sorted(found.unknown.items()):
            print(f"    not in the table: {kind}, {count} times")
        for text, count in found.problems.items():
            print(f"    {count} times: {text}")
        bad += bool(found.problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
