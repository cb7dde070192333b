#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare generated headers with the names and values of Microsoft's for the same manifests.

    check_names.py PROGRAM INCLUDES LIBRARIES DATA_DIR

genuine_names.txt has the facts. A C program asserts the values; the headers' lines tell macros and
their parameters. $ETW_TEST_DATA goes before DATA_DIR. Exit 77: no manifests, or no compiler.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def facts():
    """Yield (manifest, [(kind, name, value)])."""
    found = {}
    for line in (HERE / "genuine_names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, rest = line.split(" ", 1)
        if kind == "manifest":
            rows = found.setdefault(rest, [])
        elif kind == "macro":
            rows.append((kind, rest, ""))
        else:
            name, _, value = rest.partition(" ")
            rows.append((kind, name, value))
    return found


def guid_value(text):
    words = text.split("-")
    last = words[3] + words[4]
    rest = ", ".join("0x" + last[i:i + 2] for i in range(0, 16, 2))
    return f"{{0x{words[0]}, 0x{words[1]}, 0x{words[2]}, {{{rest}}}}}"


def test_of(kind, name, value):
    """A statement of C that fails where the value differs."""
    what = f'"{name}"'
    if kind == "number":
        return f"same({name} == {value}, {what});"
    if kind == "guid":
        return f"{{ const GUID is = {guid_value(value)}; " \
               f"same(!memcmp(&is, &{name}, sizeof(is)), {what}); }}"
    if kind == "descriptor":
        return f"{{ const EVENT_DESCRIPTOR is = {{{value}}}; " \
               f"same(!memcmp(&is, &{name}, sizeof(is)), {what}); }}"
    if kind == "traits":
        text = "".join(f"\\x{value[i:i + 2]}\"\"" for i in range(0, len(value), 2))
        return f'same(!memcmp("{text}", {name}, {len(value) // 2}), {what});'
    if kind in ("keywords", "levels"):
        element = "ULONGLONG" if kind == "keywords" else "unsigned char"
        return f"{{ const {element} is[] = {{{value}}}; same(sizeof(is) == sizeof({name}) && " \
               f"!memcmp(is, {name}, sizeof(is)), {what}); }}"
    return ""


def check_lines(header, rows):
    """What a program cannot ask: parameters of macros, and which function an event has."""
    wrong = []
    for kind, name, value in rows:
        if kind == "macro" and not re.search(rf"^#define {re.escape(name)} ", header, re.MULTILINE):
            wrong.append(f"no macro {name}")
        line = f"_mcgen_TEMPLATE_FOR_{name} _mcgen_PASTE2(McTemplateU0{value}_,"
        if kind == "template" and line not in header:
            wrong.append(f"{name} is not spelled {value}")
    return wrong


def check(arguments, manifest, rows, folder):
    program, includes, libraries = arguments[:3]
    subprocess.run([program, "generate", manifest, folder], check=True)
    tests = "\n\t".join(test_of(*row) for row in rows)
    source = folder / "names.c"
    source.write_text('#include <stdio.h>\n#include "header.h"\nstatic int failures;\n'
                      'static void same(int is, const char *name)\n{\n\tif (!is)\n\t\tfailures += '
                      'printf("%s\\n", name) > 0;\n}\n'
                      f"int main(void)\n{{\n\t{tests}\n\treturn failures != 0;\n}}\n",
                      encoding="utf-8")
    compiler = shutil.which("gcc") or shutil.which("clang")
    subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-I", folder, "-I", includes, source,
                    f"-L{libraries}", "-letw-provider", f"-Wl,-rpath,{libraries}",
                    "-o", folder / "names"], check=True)
    said = subprocess.run([folder / "names"], stdout=subprocess.PIPE, check=False).stdout.decode()
    header = (folder / "header.h").read_text(encoding="utf-8")
    return [f"{name} has another value" for name in said.split()] + check_lines(header, rows)


def main(arguments):
    data = pathlib.Path(os.environ.get("ETW_TEST_DATA", arguments[3])) / "mc"
    if not data.is_dir() or not (shutil.which("gcc") or shutil.which("clang")):
        print("SKIP: no manifests, or no compiler")
        return 77
    failures = 0
    for name, rows in facts().items():
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(arguments, data / name, rows, pathlib.Path(folder))
        for sentence in wrong:
            print(f"{name}: {sentence}")
        failures += len(wrong)
        print(f"{name}: {len(rows)} names")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
