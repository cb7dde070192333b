#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/check_layers on small made-up trees: what it lets pass and what it names."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers"
TABLE = """# Modules
<!-- layers:begin -->
| module | may use | what lives there |
|---|---|---|
| include | | |
| src/base | include | |
| src/wire | include base | |
| src/etl | base wire | no public headers here, for the test |
| src/api | include base wire etl | |
| tools | include base etl | |
| tests | include base wire etl api tools | |
<!-- layers:end -->
| src/after | base | a row outside the table |
"""
TREE = {
    "ARCHITECTURE.md": TABLE,
    "include/evntrace.h": "",
    "include/compat/windows.h": "",
    "src/base/bytes.h": "#include <stdint.h>\n",
    "src/wire/header.h": '#include "base/bytes.h"\n',
    "src/etl/reader.h": '#include "wire/header.h"\n',
}


def check(files):
    """Run the script on TREE with `files` added; returns (exit status, lines before the last)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**TREE, **files}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True,
                                check=False)
    lines = result.stdout.splitlines()
    return result.returncode, [line for line in lines if not line.startswith("check_layers: ")]


class CheckLayers(unittest.TestCase):
    def assert_clean(self, files):
        self.assertEqual(check(files), (0, []))

    def assert_problem(self, files, *expected):
        status, lines = check(files)
        self.assertEqual(status, 1)
        self.assertEqual(lines, list(expected))

    def test_clean_tree_passes(self):
        self.assert_clean({})

    def test_own_module_is_always_allowed(self):
        self.assert_clean({"src/etl/reader.c": '#include "etl/reader.h"\n#include "reader.h"\n'})

    def test_wrong_edge_is_named_with_file_and_line(self):
        self.assert_problem(
            {"src/base/bytes.c": '#include "base/bytes.h"\n\n#include "etl/reader.h"\n'},
            "src/base/bytes.c:3: etl/reader.h: base may not use etl (may use: include)")

    def test_public_header_needs_the_include_row(self):
        self.assert_clean({"src/wire/x.c": "#include <evntrace.h>\n#include <windows.h>\n"})
        self.assert_problem(
            {"src/etl/x.c": "#  include <evntrace.h>\n"},
            "src/etl/x.c:1: evntrace.h: etl may not use include (may use: base wire)")

    def test_system_header_is_allowed(self):
        self.assert_clean({"src/etl/x.c": "#include <sys/mman.h>\n"})

    def test_module_without_row_is_an_error(self):
        self.assert_problem({"src/ring/ring.h": ""},
                            "src/ring/ring.h:1: module ring has no row in ARCHITECTURE.md")
        self.assert_problem({"src/ring/ring.h": "", "src/etl/x.c": '#include "ring/ring.h"\n'},
                            "src/etl/x.c:1: ring/ring.h: module ring has no row in ARCHITECTURE.md",
                            "src/ring/ring.h:1: module ring has no row in ARCHITECTURE.md")

    def test_row_outside_the_markers_does_not_count(self):
        self.assert_problem({"src/after/x.h": ""},
                            "src/after/x.h:1: module after has no row in ARCHITECTURE.md")

    def test_relative_include_is_an_error(self):
        self.assert_problem(
            {"src/wire/x.c": '#include "../base/bytes.h"\n'},
            "src/wire/x.c:1: ../base/bytes.h: relative include; name it from src/")

    def test_unknown_header_is_an_error(self):
        self.assert_problem(
            {"src/wire/x.c": '#include "base/bits.h"\n#include "bits.h"\n',
             "src/base/text.h": ""},
            "src/wire/x.c:2: bits.h: no such header in any module or in include/")

    def test_tests_may_use_helpers_and_the_api(self):
        self.assert_clean({
            "src/api/win32_error.h": "",
            "tests/synthetic/trace.h": "",
            "tests/unit/etl/test_x.c": '#include "api/win32_error.h"\n'
                                       '#include "synthetic/trace.h"\n'
                                       '#include "tests/synthetic/trace.h"\n'})

    def test_sources_may_not_use_test_helpers(self):
        self.assert_problem(
            {"tests/synthetic/trace.h": "", "src/etl/x.c": '#include "tests/synthetic/trace.h"\n'},
            "src/etl/x.c:1: tests/synthetic/trace.h: etl may not use tests (may use: base wire)")

    def test_win32_errors_outside_the_api(self):
        line = "int f(void) { return ERROR_SUCCESS; }\n"
        self.assert_clean({"src/api/x.c": line, "tools/etw/main.c": line, "tests/x.c": line})
        self.assert_problem({"src/etl/x.c": "\n" + line},
                            "src/etl/x.c:2: ERROR_SUCCESS: only src/api knows Win32 errors")
        self.assert_problem({"src/etl/x.c": "SetLastError(5);\n"},
                            "src/etl/x.c:1: SetLastError: only src/api knows Win32 errors")

    def test_win32_errors_in_comments_and_strings_are_text(self):
        self.assert_clean({"src/etl/x.c": '/* as\n * ERROR_SUCCESS */\nchar *s = "ERROR_BUSY";\n'
                                          "int PARSE_ERROR_X;\n"})

    def test_build_edges_obey_the_table(self):
        self.assert_clean({"CMakeLists.txt": "etw_module(etl DEPENDS base wire LIBRARIES m)\n"})
        self.assert_problem({"CMakeLists.txt": "\netw_module(wire DEPENDS base\n  etl)\n"},
                            "CMakeLists.txt:2: wire may not link etl")

    def test_table_faults_are_named(self):
        self.assert_problem({"ARCHITECTURE.md": "# Nothing\n"},
                            "ARCHITECTURE.md:1: no table between <!-- layers:begin --> and "
                            "<!-- layers:end -->")
        self.assert_problem({"ARCHITECTURE.md": TABLE.replace("e | include base |", "e | bass |")},
                            "ARCHITECTURE.md:7: wire may use bass, which has no row")
        self.assert_problem({"ARCHITECTURE.md": TABLE.replace("base | include", "base | wire")},
                            "ARCHITECTURE.md:6: circle base -> wire -> base")


if __name__ == "__main__":
    unittest.main()
