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
AGAIN = """<testsuite name="x" tests="1">
 <testcase name="bad" status="%s">%s<system-out>second</system-out></testcase>
 <testcase name="unit.a" status="fail"><failure message=""/></testcase>
</testsuite>
"""


def check(expected, *arguments, again=None):
    """Run the script; returns (exit status, output lines, counts)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "junit.xml").write_text(JUNIT, encoding="utf-8")
        (folder / "expected").write_text(expected, encoding="utf-8")
        if again:
            (folder / "again.xml").write_text(again, encoding="utf-8")
            arguments += ("--again", f"release={folder / 'again.xml'}", "--logs", folder / "logs")
        result = subprocess.run(
            [sys.executable, SCRIPT, "--expected", folder / "expected",
             "--counts", folder / "counts", *arguments, f"release={folder / 'junit.xml'}"],
            capture_output=True, text=True, check=False)
        lines = result.stdout.replace(f"{folder}/", "").splitlines()
        for path in (folder / "logs").glob("*"):
            lines.append(f"{path.name}: {path.read_text()}")
        return result.returncode, lines, (folder / "counts").read_text()


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

    def test_a_second_run_counts_for_what_failed_first(self):
        _, lines, counts = check("", again=AGAIN % ("run", ""))
        self.assertEqual(counts, "3 0 2\n")
        self.assertEqual(lines[:3], ["unsteady: release bad failed, and passed when it ran alone",
                                     "    logs/release.bad.failed.log",
                                     "    logs/release.bad.passed.log"])
        self.assertIn("release.bad.failed.log: a < b\nassert", "\n".join(lines))
        self.assertIn("release.bad.passed.log: second", lines)

    def test_what_fails_or_is_skipped_the_second_time_has_failed(self):
        for status, more in ("fail", '<failure message=""/>'), ("notrun", "<skipped/>"):
            _, lines, counts = check("", again=AGAIN % (status, more))
            self.assertEqual(counts, "2 1 2\n")
            self.assertEqual(lines[2:5], ["FAILED: release bad", "    a < b", "    assert"])
            self.assertNotIn("unsteady", "\n".join(lines))


if __name__ == "__main__":
    unittest.main()
