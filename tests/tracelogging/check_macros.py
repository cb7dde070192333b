#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold that the tests write with every macro of the TraceLogging headers.

    check_macros.py INCLUDE_DIR
"""

import pathlib
import re
import sys

HEADERS = ("TraceLoggingProvider.h", "TraceLoggingActivity.h")
TESTS = ("fields.inc", "fields.c", "provider.c", "values.c", "activity.cpp")


def main(include):
    folder = pathlib.Path(__file__).resolve().parent
    headers = "".join((pathlib.Path(include) / name).read_text() for name in HEADERS)
    tests = "".join((folder / name).read_text() for name in TESTS)
    macros = set(re.findall(r"^#define (TraceLogging\w+|TRACELOGGING_\w+)", headers, re.M))
    missing = sorted(name for name in macros if not re.search(rf"\b{name}\b", tests))
    for name in missing:
        print(f"no test writes with {name}")
    print(f"{len(macros)} macros, {len(missing)} without a test")
    return 1 if missing or not macros else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
