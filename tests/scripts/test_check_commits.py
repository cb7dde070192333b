#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/check_commits on made-up histories: which messages hold, and what it does without one."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_commits"
BODY = "\n\nIt was wrong, because it was.\n"
# git reads no configuration of this machine's user, and is told who commits.
ENVIRONMENT = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com"}


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT, **options)


class Clone:
    """A repository with one commit for each message."""

    def __init__(self, *messages):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name) / "clone"
        run("git", "init", "-q", self.at, check=True)
        for message in messages:
            self.commit(message)

    def git(self, *arguments):
        return run("git", "-C", self.at, *arguments, check=True).stdout.strip()

    def commit(self, message):
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)
        return self.git("rev-parse", "HEAD")

    def check(self, base, root=None):
        """Returns (exit status, output)."""
        result = run(sys.executable, SCRIPT, "--root", root or self.at, "--base", base, check=False)
        return result.returncode, result.stdout + result.stderr

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.folder.cleanup()


class CheckCommits(unittest.TestCase):
    def problems(self, message):
        """What is said about one message."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "message"
            path.write_text(message, encoding="utf-8")
            result = run(sys.executable, SCRIPT, "--message", path, check=False)
        lines = result.stdout.splitlines()
        self.assertEqual(result.returncode, 1 if lines else 0, result.stderr)
        return [line.removeprefix("check_commits: ") for line in lines]

    def test_good_messages_hold(self):
        for subject in ("ring: count lost events where they are lost",
                        "etw, docs: say what a filter costs",
                        "process: keep the providers of rules in one list",
                        "etw: show names and times of added providers", # no second change
                        "build: pass clang's warnings and clang-tidy again",
                        "base: embed a table", "base: need no lock", "wire: process one more type",
                        "api: EventWrite is 5 instructions shorter", # a name
                        "tools/etw: seed the hash", "x" * 10 + ": " + "y" * 60):
            self.assertEqual(self.problems(subject + BODY), [], subject)

    def test_subjects_that_do_not_hold(self):
        for subject, said in (
                ("y: " + "y" * 70, "has 73 characters, more than 72"),
                ("ring: count lost events.", "ends with a period"),
                ("Count lost events", "is not `module: what is done`"),
                ("kernel source: count", "is not `module: what is done`"),
                ("ring: Count lost events", "`Count` after the colon begins with a capital"),
                ("ring: counts lost events", "`counts` is not the imperative"),
                ("ring: counted lost events", "`counted` is not the imperative"),
                ("ring: counting lost events", "`counting` is not the imperative"),
                ("ring: count events; test it", "joins two ideas by `;`"),
                ("ring: count events, also of others", "says `also`"),
                ("ring: count events and remove the old counter", "ideas by `and remove`"),
                ("fixup! ring: count", "not finished"), ("wip", "not finished"),
                ("x", "not finished"), ("ring: wip", "does not say what is done")):
            problems = self.problems(subject + BODY)
            self.assertEqual(len(problems), 1, (subject, problems))
            self.assertIn(said, problems[0])

    def test_bodies_that_do_not_hold(self):
        for body, said in (
                ("", "there is no body"), ("\n\n\n", "there is no body"),
                ("\n\nSigned-off-by: A <a@example.com>\n", "there is no body"),
                ("\nBecause.\n", "the line below the subject is not empty"),
                ("\n\n" + "why " * 30, "wider than 100: why why")):
            problems = self.problems("ring: count" + body)
            self.assertEqual(len(problems), 1, (body, problems))
            self.assertIn(said, problems[0])
        for line in "    " + "output " * 20, "https://" + "x" * 100:
            self.assertEqual(self.problems(f"ring: count\n\nWhy:\n{line}\n"), [])

    def test_comments_and_what_git_shows_below_are_no_message(self):
        self.assertEqual(self.problems("# Please enter\nring: count\n\nWhy.\n# On branch x\n"), [])
        shown = "# ------------------------ >8 ------------------------\n" + "wide " * 40
        self.assertEqual(self.problems("ring: count\n\nWhy.\n" + shown), [])
        self.assertEqual(self.problems("Merge branch 'x'\n"), [])

    def test_only_commits_since_the_base_count(self):
        with Clone("old one.", "older") as clone:
            base = clone.git("rev-parse", "HEAD")
            self.assertEqual(clone.check(base), (0, "check_commits: 0 commits, 0 problems\n"))
            clone.commit("ring: count" + BODY)
            self.assertEqual(clone.check(base), (0, "check_commits: 1 commits, 0 problems\n"))
            bad = clone.commit("Bad" + BODY)
            status, output = clone.check(base)
            self.assertEqual(status, 1)
            self.assertRegex(output, r"(?m)^%s\w*: the subject is not `module" % bad[:7])
            self.assertIn("check_commits: 2 commits, 1 problems", output)

    def test_merges_are_excepted(self):
        with Clone("old") as clone:
            base = clone.git("rev-parse", "HEAD")
            clone.git("checkout", "-q", "-b", "side")
            clone.commit("ring: count" + BODY)
            clone.git("checkout", "-q", "-")
            clone.commit("ring: grow" + BODY)
            clone.git("merge", "-q", "--no-ff", "-m", "Merge side.", "side")
            self.assertEqual(clone.check(base), (0, "check_commits: 2 commits, 0 problems\n"))

    def test_without_history_it_says_so(self):
        with Clone("old", "bad", "worse") as clone:
            base = clone.git("rev-parse", "HEAD~2")
            shallow = clone.at.parent / "shallow"
            run("git", "clone", "-q", "--depth", "1", f"file://{clone.at}", shallow, check=True)
            bare = clone.at.parent / "bare"
            bare.mkdir()
            for root, said in (shallow, "does not reach back to " + base[:12]), (bare, "no clone"):
                status, output = clone.check(base, root)
                self.assertEqual(status, 77, output)
                self.assertRegex(output, f"^SKIP: no history: .*{said}")


if __name__ == "__main__":
    if not shutil.which("git"):
        print("SKIP: needs git")
        sys.exit(77)
    unittest.main()
