#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/check_docs on small made-up trees: what it lets pass and what it names."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_docs"
SPDX = "/* SPDX-License-Identifier: MIT */\n"


def check(files, build=()):
    """Run the script on a tree of `files`; with `build`, programs by name, as --bin."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**files, **{f"bin/{tool}": text for tool, text in build}}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.chmod(path, 0o755)
        options = ["--bin", f"{folder}/bin"] if build else []
        result = subprocess.run([sys.executable, SCRIPT, *options, folder], capture_output=True,
                                text=True, check=False)
    lines = result.stdout.splitlines()
    return result.returncode, lines[:-1]


class CheckDocs(unittest.TestCase):
    def assert_holds(self, files):
        self.assertEqual(check(files), (0, []))

    def assert_problem(self, files, *expected):
        self.assertEqual(check(files), (1, list(expected)))

    def test_paths_that_exist_or_are_not_paths_of_the_repository(self):
        self.assert_holds({
            "src/base/x.c": SPDX,
            "src/base/y.c": SPDX,
            "docs/page.md": "",
            "a.md": "`src/base/x.c`, `base/x.c`, `src/base`, `src/<module>/*.c`, `./src`, `a/b/c`\n"
                    "`x == y/2`, [page](docs/page.md), [far](https://example.org/x)\n"
                    "```\nsrc/nothing `src/nothing`\n```\n"})

    def test_paths_that_do_not_exist_are_named(self):
        self.assert_problem(
            {"src/base/x.c": SPDX,
             "a.md": "see `src/base/z.c`\nor `base/z.c --now`\nor [this](docs/none.md)\n"},
            "a.md:1: names src/base/z.c, which does not exist",
            "a.md:2: names base/z.c, which does not exist",
            "a.md:3: link to docs/none.md, which does not exist")

    def test_environment_variables_are_listed_in_their_page(self):
        self.assert_problem(
            {"src/base/x.c": SPDX + 'f("ETW_ONE");\nf("ETWD_TWO");\nf("ETW_three");\n'
                             'secure_getenv("HOME");\ngetenv("ETW_ONE");\n',
             "man/libetw-environment.7": ".It Ev ETW_ONE *\n.Ev ETWD_TWO\n.It Ev OLD , ETW_ONE\n"},
            "src/base/x.c:3: ETWD_TWO is not listed in man/libetw-environment.7",
            "src/base/x.c:5: HOME is not listed in man/libetw-environment.7",
            "src/base/x.c:6: getenv() in a library; call secure_getenv()",
            "man/libetw-environment.7:3: OLD is read by no source")

    def test_commented_declarations(self):
        self.assert_holds({"src/base/x.h": SPDX + """
/* One line. */
int f(void);

/*
 * A longer one.
 */
int g(int a,
      int b) __attribute__((format(printf, 1, 2)));
int h(void); /* in the run of g() */

#define M(x) \\
	int x(void);
/* A struct with a callback. */
struct s {
	int (*call)(void);
};

