#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/check_layers on small made-up trees: what it lets pass and what it names."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_layers"
TABLE = """# Modules
<!-- layers:begin -->
| module | may use | what lives there |
|---|---|---|
| include | | |
| src/base | include | |
| src/wire | include base | |
| src/etl | base wire | no public headers here, for the test |
| src/api | include base wire etl | |
| src/unit | | for circles |
| libetw | include | |
| tools | include base etl | |
| tests | libetw include base wire etl api tools | |
| fuzz | base etl | |
| examples | libetw include | |
<!-- layers:end -->
| src/after | base | a row outside the table |
"""
TREE = {
    "ARCHITECTURE.md": TABLE,
    "include/evntrace.h": "",
    "include/compat/windows.h": "",
    "cmake/Modules.cmake": (ROOT / "cmake" / "Modules.cmake").read_text(encoding="utf-8"),
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
        self.assert_clean({"src/api/x.c": line, "tools/etw/main.c": line, "tests/x.c": line,
                           "src/wire/win32_error.c": line})
        self.assert_problem({"src/etl/x.c": "\n" + line},
                            "src/etl/x.c:2: ERROR_SUCCESS: only src/api knows Win32 errors")
        self.assert_problem({"src/etl/x.c": "SetLastError(5);\n"},
                            "src/etl/x.c:1: SetLastError: only src/api knows Win32 errors")

    def test_win32_errors_in_comments_and_strings_are_text(self):
        self.assert_clean({"src/etl/x.c": '/* as\n * ERROR_SUCCESS */\nchar *s = "ERROR_BUSY";\n'
                                          "int PARSE_ERROR_X;\n"})

    def test_build_edges_obey_the_table(self):
        self.assert_clean({"CMakeLists.txt": "etw_module(base)\netw_module(wire)\n"
                                             "etw_module(etl DEPENDS base wire LIBRARIES m)\n"})
        self.assert_problem(
            {"CMakeLists.txt": "etw_module(base)\netw_module(etl)\n"
                               "etw_module(wire DEPENDS base\n  etl)\n"},
            "CMakeLists.txt:4: etw_etl: wire may not link etl (may use: base include)")

    MODULES = "etw_module(base)\netw_module(wire)\netw_module(etl)\n"

    def test_links_of_every_cmake_file_obey_the_table(self):
        self.assert_clean({
            "CMakeLists.txt": self.MODULES,
            "tools/CMakeLists.txt": "add_executable(x main.c)\n"
                                    "target_link_libraries(x etw_etl m Threads::Threads)\n"})
        self.assert_problem(
            {"CMakeLists.txt": self.MODULES,
             "tools/some/CMakeLists.txt": "# etw_wire is far below\nadd_executable(x main.c)\n"
                                          "target_link_libraries(x PRIVATE\n  etw_etl etw_wire)\n"},
            "tools/some/CMakeLists.txt:4: etw_wire: tools may not link wire "
            "(may use: base etl include)")

    def test_link_through_a_target_of_the_same_module_is_allowed(self):
        self.assert_clean({
            "CMakeLists.txt": self.MODULES,
            "tools/CMakeLists.txt": "add_library(etw_common STATIC x.c)\nadd_executable(x main.c)\n"
                                    "target_link_libraries(x PRIVATE etw_common)\n"})

    def test_link_in_a_variable_is_named_where_it_is_set(self):
        build = ("set(some etw_base)\nlist(APPEND some\n etw_wire)\nforeach(source a.c b.c)\n"
                 "  add_executable(fuzz_${name} ${source})\n"
                 "  target_link_libraries(fuzz_${name} PRIVATE ${some})\nendforeach()\n")
        self.assert_problem({"CMakeLists.txt": self.MODULES, "fuzz/CMakeLists.txt": build},
                            "fuzz/CMakeLists.txt:3: etw_wire: fuzz may not link wire "
                            "(may use: base etl)")

    def test_link_by_a_function_is_named_where_it_is_called(self):
        build = ("function(etw_fuzz name)\n  target_link_libraries(${name} PRIVATE ${ARGN} m)\n"
                 "endfunction()\nadd_executable(x x.c)\n\netw_fuzz(x etw_wire)\n")
        self.assert_problem({"CMakeLists.txt": self.MODULES, "fuzz/CMakeLists.txt": build},
                            "fuzz/CMakeLists.txt:6: etw_wire: fuzz may not link wire "
                            "(may use: base etl)")
        self.assert_problem({"fuzz/CMakeLists.txt": "etw_other(x)\n"},
                            "fuzz/CMakeLists.txt:1: etw_other(): no CMake file defines it")

    def test_unit_tests_obey_the_table(self):
        self.assert_problem(
            {"CMakeLists.txt": "etw_module(unit)\n" + self.MODULES,
             "tests/CMakeLists.txt": "etw_unit_tests(etl etw_etl etw_unit)\n"},
            "tests/CMakeLists.txt:1: etw_unit: tests may not link unit "
            "(may use: api base etl include libetw tools wire)")

    def test_sources_of_other_modules_are_links(self):
        self.assert_problem(
            {"fuzz/CMakeLists.txt": "add_executable(x ${CMAKE_SOURCE_DIR}/src/etl/a.c\n"
                                    "  ../src/wire/b.c)\n"},
            "fuzz/CMakeLists.txt:2: ../src/wire/b.c: fuzz may not link wire (may use: base etl)")

    def test_shared_libraries_are_for_programs(self):
        api = "add_library(etw_so SHARED x.c)\n"
        use = "add_executable(x x.c)\ntarget_link_libraries(x PRIVATE etw_so libetw::etw)\n"
        self.assert_clean({"src/api/CMakeLists.txt": api, "examples/CMakeLists.txt": use})
        self.assert_problem(
            {"src/api/CMakeLists.txt": api, "tools/CMakeLists.txt": use},
            "tools/CMakeLists.txt:2: etw_so: tools may not link libetw (may use: base etl include)",
            "tools/CMakeLists.txt:2: libetw::etw: tools may not link libetw "
            "(may use: base etl include)")

    def test_target_that_nobody_makes(self):
        self.assert_problem(
            {"fuzz/CMakeLists.txt": "add_executable(x x.c)\ntarget_link_libraries(x etw_bas)\n"},
            "fuzz/CMakeLists.txt:2: etw_bas: no such target in any CMake file")

    def assert_circle(self, files, *expected):
        self.assert_problem({f"src/unit/{name}": text for name, text in files.items()},
                            *(f"src/unit/{line}" for line in expected))

    def test_units_may_use_each_other_one_way(self):
        self.assert_clean({
            "src/unit/a.h": "",
            "src/unit/a_internal.h": '#include "unit/a.h"\n#include "unit/b.h"\n',
            "src/unit/a.c": '#include "unit/a_internal.h"\n#include "unit/c/c.h"\n',
            "src/unit/a_more.c": '#include "unit/a_internal.h"\n',
            "src/unit/b.h": '#include "unit/c/c.h"\n', "src/unit/c/c.h": ""})

    def test_circle_is_named_with_an_include_of_each_edge(self):
        self.assert_circle(
            {"a.h": "", "a.c": '#include "unit/a.h"\n#include "unit/b.h"\n',
             "b.h": '#include "unit/c.h"\n', "c.h": "", "c_more.c": '\n\n#include "unit/a.h"\n'},
            "a.c:2: circle a -> b -> c -> a: src/unit/a.c:2 includes unit/b.h, "
            "src/unit/b.h:1 includes unit/c.h, src/unit/c_more.c:3 includes unit/a.h")

    def test_each_circle_of_a_knot_is_named(self):
        self.assert_circle(
            {"a.h": '#include "unit/b.h"\n', "b.h": "", "b.c": '#include "unit/a.h"\n',
             "c.h": '#include "unit/b.h"\n', "b_more.c": '#include "unit/c.h"\n'},
            "a.h:1: circle a -> b -> a: src/unit/a.h:1 includes unit/b.h, "
            "src/unit/b.c:1 includes unit/a.h",
            "b_more.c:1: circle b -> c -> b: src/unit/b_more.c:1 includes unit/c.h, "
            "src/unit/c.h:1 includes unit/b.h")

    def test_folders_of_a_module_make_no_circle(self):
        self.assert_circle(
            {"one/a.h": '#include "unit/two/b.h"\n', "two/b.h": "", "one/c.h": "",
             "two/d.h": '#include "unit/one/c.h"\n'},
            "one/a.h:1: circle one -> two -> one: src/unit/one/a.h:1 includes unit/two/b.h, "
            "src/unit/two/d.h:1 includes unit/one/c.h")

    def test_header_that_declares_for_another_unit_uses_it(self):
        self.assert_circle(
            {"a.h": "/* f() */\nint f(struct x *x,\n      int y);\n", "b.h": "",
             "b.c": '#include "unit/a.h"\n#include "unit/b.h"\nint f(struct x *x, int y)\n{\n}\n'},
            "a.h:2: circle a -> b -> a: src/unit/a.h:2 declares f of b.c, "
            "src/unit/b.c:1 includes unit/a.h")
        self.assert_circle(
            {"a.h": "extern const int table[3];\n", "b.h": "",
             "b.c": '#include "unit/a.h"\nconst int table[3] = {1};\n'},
            "a.h:1: circle a -> b -> a: src/unit/a.h:1 declares table of b.c, "
            "src/unit/b.c:1 includes unit/a.h")

    def test_source_without_header_belongs_to_the_header_that_declares_it(self):
        other = {"src/unit/a.h": "void *g(void);\n", "src/unit/b.h": '#include "unit/a.h"\n',
                 "src/unit/g.c": '#include "unit/a.h"\nvoid *g(void)\n{\n}\n'}
        self.assert_clean(other)
        self.assert_problem(
            {**other, "src/unit/g.c": '#include "unit/b.h"\nvoid *g(void)\n{\n}\n'},
            "src/unit/g.c:1: circle a -> b -> a: src/unit/g.c:1 includes unit/b.h, "
            "src/unit/b.h:1 includes unit/a.h")

    def test_declarations_stand_in_headers(self):
        self.assert_clean({
            "src/unit/a.c": 'static int f(void);\nextern "C" {\n}\nint x = 1;\n/* extern int y; */',
            "tests/unit/a.c": "int __wrap_f(void);\nextern int y;\n"})
        self.assert_circle({"a.c": "static int x;\nint f(int a,\n      int b);\n"},
                           "a.c:2: f: declare it in a header of its unit")
        self.assert_circle({"a.c": "void g(void)\n{\n\textern int y;\n}\n"},
                           "a.c:3: extern: declare it in a header of its unit")

    def test_unit_that_swallows_a_module(self):
        sources = {"a.h": "", **{f"a_{i:02}.c": '#include "unit/a.h"\n' for i in range(13)}}
        self.assert_circle(sources,
                           "a_00.c:1: 13 sources in one unit, a (at most 12): "
                           "give parts their headers")
        del sources["a_12.c"]
        self.assert_clean({f"src/unit/{name}": text for name, text in sources.items()})

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
