# SPDX-License-Identifier: MIT
"""What ctest's JUnit files say, for check_skips, show_failures, show_slowest. Not a program."""

import dataclasses
import re
import xml.etree.ElementTree

HEAD, TAIL = 20, 20
CMOCKA_PASSED = re.compile(r"^\[       OK \] (\S+)")
CMOCKA_NOISE = re.compile(r"^\[(==========|  PASSED  |  SKIPPED |       OK )\]")
CMOCKA_RUN = re.compile(r"^\[ RUN      \] (\S+)")


@dataclasses.dataclass
class Case:
    name: str
    status: str  # passed, failed or skipped
    output: str
    seconds: float = 0


def read_suite(path):
    """Return the Cases of a JUnit file by name, in its order."""
    cases = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        if case.find("skipped") is not None or status == "notrun":
            status = "skipped"
        elif case.find("failure") is not None or status == "fail":
            status = "failed"
        else:
            status = "passed"
        name = case.get("name")
        cases[name] = Case(name, status, case.findtext("system-out") or "",
                           float(case.get("time") or 0))
    return cases


def failure_lines(output):
    """The lines of a failed test's output that can say why it failed: no functions that passed.

    Of a long output the beginning and the end stay: sanitizers tell the reason first, Python last.
    """
    lines = output.splitlines()
    passed = {match[1] for line in lines if (match := CMOCKA_PASSED.match(line))}
    kept = []
    for line in lines:
        run = CMOCKA_RUN.match(line)
        if CMOCKA_NOISE.match(line) or (run and run[1] in passed) or not line.strip():
            continue
        kept.append(line)
    left_out = len(kept) - HEAD - TAIL
    if left_out > 1:
        kept[HEAD:-TAIL] = [f"... ({left_out} more lines)"]
    return kept or ["(no output)"]