typedef int (*callback)(void);
static inline int quiet(void)
{
	return f();
}
extern const int numbers[2];
"""})

    def test_uncommented_declarations_are_named(self):
        self.assert_problem(
            {"src/base/x.h": SPDX + "int a(void);\n\n/* For b only. */\nint b(void);\n\n"
                             "struct x *\nc(void); /* behind does not count */\n"},
            "src/base/x.h:2: a() has no comment above it",
            "src/base/x.h:7: c() has no comment above it")

    def test_sources_need_an_spdx_line_and_no_line_comments(self):
        self.assert_problem(
            {"src/base/x.c": "int a;\n",
             "src/base/y.c": SPDX + 'char *u = "http://x"; /* // */\nint b; // why\n',
             "scripts/run": "#!/bin/sh\n"},
            "scripts/run:1: no SPDX-License-Identifier: line at the top",
            "src/base/x.c:1: no SPDX-License-Identifier: line at the top",
            "src/base/y.c:3: // comment; write /* */")

    def test_long_sources(self):
        status, lines = check({"src/base/x.c": SPDX + "\n" * 700})
        self.assertEqual((status, lines),
                         (0, ["src/base/x.c:701: warning: 701 lines; aim below 600"]))
        self.assert_problem({"src/base/x.c": SPDX + "\n" * 1000},
                            "src/base/x.c:1001: 1001 lines; split it (at most 1000)")

    def test_tools_need_a_manual_page(self):
        self.assert_holds({"tools/common/x.c": SPDX, "tools/one/main.c": SPDX, "man/one.1": ""})
        self.assert_problem({"tools/one/main.c": SPDX}, "tools/one:1: no manual page man/one.1")

    def test_names_of_the_project_are_in_a_source(self):
        self.assert_problem(
            {"src/base/x.c": SPDX + "int etw_one(void) { return ETW_TWO; }\n",
             "a.md": "etw_one(), `ETW_TWO`, etw_*, ETW_<word>, `etw_three()`\n",
             "man/x.7": ".Ev ETWD_FOUR\n"},
            "a.md:1: names etw_three, which no source knows",
            "man/x.7:1: names ETWD_FOUR, which no source knows")

    def test_files_that_comments_name_exist(self):
        self.assert_problem(
            {"src/base/x.c": SPDX + "/* As base/x.c,\n * base/y.h and tests/z.py; not a/b.c. */\n"
                             'char *p = "base/text.h";\n',
             "tests/a.py": "# SPDX-License-Identifier: MIT\n"},
            "src/base/x.c:3: names base/y.h, which does not exist",
            "src/base/x.c:3: names tests/z.py, which does not exist")

    def test_rows_of_the_glossary(self):
        head = "# A\n\n## Glossary\n\n| word | meaning |\n|---|---|\n"
        source = {"src/base/x.h": SPDX + "/* The gates of a ring. */\n"}
        self.assert_holds({**source, "ARCHITECTURE.md": head +
                           "| gate | opens (`base/x.h`) |\n| host, ring | (`base/x.h`) |\n"})
        self.assert_problem({**source, "ARCHITECTURE.md": head +
                             "| gate | opens |\n| slot | (`base/x.h`) |\n| ring | `base/x.h` |\n"},
                            "ARCHITECTURE.md:7: gate: no file that has it",
                            "ARCHITECTURE.md:8: slot: not in src/base/x.h",
                            "ARCHITECTURE.md:9: ring stands behind slot: once, in order")

    def test_functions_of_the_api_are_in_a_test(self):
        page = "| function | status |\n|---|---|\n| One | built | `x` |\n| Two | built | `x` |\n"
        self.assert_problem({"docs/coverage.md": page, "tests/x.c": SPDX + "int a = One();\n"},
                            "docs/coverage.md:4: Two is in no test")

    def test_numbers_are_those_of_the_macros(self):
        header = SPDX + "#define KIB 1024\n#define MANY (4 * KIB) /* x */\nenum {\n\tFEW = 3,\n};\n"
        rows = ("# comment\na.md\tat most {} of them\tsrc/base/x.h\tMANY\n"
                "a.md\tor {} KiB\tsrc/base/x.h\tMANY\t1024\na.md\tfew: {}\tsrc/base/x.h\tFEW\n")
        tree = {"src/base/x.h": header, "scripts/doc_limits.tsv": rows}
        self.assert_holds({**tree, "a.md": "At most: at most\n4,096 of them, or 4 KiB; few: 3\n"})
        self.assert_problem(
            {**tree, "a.md": "at most 4,095 of them, or 4 KiB\n"},
            "scripts/doc_limits.tsv:2: a.md says 4095, MANY is 4096",
            'scripts/doc_limits.tsv:4: a.md does not say "few: {}"')

    def test_sections_that_tests_cite(self):
        self.assert_problem(
            {"docs/format/contract-tdh.md": "## 3. Three\n### 7.4 Maps\n",
             "tests/conformance/tdh/x.c": SPDX + 'int a[3] = f("[3]", "[4]"); /* [7.4] */\n'},
            "tests/conformance/tdh/x.c:2: cites [4], which docs/format/contract-tdh.md does not "
            "have")

    def test_sections_that_comments_and_documents_name(self):
        page = '# Rings\n\n## Two words\n\n**Run-in.** Text.\n*Other*: text of ("Rings").\n'
        source = '/* Source: docs/design/x.md "Rings", "Two\n * words" and "Other". */\n'
        self.assert_holds({"docs/design/x.md": page, "src/base/x.h": SPDX + source,
                           "docs/y.md": 'See [x](design/x.md) "Run-in"; docs/z.md "Far".\n'})
        self.assert_problem(
            {"docs/design/x.md": page + 'More ("Locks"), f("Name").\n',
             "src/base/x.h": SPDX + '\n/*\n * design/x.md\n * "Two"\n */\n'},
            'docs/design/x.md:7: cites "Locks", which docs/design/x.md does not have',
            'src/base/x.h:4: cites "Two", which docs/design/x.md does not have')

    def test_tests_that_documents_name(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "build/bin").mkdir(parents=True)
            (root / "build/CTestTestfile.cmake").write_text(
                "add_test(unit.base.test_x true)\n", encoding="utf-8")
            (root / "a.md").write_text("`unit.base`, `unit.*.test_x`, `unit.base.test_y`, `x.y`\n",
                                       encoding="utf-8")
            result = subprocess.run([sys.executable, SCRIPT, "--bin", root / "build/bin", root],
                                    capture_output=True, text=True, check=False)
        self.assertEqual(result.stdout.splitlines()[:-1],
                         ["a.md:1: names the test unit.base.test_y, which there is not"])

    def test_options_of_manual_pages_are_known_to_the_tool(self):
        tree = {"tools/one/main.c": SPDX, "tools/one/cmd_dump.c": SPDX,
                "man/one.1": ".B \\-\\-json\n.BR \\-\\-old =x\n", "man/one-dump.1": ".Fl -first\n"}
        program = "#!/bin/sh\n[ $1 = dump ] && echo ' --first N --new' || echo ' --json'\n"
        self.assertEqual(check(tree, build=[("one", program)]),
                         (1, ["man/one-dump.1:1: does not list --new, which --help has",
                              "man/one.1:2: lists --old, which --help does not know"]))


if __name__ == "__main__":
    unittest.main()
