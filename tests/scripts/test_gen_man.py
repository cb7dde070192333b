#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_man on small made-up headers: which pages it writes, and what it refuses."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gen_man"
NAMES = ("etw/reader.h", "etw/predicate.h", "etw/event.h", "etw/fields.h", "etw/builder.h",
         "etw/schemas.h", "etw/session.h", "etw/provider_id.h", "etw/image.h", "etw/relogger.h",
         "etw/etw.h",
         "evntprov.h", "evntrace.h", "evntcons.h", "tdh.h", "errhandlingapi.h")
READER = """/* SPDX-License-Identifier: MIT */
/*
 * Readers. More about them.
 *
 * Context: one thread.
 */
#ifndef A
#define A

/* What it counts. */
struct libetw_stats {
\tuint64_t events; /* delivered */
};

/*
 * libetw_add() - adds a file.
 *
 * @path: where it is
 *
 * It is opened. Returns 0; -EINVAL: it is NULL, or
 * -like; -ENOENT: there is none;
 * -EBUSY: it is running; -ENOMEM; what reading fails with (-EIO ...). On failure nothing is added.
 */
ETW_API int libetw_add(struct libetw_reader *reader,
\t\t       const char *path);

/* libetw_count_u8() and its like - what was counted. Returns the same; -ERANGE: too many. */
ETW_API int libetw_count_u8(struct libetw_reader *reader, struct libetw_stats *ret);
ETW_API int libetw_count_u16(struct libetw_reader *reader, struct libetw_stats *ret);

#endif
"""
TRACE = """/* --- Section. */

/*
 * StartTraceW() and its like - starts a session.
 *
 * @Handle: gets it
 *
 * Returns ERROR_SUCCESS; ERROR_BAD_LENGTH: too
 * short; ERROR_NOT_ENOUGH_MEMORY.
 */
ETW_API ULONG WMIAPI StartTraceW(_Out_ PTRACEHANDLE Handle, _In_opt_ LPCWSTR Name);
ETW_API ULONG WMIAPI StartTraceA(_Out_ PTRACEHANDLE Handle, _In_opt_ LPCSTR Name);

ETW_API ULONG WMIAPI Unbuilt(void);
"""
COVERAGE = "| StartTraceW | built | x |\n| Unbuilt | not built | x |\n"


def run(files, *flags, before=None):
    """Run the script on the tree; returns (exit status, {page: text}, complaints)."""
    tree = {f"include/{name}": "/* A header. */\n#ifndef A\n#endif\n" for name in NAMES}
    tree.update({"include/etw/reader.h": READER, "include/evntrace.h": TRACE,
                 "docs/coverage.md": COVERAGE})
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**tree, **files}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if before:
            subprocess.run([sys.executable, SCRIPT, folder], check=True)
            before(pathlib.Path(folder))
        result = subprocess.run([sys.executable, SCRIPT, *flags, folder], capture_output=True,
                                text=True, check=False)
        pages = {path.name: path.read_text(encoding="utf-8")
                 for path in pathlib.Path(folder, "man/man3").glob("*")}
    return result.returncode, pages, result.stderr


class GenMan(unittest.TestCase):
    def test_parts_of_a_page(self):
        status, pages, complaints = run({})
        self.assertEqual((status, complaints), (0, ""))
        page = pages["libetw_add.3"]
        for part in (".Nm libetw_add\n.Nd adds a file\n", ".In etw/reader.h\n",
                     '.Fa "const char *path"\n', ".It Fa path\nWhere it is.\n", "It is opened.\n",
                     "On failure nothing is added.\n", ".Ss Threads\nOne thread.\n",
                     ".It Other errors\nWhat reading fails with (\\-EIO ...).\n"):
            self.assertIn(part, page)

    def test_errors_are_a_list_wherever_their_lines_break(self):
        page = run({})[1]["libetw_add.3"]
        for code, meaning in (("EINVAL", "It is NULL, or \\-like."), ("ENOENT", "There is none."),
                              ("EBUSY", "It is running."), ("ENOMEM", "Memory ran out.")):
            self.assertIn(f".It Er \\-{code}\n{meaning}\n", page.replace("or -like", "or \\-like"))

    def test_a_group_has_one_page_the_types_and_what_it_inherits(self):
        _, pages, _ = run({})
        page = pages["libetw_count_u8.3"]
        self.assertIn(".Nm libetw_count_u8 ,\n.Nm libetw_count_u16\n", page)
        self.assertIn("uint64_t events; /* delivered */", page)
        self.assertIn("\\-EBUSY", page)
        self.assertIn("\\-ERANGE", page)
        self.assertNotIn("libetw_count_u16.3", pages)
        self.assertIn("libetw_count_u16 libetw_count_u8\n", pages["aliases"])

    def test_annotations_say_the_direction(self):
        page = run({})[1]["StartTraceW.3"]
        self.assertIn('.Fa "LPCWSTR Name"\n', page)
        self.assertIn(".It Fa Handle\n(out) Gets it.\n", page)
        self.assertIn(".It Fa Name\n(in, optional)\n", page)
        self.assertIn(".It Er ERROR_BAD_LENGTH\nToo short.\n", page)

    def test_what_is_not_built_has_no_page(self):
        self.assertNotIn("Unbuilt.3", run({})[1])

    def test_a_built_function_without_documentation_is_an_error(self):
        status, _, complaints = run({"include/tdh.h": "/* A header. */\n#ifndef A\n"
                                     "ETW_API ULONG WINAPI TdhNew(_In_ PVOID Event);\n#endif\n"})
        self.assertEqual(status, 1)
        self.assertIn("include/tdh.h: TdhNew() has no documentation", complaints)

    def test_a_parameter_that_is_not_there_is_an_error(self):
        status, _, complaints = run({"include/etw/reader.h": READER.replace("@path", "@place")})
        self.assertEqual(status, 1)
        self.assertIn("libetw_add() has no parameter place", complaints)

    def test_check_finds_stale_missing_and_surplus_pages(self):
        self.assertEqual(run({}, "--check", before=lambda root: None)[0], 0)

        def spoil(root):
            (root / "man/man3/libetw_add.3").write_text("old", encoding="utf-8")
            (root / "man/man3/StartTraceW.3").unlink()
            (root / "man/man3/gone.3").write_text("", encoding="utf-8")

        status, _, complaints = run({}, "--check", before=spoil)
        self.assertEqual(status, 1)
        for name in ("libetw_add.3", "StartTraceW.3", "gone.3"):
            self.assertIn(f"man/man3/{name} is stale", complaints)


if __name__ == "__main__":
    unittest.main()
