#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the conformance rows of a header's functions against what is documented.

    check_rows.py ROOT HEADER

Of evntrace: controller functions, which are those that src/api/control defines, and functions of
classic providers; of evntprov: functions of providers; without those that are not built. W and A
forms are one. A row is a ROW, ROOT or NEVER of an .inc in the header's folder, an assertion of a
test there that a function returns an error, or a row with an error in a table of a test that calls
the function.
Errors, one a line: a controller function without a row; a documented pair of function and error
(documented_errors.tsv) without a row; a pair of a function that is none; a row without a source; a
NEVER without its reason in the list, or the other way round.
Exit status: 0 in order, 1 not.
"""

import pathlib
import re
import sys

TABLES = "tests/conformance"
SOURCES = {
    "evntrace": ["control/*.c", "provider/evntrace.c", "provider/trace_event.c",
                 "provider/trace_message.c"],
    "evntprov": ["provider/evntprov.c", "provider/activity_id.c"],
}
NO_ERRORS = {"GetTraceEnableFlags"}  # what it returns is none
UNBUILT = re.compile(r"\bETW_UNBUILT\((\w+)")
DEFINITION = re.compile(r"^ULONG (\w+)\(", re.MULTILINE)
ROW = re.compile(r'\b(ROW|ROOT|NEVER)\((\w+), (\w+), \w+, "([^"]*)"\)')
ASSERTION = re.compile(r"assert_int_equal\(\s*(\w+)\((?:[^;]*?)\),\s*(ERROR_\w+)\s*\)\s*;",
                       re.DOTALL)

BODY = re.compile(r"^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
TABLE_ROW = re.compile(r"\{[^{};]*?\b(ERROR_\w+)[^{};]*\}")
CALL = re.compile(r"\b(\w+)\(")


def stem_of(name, names):
    """Return the name without W or A when the other form is there too."""
    if name[-1] in "WA" and name[:-1] + ("A" if name[-1] == "W" else "W") in names:
        return name[:-1]
    return name


def read_functions(root, header):
    """Return (functions, names of all their forms, names of what is not built)."""
    names, unbuilt = set(), set()
    for path in [path for source in SOURCES[header] for path in (root / "src/api").glob(source)]:
        text = path.read_text(encoding="utf-8")
        names |= set(DEFINITION.findall(text))
        unbuilt |= set(UNBUILT.findall(text))
    names = {name for name in names - unbuilt - NO_ERRORS if not name.startswith("etw_")}
    return {stem_of(name, names) for name in names}, names, unbuilt


def full_name(error):
    """Return an error's name; rows leave ERROR_ out."""
    return error if error.startswith("STATUS_") else "ERROR_" + error


def read_documented(folder):
    """Return {(function, error): reason it cannot happen, or ''}."""
    pairs = {}
    for line in (folder / "documented_errors.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words = line.split("\t") + [""]
            pairs[(words[0], words[1])] = words[2]
    return pairs


def read_rows(folder, names, errors):
    """Return ({(function, error)}, {the same of NEVER}, how many rows there are)."""
    found, never, count = set(), set(), 0
    for path in sorted(folder.glob("*")):
        if path.suffix not in (".c", ".inc"):
            continue
        text = path.read_text(encoding="utf-8")
        for kind, function, error, source in ROW.findall(text):
            pair = (function, full_name(error))
            (never if kind == "NEVER" else found).add(pair)
            count += 1
            if not re.match(r"\[(MSD|SDK|DERIVED|HERE)\] .", source):
                errors.append(f"{path.name}: a row of {function} has no source")
        for name, error in ASSERTION.findall(text):
            if name in names:
                found.add((stem_of(name, names), error))
                count += 1
        for body in BODY.findall(text):
            errors_of_rows = TABLE_ROW.findall(body)
            count += len(errors_of_rows)
            for name in set(CALL.findall(body)) & names:
                found |= {(stem_of(name, names), error) for error in errors_of_rows}
    return found, never, count


def main():
    root, header = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder = root / TABLES / header
    functions, names, unbuilt = read_functions(root, header)
    documented = {pair: reason for pair, reason in read_documented(folder).items()
                  if pair[0] not in unbuilt}
    errors = []
    found, never, count = read_rows(folder, names, errors)
    for function in sorted(functions - {pair[0] for pair in found}):
        errors.append(f"{function} has no row")
    for pair, reason in sorted(documented.items()):
        if pair[0] not in functions:
            errors.append(f"{pair[0]} is no function of {header}.h")
        elif reason and pair not in never:
            errors.append(f"{pair[0]}, {pair[1]}: no row shows what happens instead")
        elif not reason and pair not in found:
            errors.append(f"{pair[0]}, {pair[1]} has no row")
    for pair in sorted(never - {pair for pair, reason in documented.items() if reason}):
        errors.append(f"{pair[0]}, {pair[1]}: no reason why it never happens")
    for error in errors:
        print(f"check_rows: {error}")
    print(f"check_rows: {len(functions)} functions, {len(documented)} documented pairs, "
          f"{count} rows; {len(errors)} problems")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
