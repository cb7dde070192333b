#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/check_skips on made-up JUnit files: what counts as a skip, and which are expected."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_skips"
JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="4">
 <testcase name="unit.a" status="run"><system-out>[  PASSED  ] 1 test(s).</system-out></testcase>
 <testcase name="unit.b" status="run"><system-out>SKIP: no data here
[  SKIPPED ] test_one
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] test_one</system-out></testcase>
 <testcase name="walk" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
  <system-out>skipped: needs files</system-out></testcase>
 <testcase name="bad" status="fail"><failure message=""/><system-out>a &lt; b
assert</system-out></testcase>
</testsuite>
"""


def check(expected, *arguments):
    """Run the script; returns (exit status, output lines, counts)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "junit.xml").write_text(JUNIT, encoding="utf-8")
        (folder / "expected").write_text(expected, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, SCRIPT, "--expected", folder / "expected",
             "--counts", folder / "counts", *arguments, f"release={folder / 'junit.xml'}"],
            capture_output=True, text=True, check=False)
        return result.returncode, result.stdout.splitlines(), (folder / "counts").read_text()


class CheckSkips(unittest.TestCase):
    def test_skips_without_a_row_fail(self):
        status, lines, counts = check("# nothing\n")
        self.assertEqual(status, 1)
        self.assertEqual(lines, [
            "SKIPPED, not expected: release unit.b:test_one: no data here",
            "SKIPPED, not expected: release walk: needs files",
            "FAILED: release bad", "    a < b", "    assert",
            "check_skips: 5 tests, 2 skipped, 2 of them not expected"])
        self.assertEqual(counts, "2 1 2\n")

    def test_rows_hold_only_under_their_condition(self):
        rows = "no-data walk needs data\nrelease unit.b:* broken there\n"
        status, lines, _ = check(rows, "--when", "no-data")
        self.assertEqual((status, len(lines)), (0, 6))
        status, lines, _ = check(rows)
        self.assertEqual(status, 1)
        self.assertEqual(lines[1], "SKIPPED, not expected: release walk: needs files")


if __name__ == "__main__":
    unittest.main()
