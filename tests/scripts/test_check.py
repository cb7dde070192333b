#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./check in a small tree of its own: what it repeats, counts and prints of failures."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REAL = ("check_skips", "show_failures", "show_slowest", "test_results.py")
STUBS = ("check_layers", "check_format", "check_spelling", "check_docs", "check_shell",
         "check_man", "check_commits", "check_tidy", "install_packages")
PRESETS = """{"version": 3, "configurePresets": [
 {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build"},
 {"name": "asan-ubsan", "generator": "Ninja", "binaryDir": "${sourceDir}/build-asan"}]}
"""
# Only the release build has tests that misbehave: "flaky" passes the second time that it runs.
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(fake NONE)
enable_testing()
function(sh name text)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.sh "${text}")
  add_test(NAME ${name} COMMAND sh ${CMAKE_BINARY_DIR}/${name}.sh)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
sh(good "echo it is good")
sh(skips "echo SKIP: no reason at all; exit 77")
if(CMAKE_BINARY_DIR MATCHES "/build$")
  include(${CMAKE_SOURCE_DIR}/more.cmake)
endif()
"""
FLAKY = """sh(flaky "if [ -e seen ]; then echo better now; exit 0; fi
touch seen; echo bad luck; exit 1")
"""
BAD = """sh(bad "i=0; while [ $i -lt 100 ]; do
printf '[ RUN      ] test_%s\\n[       OK ] test_%s\\n' $i $i; i=$((i + 1)); done
printf '[ RUN      ] test_broken\\n[   LINE   ] --- the reason\\n'
printf '[  FAILED  ] test_broken\\n'; exit 1")
"""
SLOW = 'sh(slow "while ! [ -e go ]; do sleep 1; done")\n'


class Tree:
    """A repository with two presets, and `more` as the tests of the first one."""

    def __init__(self, more):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        (self.at / "scripts").mkdir()
        (self.at / "tests").mkdir()
        shutil.copy(ROOT / "check", self.at)
        for name in REAL:
            shutil.copy(ROOT / "scripts" / name, self.at / "scripts")
        for name in STUBS:
            (self.at / "scripts" / name).write_text("#!/bin/sh\n")
            (self.at / "scripts" / name).chmod(0o755)
        (self.at / "tests" / "expected-skips.txt").write_text(
            "release skips a test\nasan-ubsan skips a test\n")
        (self.at / "CMakePresets.json").write_text(PRESETS)
        (self.at / "CMakeLists.txt").write_text(CMAKE)
        (self.at / "more.cmake").write_text(more)

    def start(self, *arguments, **options):
        environment = {name: text for name, text in os.environ.items()
                       if not name.startswith(("ETW_", "CMAKE_", "CTEST_"))}
        environment |= options.pop("environment", {})
        return subprocess.Popen(["./check", *arguments], cwd=self.at, text=True,
                                env=environment, stdin=subprocess.DEVNULL, **options)

    def run(self, *arguments):
        """Returns (exit status, output)."""
        process = self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = process.communicate()[0]
        return process.returncode, output

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.folder.cleanup()


class Check(unittest.TestCase):
    # Of steps that are no test: packages, seven sources, manuals, two of each build, tidy, skips.
    STEPS = 15

    def test_all_good(self):
        with Tree("") as tree:
            status, output = tree.run()
        self.assertEqual(status, 0, output)
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS + 2} passed, 0 failed, 2 skipped")
        self.assertNotIn("unsteady", output)
        self.assertNotIn("again", output)
        self.assertRegex(output, r"(?m)^the slowest steps and tests, in seconds:\n +\d+  \S")
        # What is made beside the tests is in the table once, like everything else.
        self.assertEqual(len(re.findall(r"(?m)^check-tidy +passed +\d+$", output)), 1)

    def test_a_test_that_passes_alone_is_unsteady(self):
        with Tree(FLAKY) as tree:
            status, output = tree.run()
            table = output[output.index("step  "):]
            logs = re.findall(r"^    (build/check/\S+)$", table, re.MULTILINE)
            texts = [(tree.at / log).read_text() for log in logs]
        self.assertEqual(status, 0, output)
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS + 3} passed, 0 failed, 2 skipped")
        self.assertRegex(table, r"(?m)^test-release +unsteady ")
        self.assertRegex(table, r"(?m)^again-release +passed ")
        self.assertIn("unsteady: release flaky ", table)
        self.assertEqual([text.strip() for text in texts], ["bad luck", "better now"])

    def test_a_test_that_fails_twice_fails_once(self):
        with Tree(FLAKY + BAD) as tree:
            status, output = tree.run()
        self.assertEqual(status, 1, output)
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS + 3} passed, 1 failed, 2 skipped")
        self.assertRegex(output, r"(?m)^test-release +FAILED ")
        self.assertIn("unsteady: release flaky ", output)
        self.assertIn("FAILED: release bad\n", output)

    def test_a_step_that_cannot_be_made_here_is_skipped_with_its_reason(self):
        with Tree("") as tree:
            (tree.at / "scripts" / "check_commits").write_text(
                "#!/bin/sh\necho 'SKIP: no history: a copy'\nexit 77\n")
            status, output = tree.run()
        self.assertEqual(status, 0, output)
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS + 1} passed, 0 failed, 3 skipped")
        self.assertRegex(output, r"(?m)^check-commits +skipped +\d+$")
        self.assertIn("skipped: check-commits: no history: a copy\n", output)

    def test_strict_repeats_nothing(self):
        with Tree(FLAKY) as tree:
            status, output = tree.run("--strict")
        self.assertEqual(status, 1, output)
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS + 2} passed, 1 failed, 2 skipped")
        self.assertNotIn("again-", output)
        self.assertNotIn("unsteady", output)

    def test_a_failure_tells_its_own_reason(self):
        with Tree(BAD) as tree:
            output = tree.run("--strict")[1]
        lines = output.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("test-release "))
        self.assertEqual(lines[at + 2:at + 7], [
            "--- bad", "[ RUN      ] test_broken", "[   LINE   ] --- the reason",
            "[  FAILED  ] test_broken", "---"])
        self.assertNotIn("test_99", output)

    def test_what_failed_to_build_is_told_from_its_first_line(self):
        more = """add_custom_target(breaks ALL COMMAND sh -c "echo the reason; exit 1" VERBATIM)
"""
        with Tree(more) as tree:
            status, output = tree.run()
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"(?s)all of it is in build/check/build-release.log\nFAILED: "
                                 r".*\nthe reason\n")
        self.assertRegex(output, r"(?m)^test-release +not run: build failed")
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS} passed, 2 failed, 1 skipped")

    def test_what_fails_beside_the_tests_fails(self):
        with Tree("") as tree:
            (tree.at / "scripts" / "check_tidy").write_text("#!/bin/sh\necho the reason\nexit 1\n")
            status, output = tree.run()
        self.assertEqual(status, 1, output)
        self.assertIn("all of it is in build/check/check-tidy.log\nthe reason\n", output)
        self.assertEqual(output.splitlines()[-1], f"{self.STEPS + 1} passed, 1 failed, 2 skipped")

    def test_long_steps_tell_how_far_they_are(self):
        with Tree(SLOW) as tree:
            process = tree.start(stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 environment={"ETW_CHECK_PROGRESS_S": "1"})
            lines = []
            for line in process.stdout:
                lines.append(line)
                if re.match(r"test-release +2 of 3, \d+ s$", line):
                    (tree.at / "build" / "go").touch()
            process.stdout.close()
            process.wait()
        self.assertEqual(process.returncode, 0, lines)
        self.assertTrue(any("2 of 3" in line for line in lines), lines)

    def test_a_terminal_is_told_in_place(self):
        with Tree(SLOW) as tree:
            primary, secondary = pty.openpty()
            process = tree.start(stdout=secondary, stderr=secondary)
            os.close(secondary)
            output = ""
            while True:
                try:
                    output += os.read(primary, 4096).decode()
                except OSError:  # the other side is closed
                    break
                if re.search(r"\r\x1b\[Ktest-release +2 of 3, \d+ s", output):
                    (tree.at / "build" / "go").touch()
            os.close(primary)
            process.wait()
        self.assertEqual(process.returncode, 0, output)


if __name__ == "__main__":
    if not all(map(shutil.which, ("cmake", "ctest", "ninja"))):
        print("skipped: needs cmake, ctest and ninja")
        sys.exit(77)
    unittest.main()
