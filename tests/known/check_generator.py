#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program that makes the index: what it refuses, and that the same table gives the same bytes.

    check_generator.py KNOWN_INDEX KNOWN_DUMP
"""

import pathlib
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).resolve().parent / "table"
HEAD = "provider Name\nsources tx\n"
REFUSED = [
    ("guid 1\n", 3, "a GUID is malformed"),
    ("guid 00112233-4455-6677-8899-aabbccddeeff0\n", 3, "a GUID is malformed"),
    ("builds\n", 3, "a name is missing"),
    ("provider Other\n", 3, "there are two lines of this kind"),
    ("task 1 A\nkeyword 0x1 B\n", 4, "the lists of names are not in order"),
    ("task 65536 A\n", 3, "a number is malformed or too large"),
    ("task x A\n", 3, "a number is malformed or too large"),
    ("opcode 256 A\n", 3, "a number is malformed or too large"),
    ("map bites A\n", 3, "a map is neither of values nor of bits"),
    ("map bits A\n  1 \"B\n", 4, "a quoted word has no end"),
    ("  1 A\n", 3, "a line that begins with two blanks belongs to nothing"),
    ("  or builds=1\n", 3, "a further layout belongs to no event"),
    ("nothing 1\n", 3, "there is no such kind of line"),
    ("event 1 fields=1.0\n", 3, "the list of fields is not above"),
    ("event 1 colour=1\n", 3, "an event has no such word"),
    ("event 1 level\n", 3, "a '=' is missing"),
    ("event 2\nevent 1\n", 4, "the events are not in order of id and version"),
    ("event 1 v1\nevent 1 v1\n", 4, "the events are not in order of id and version"),
    ("event 1\n  or level=1\n", 4, "a layout has no such word"),
    ("fields 1.0 odd: A UInt8\n", 3, "there is no such mark"),
    ("fields 1.0: A UInt9\n", 3, "there is no such in-type"),
    ("fields 1.0: A UInt8/odd\n", 3, "there is no such out-type"),
    ("fields 1.0: A UInt8=Map\n", 3, "the map of a field is not defined above"),
    ("fields 1.0: A Binary(B), B UInt8\n", 3, "a length or count is neither"),
    ("fields 1.0: A Struct{B Struct{C UInt8}}\n", 3, "a struct lies within a struct"),
    ("fields 1.0: A Struct{B UInt8\n", 3, "a '}' is missing"),
    ("fields 1.0: A UInt8 B\n", 3, "something follows what belongs on the line"),
    ("fields 1.0: A UInt8\nfields 1.0: B UInt8\n", 4, "another list of fields has this label"),
    ("fields 1.0: A" + "x" * 600 + " UInt8\n", 3, "a word is too long"),
    ("fields 1.0: " + ", ".join(f"F{i} UInt8" for i in range(1025)) + "\n", 3,
     "there are too many fields"),
    ("classicfields A: B UInt8 odd=1\n", 3, "there is no such qualifier"),
    ("classic 00112233-4455-6677-8899-aabbccddeeff 1 odd=1\n", 3,
     "a classic event has no such word"),
]


def make(program, table, index):
    return subprocess.run([program, table, index], capture_output=True, text=True, check=False)


def check_refusals(program, folder):
    wrong = 0
    path = folder / "Name.txt"
    for text, line, sentence in REFUSED:
        path.write_text(HEAD + text, encoding="utf-8")
        result = make(program, folder, folder / "index")
        if result.returncode != 1 or f"Name.txt:{line}: {sentence}" not in result.stderr:
            print(f"{text[:60]!r}: line {line}: {sentence}: got {result.stderr!r}")
            wrong += 1
    path.write_text("sources tx\n", encoding="utf-8")
    if "the provider has no name" not in make(program, folder, folder / "index").stderr:
        print("a provider without a name is taken")
        wrong += 1
    guid = "guid 00112233-4455-6677-8899-aabbccddeeff\n"
    path.write_text(HEAD + guid, encoding="utf-8")
    (folder / "Other.txt").write_text(HEAD + guid, encoding="utf-8")
    if "have the same GUID" not in make(program, folder, folder / "index").stderr:
        print("two providers with one GUID are taken")
        wrong += 1
    return wrong


def main(program, dump):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wrong = check_refusals(program, folder)
        indexes = [folder / "one", folder / "two"]
        for index in indexes:
            result = make(program, TABLE, index)
            if result.returncode:
                print(result.stderr)
                return 1
        if indexes[0].read_bytes() != indexes[1].read_bytes():
            print("the same table gives different bytes")
            wrong += 1
        found = subprocess.run([dump, indexes[0]], capture_output=True, text=True, check=True)
        if len(found.stdout.splitlines()) != 3:
            print("the small table does not have its three providers")
            wrong += 1
    print(f"{len(REFUSED) + 2} refusals, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
