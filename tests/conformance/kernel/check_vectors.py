#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the decoder against real kernel payloads with expected field values, 32 and 64 bit.

    check_vectors.py DUMP_PAYLOAD

The vectors (reference/kernel-payload-vectors.json of the test data) are those of another tool and
carry its names; the tables below say where Microsoft's differ. Every expected field is compared,
and every byte of a payload must belong to a field.
Exit status: 0 all equal, 1 a difference, 77 no data.
"""

import json
import re
import struct
import sys

from kernel_common import as_number, decode, fields_of, find_data_dir, swap16

# Their field names where they differ from the MOF's, per class and first version.
RENAMED = {
    ("Image", 2): {"BaseAddress": "ImageBase", "ModuleSize": "ImageSize",
                   "ImageCheckSum": "ImageChecksum", "ImageFileName": "FileName"},
}
# A 64-bit payload, as its expected 64-bit values show; the vector says 4.
POINTER_BYTES = {"ImageDCEndV3": 8}
# TIME_ZONE_INFORMATION and its padding, which the MOF keeps as bytes.
TIME_ZONE = struct.Struct("<i64s16si64s16siI")

STRING = re.compile(r'L?"((?:[^"\\]|\\.)*)"')


class Difference(Exception):
    pass


def their_value(text):
    """The value of `"Name", value` as number or string; None when the vector does not hold it."""
    text = text.strip()
    match = re.fullmatch(r"(-?(?:0[xX][0-9a-fA-F]+|\d+))[UuLl]*", text)
    if match:
        return int(match[1], 0)
    parts = STRING.findall(text)
    if parts and not STRING.sub("", text).strip():
        return "".join(parts).replace("\\\\", "\\")
    return None


def compare_number(name, theirs, ours, answer):
    number = as_number(ours)
    if answer["class"] in ("TcpIp", "UdpIp") and name in ("dport", "sport"):
        number = swap16(number)
    if number is None or (number - theirs) % (1 << 64) and (number - theirs) % (1 << 32):
        raise Difference(f"{name} is {ours!r}, expected {theirs}")


def compare_field(vector, name, text, fields, answer, payload):
    """One expected top-level field; the names of their constants stand for values not given."""
    for (class_name, since), names in RENAMED.items():
        if answer["class"] == class_name and vector["version"] >= since:
            name = names.get(name, name)
    if answer["class"] == "EventTrace" and name == "Padding":
        ours = TIME_ZONE.unpack(bytes(fields["TimeZoneInformation"]))[-1]
    elif name not in fields:
        raise Difference(f"there is no field {name}")
    else:
        ours = fields[name]
    theirs = their_value(text)
    if isinstance(theirs, int):
        compare_number(name, theirs, ours, answer)
    elif isinstance(theirs, str):
        # The vectors lost the repeated blanks of string literals.
        if " ".join(ours.split()) != " ".join(theirs.split()):
            raise Difference(f"{name} is {ours!r}, expected {theirs!r}")
    elif text.strip().startswith("MakeSID"):
        if not re.fullmatch(r"S-1-5(-\d+)+", ours):
            raise Difference(f"{name} is {ours!r}, expected a SID")
    elif isinstance(ours, str):
        encoded = [ours.encode("utf-16le"), ours.encode("latin-1")]
        if not any(text in payload for text in encoded):
            raise Difference(f"{name} is {ours!r}, which is not in the payload")
    elif name not in ("TimeZoneInformation", "Reserved"):
        raise Difference(f"{name} was not compared with {text}")


def compare_time_zone(expected, fields):
    zone = TIME_ZONE.unpack(bytes(fields["TimeZoneInformation"]))
    ours = {"Bias": zone[0], "StandardBias": zone[3], "DaylightBias": zone[6]}
    for name, text in expected:
        if name in ours and ours[name] != their_value(text):
            raise Difference(f"{name} is {ours[name]}, expected {text}")


def compare(vector, answer):
    fields = fields_of(answer)
    payload = bytes.fromhex(vector["payload"])
    if answer["status"] != "complete":
        raise Difference(f"{answer['status']}: {answer['reason']}")
    pairs = {}
    for parent, _, text in vector["fields"]:
        name, comma, value = text.partition(",")
        if comma:
            pairs.setdefault(parent, []).append((name.strip('"'), value))
    for name, value in pairs["expected"]:
        compare_field(vector, name, value, fields, answer, payload)
    if "timezone" in pairs:
        compare_time_zone(pairs["timezone"], fields)
    return len(pairs["expected"])


def main():
    path = find_data_dir() / "reference" / "kernel-payload-vectors.json"
    vectors = json.loads(path.read_text())["vectors"]
    requests = [(v["provider"], v["opcode"], v["version"],
                 POINTER_BYTES.get(v["test"], v["pointer"]), bytes.fromhex(v["payload"]))
                for v in vectors]
    answers = list(decode(sys.argv[1], requests))
    failures = fields = 0
    for vector, answer in zip(vectors, answers, strict=True):
        try:
            fields += compare(vector, answer)
        except Difference as difference:
            print(f"{vector['test']}: {difference}")
            failures += 1
    print(f"{len(vectors) - failures} of {len(vectors)} vectors hold, {fields} fields compared")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
