#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/headers/check_headers on made-up headers: what it saves must not cost it a finding."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "headers" / "check_headers"
CLEAN = "#pragma once\n#include <stdint.h>\nstruct {0} {{ uint32_t {0}; }};\n"
C_LIBRARY = ["string.h"]


def load():
    loader = importlib.machinery.SourceFileLoader("check_headers", str(SCRIPT))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("check_headers", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


check_headers = load()
check_headers.STANDARD_LIBRARY = {"c": C_LIBRARY, "c++": C_LIBRARY}


class CheckHeaders(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.include = pathlib.Path(place.name)

    def write(self, headers):
        for name, text in headers.items():
            (self.include / name).write_text(text, encoding="utf-8")

    def command(self, compiler):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        return [compiler, "-x", "c", "-I", str(self.include)] + check_headers.WARNINGS

    def failures(self, compiler):
        """Compile everything as C with one compiler; returns what failed, without doubles."""
        self.command(compiler)
        headers = sorted(path.name for path in self.include.iterdir())
        found = set()
        for batch in check_headers.batches_for(self.include, headers, "c", compiler, False):
            for part in check_headers.split(batch):
                for failure in check_headers.compile_batch(part):
                    found.add(failure.splitlines()[0].split(": ")[1])
        return found

    def test_clean_headers_pass(self):
        self.write({"a.h": CLEAN.format("a"), "b.h": CLEAN.format("b")})
        for compiler in ("gcc", "clang"):
            self.assertEqual(self.failures(compiler), set())

    def test_only_the_header_that_misses_an_include_is_named_alone(self):
        self.write({"a.h": CLEAN.format("a"), "b.h": "#pragma once\nextern uint32_t b;\n",
                    "c.h": CLEAN.format("c")})
        for compiler in ("gcc", "clang"):
            alone = {name for name in self.failures(compiler) if " " not in name}
            self.assertEqual(alone, {"<b.h>"})

    def test_nothing_of_one_file_is_left_for_the_next(self):
        command = self.command("clang")
        sources = ["#define LEFT 1\ntypedef int type;\nint name(void);\n",
                   "#ifdef LEFT\n#error the macro is still there\n#endif\n"
                   "typedef long type;\nlong name(void);\n"]
        self.assertTrue(check_headers.passes_as_one(check_headers.Batch(command, sources)))

    def test_an_order_that_fails_is_named(self):
        self.write({"a.h": "#pragma once\n#define word 1\n",
                    "b.h": "#pragma once\nextern int word;\n"})
        self.assertIn("<a.h> <b.h>", self.failures("gcc"))

    def test_a_macro_that_harms_the_library_is_found_though_another_header_takes_it_back(self):
        self.write({"a.h": "#pragma once\n#define strlen 1\n",
                    "b.h": "#pragma once\n#undef strlen\nextern int b;\n",
                    "c.h": CLEAN.format("c")})
        for compiler in ("gcc", "clang"):
            self.assertIn("<a.h> <string.h>", self.failures(compiler))

    def test_headers_whose_macros_agree_are_one_group(self):
        self.write({"a.h": "#pragma once\n#define A 1\n", "b.h": "#pragma once\n#define B 2\n",
                    "c.h": "#pragma once\n#undef A\n#define A 3\n"})
        groups = list(check_headers.library_groups(self.command("gcc"), ["a.h", "b.h", "c.h"]))
        self.assertEqual(groups, [["b.h", "c.h"], ["a.h"]])


if __name__ == "__main__":
    unittest.main()
