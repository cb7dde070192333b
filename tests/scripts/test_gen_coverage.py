#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_coverage on small made-up trees: what it counts as built and what it refuses."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gen_coverage"
TREE = {
    "include/evntprov.h": "ETW_API ULONG EVNTAPI First(ULONG a,\n\t\tULONG b);\n"
                          "ETW_API PVOID EVNTAPI Second(void);\n"
                          "/* ETW_API ULONG Commented(void); */\n"
                          "EVNTPROV_PFORCEINLINE VOID Inline(void)\n{\n}\n",
    "include/evntrace.h": "DEFINE_GUID(SomeGuid,\n\t    0x1);\n",
    "include/evntcons.h": "",
    "include/tdh.h": "",
    "include/errhandlingapi.h": "",
    "abi/one.map": "ETW_1.0 {\n\tglobal:\n\t\tFirst;\n\t\tSecond;\n\t\tSomeGuid;\n"
                   "\tlocal:\n\t\t*;\n};\n",
    "src/api/first.c": "static ULONG helper(void)\n{\n\treturn 1;\n}\n\n"
                       "ULONG First(ULONG a,\n\t    ULONG b)\n{\n\treturn a + b;\n}\n",
    "src/api/second.c": "PVOID Second(void)\n{\n\tETW_UNBUILT(Second);\n\treturn NULL;\n}\n",
}


def run(files, *flags):
    """Run the script on TREE with `files` laid over; returns (exit status, page, complaints)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**TREE, **files}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, SCRIPT, *flags, folder], capture_output=True,
                                text=True, check=False)
        page = pathlib.Path(folder, "docs/coverage.md")
        text = page.read_text(encoding="utf-8") if page.exists() else ""
    return result.returncode, text, result.stderr


class GenCoverage(unittest.TestCase):
    def test_built_unbuilt_and_inline(self):
        status, page, complaints = run({})
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("| First | built | `src/api/first.c` |", page)
        self.assertIn("| Second | not built | `src/api/second.c` |", page)
        self.assertIn("| Inline | built | inline in the header |", page)
        self.assertIn("| evntprov.h | 3 | 2 | 0 | 1 |", page)
        self.assertNotIn("Commented", page)

    def test_what_only_checks_its_arguments_is_refused(self):
        body = "PVOID Second(void)\n{\n\tETW_REFUSED(Second);\n\treturn NULL;\n}\n"
        status, page, complaints = run({"src/api/second.c": body})
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("| Second | refused | `src/api/second.c` |", page)
        self.assertIn("| evntprov.h | 3 | 2 | 1 | 0 |", page)

    def test_functions_that_macros_define(self):
        macros = ("#define ONE(name, type) \\\n\ttype name(void) \\\n"
                  "\t{ \\\n\t\treturn 0; \\\n\t}\n"
                  "#define TYPED(word) \\\n\tstatic int twice; \\\n\tONE(Se##word, PVOID)\n\n"
                  "TYPED(cond)\n")
        status, page, complaints = run({"src/api/second.c": macros})
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("| Second | built | `src/api/second.c` |", page)

    def test_names_of_tracelogging(self):
        header = ("#define TraceLoggingInt8(...) ETW_TL_FIELD(__VA_ARGS__)\n"
                  "#define ETW_TL_FIELD(...) 0\n"
                  "ETW_STATIC_INLINE BOOLEAN TraceLoggingProviderEnabled(UCHAR level)\n{\n}\n"
                  "ETW_STATIC_INLINE ULONG etw_tl_describe(void)\n{\n}\n"
                  "/* class TraceLoggingCommented */\n")
        status, page, complaints = run({"include/TraceLoggingProvider.h": header,
                                        "include/TraceLoggingActivity.h":
                                        "class TraceLoggingActivity final\n{\n};\n"})
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("| TraceLoggingInt8 | built | macro |\n"
                      "| TraceLoggingProviderEnabled | built | function |\n", page)
        self.assertIn("| TraceLoggingActivity | built | class |", page)
        self.assertNotIn("Commented", page)
        self.assertNotIn("etw_tl", page.lower())

    def test_check_wants_the_page(self):
        status, _, complaints = run({}, "--check")
        self.assertEqual(status, 1)
        self.assertIn("stale", complaints)
        page = run({})[1]
        self.assertEqual(run({"docs/coverage.md": page}, "--check")[0], 0)
        self.assertEqual(run({"docs/coverage.md": page + "x"}, "--check")[0], 1)

    def test_declared_but_neither_exported_nor_defined(self):
        lost = "ETW_API TDHSTATUS WINAPI TdhLost(void);\n"
        status, page, complaints = run({"include/tdh.h": lost})
        self.assertEqual(status, 1)
        self.assertIn("TdhLost is not exported", complaints)
        self.assertIn("TdhLost is not defined", complaints)
        self.assertIn("| TdhLost | missing |", page)

    def test_exported_but_not_declared(self):
        extra = TREE["abi/one.map"].replace("First;", "First;\n\t\tSurplus;")
        status, _, complaints = run({"abi/one.map": extra})
        self.assertEqual(status, 1)
        self.assertIn("Surplus is exported, but no header declares it", complaints)

    def test_a_guid_must_be_exported(self):
        status, _, complaints = run({"include/relogger.h": "EXTERN_C const IID IID_Other;\n"})
        self.assertEqual(status, 1)
        self.assertIn("IID_Other is declared, but not exported", complaints)

    def test_a_mark_in_the_wrong_function(self):
        wrong = TREE["src/api/second.c"].replace("(Second)", "(Third)", 1)
        self.assertIn("Second carries ETW_UNBUILT(Third)", run({"src/api/second.c": wrong})[2])


if __name__ == "__main__":
    unittest.main()
