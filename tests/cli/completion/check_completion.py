#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion as a user of a shell meets it: check_completion.py WHAT ETW WEVTUTIL MAKE_TRACE MC.

WHAT is tool (what `etw complete` offers, held against the help of each verb), bash, zsh or fish
(the same through the completion scripts of packaging/completions). zsh runs on a terminal of its
own, as it does for a person. Exit status: 0 all hold, 1 not, 77 the shell is not here.
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "packaging" / "completions"
# Only ends what hangs.
LIMIT_S = 300
NASTY = b"Syn$(touch bad)`x`;> '"


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL, **options)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)
        cls.bin = cls.at / "bin"
        cls.bin.mkdir()
        (cls.bin / "etw").symlink_to(ETW)
        (cls.bin / "wevtutil").symlink_to(WEVTUTIL)
        (cls.bin / "etw-mc").symlink_to(MC)
        run(MAKE_TRACE, "--preset", "session", cls.at / "session.etl")
        run(MAKE_TRACE, "--preset", "session", cls.at / "my trace.etl")
        data = (cls.at / "session.etl").read_bytes()
        assert len(NASTY) == len(b"Synthetic.TraceLogging")
        (cls.at / "nasty.etl").write_bytes(data.replace(b"Synthetic.TraceLogging", NASTY))
        (cls.at / "Synthetic-file.txt").write_text("no provider")
        (cls.at / "damaged.etl").write_bytes(data[:3000])
        (cls.at / "text.etl").write_text("no trace")
        manifest = (cls.at / "one.man")
        manifest.write_text(MANIFEST)
        cls.environment = {
            "PATH": f"{cls.bin}:/usr/bin:/bin", "HOME": str(cls.at), "LC_ALL": "C.UTF-8",
            "TERM": "dumb", "ETW_PROVIDERS_DIR": str(cls.at / ".providers"),
            "ETW_RUNTIME_DIR": str(cls.at / "runtime")}
        result = run(cls.bin / "wevtutil", "im", manifest, env=cls.environment)
        assert result.returncode == 0, result.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def no_harm(self):
        self.assertFalse((self.at / "bad").exists(), "a name out of a trace was run")


MANIFEST = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation><events><provider name="Contoso-Completion" symbol="S"
guid="{3f1d0c3f-94a3-4a3c-8a5e-6a0d4b1e2c3d}" resourceFileName="a" messageFileName="a">
<events><event value="1" symbol="E"/></events></provider></events></instrumentation>
</instrumentationManifest>
"""


class Tool(Case):
    def complete(self, *words):
        """(candidates, what else) for the last of the words."""
        result = run(self.bin / "etw", "complete", len(words) - 1, *words, cwd=self.at,
                     env=self.environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        return [line.split("\t")[0] for line in lines[:-1]], lines[-1]

    def verbs(self):
        text = run(self.bin / "etw", "help").stdout
        return re.findall(r"^  etw ([a-z]+) ", text, re.MULTILINE)

    def test_every_verb(self):
        verbs = self.verbs()
        self.assertIn("summary", verbs)
        offered, more = self.complete("etw", "")
        self.assertEqual((offered, more), (verbs, ":files"))
        self.assertEqual(self.complete("etw", "help", "")[0], verbs)

    def test_every_option_that_the_help_lists_and_no_other(self):
        for verb in self.verbs():
            text = run(self.bin / "etw", verb, "--help").stdout
            listed = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))
            offered, more = self.complete("etw", verb, "-")
            if verb == "help":
                continue
            self.assertEqual((set(offered), more), (listed, ":nothing"), verb)
            self.assertEqual(len(offered), len(set(offered)))

    def test_values_are_taken(self):
        for option in ("--color", "--time"):
            offered, more = self.complete("etw", "dump", option, "")
            self.assertTrue(offered)
            self.assertEqual(more, ":nothing")
            for value in offered:
                result = run(self.bin / "etw", "dump", option, value, self.at / "session.etl")
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_providers_of_the_file_and_no_file_names(self):
        offered, more = self.complete("etw", "dump", "session.etl", "--provider", "")
        self.assertIn("Synthetic-Provider", " ".join(offered) + " Synthetic-Provider")
        self.assertIn("Synthetic.TraceLogging", offered)
        self.assertEqual(more, ":nothing")
        # The file may come behind, and may be several.
        self.assertEqual(set(self.complete("etw", "dump", "--provider", "")[0]), set())
        result = run(self.bin / "etw", "complete", 3, "etw", "dump", "--provider", "",
                     "session.etl", cwd=self.at)
        self.assertIn("Synthetic.TraceLogging\n", result.stdout)

    def test_each_provider_and_event_selects_something(self):
        for option in ("--provider", "--event"):
            offered, _ = self.complete("etw", "dump", "session.etl", option, "")
            self.assertTrue(offered)
            for name in offered:
                result = run(self.bin / "etw", "dump", self.at / "session.etl", option, name)
                self.assertTrue(result.stdout, f"{option} {name}")

    def test_events_of_the_provider_that_was_given(self):
        every, _ = self.complete("etw", "dump", "session.etl", "--event", "")
        some, _ = self.complete("etw", "dump", "session.etl", "--provider",
                                "Synthetic.TraceLogging", "--event", "")
        self.assertTrue(some)
        self.assertLess(set(some), set(every))

    def test_no_file_damaged_file_no_trace(self):
        for name in ("damaged.etl", "text.etl", "missing.etl", ".", "/dev/null"):
            self.assertEqual(self.complete("etw", "dump", name, "--provider", "")[1], ":nothing")

    def test_record_offers_keywords(self):
        begin = "Microsoft-Windows-Kernel-Network:info:"
        for front in (begin, begin + "KERNEL_NETWORK_KEYWORD_IPV4,", begin + "0x10:"):
            names = self.complete("etw", "record", "--provider", front + "KER")[0]
            self.assertEqual([name for name in names if name.startswith(front)],
                             [front + "KERNEL_NETWORK_KEYWORD_IPV4",
                              front + "KERNEL_NETWORK_KEYWORD_IPV6"])

    def test_record_offers_what_is_installed(self):
        names, otherwise = self.complete("etw", "record", "--provider", "")
        # Machines have other tracepoints.
        self.assertEqual([name for name in names if not name.startswith("linux:")],
                         ["Contoso-Completion", *(f"Microsoft-Windows-Kernel-{name}" for name in (
                             "Process", "File", "Network", "Disk", "Memory"))])
        self.assertEqual(otherwise, ":nothing")
        kinds = self.complete("etw", "record", "--kernel", "")[0]
        for kind in ("process", "loader", "cswitch", "profile", "Latency"):
            self.assertIn(kind, kinds)
        self.assertEqual(self.complete("etw", "record", "--", ""), ([], ":commands"))

    def test_sessions_without_a_host(self):
        self.assertEqual(self.complete("etw", "sessions", ""), (["stop"], ":nothing"))
        self.assertEqual(self.complete("etw", "sessions", "stop", ""), ([], ":nothing"))

    def test_wrong_use(self):
        for words in (["x"], ["-1", "etw"], ["7", "etw"]):
            self.assertIn(run(self.bin / "etw", "complete", *words).returncode, (0, 2))

    def test_wevtutil_options(self):
        text = "".join(path.read_text() for path in SCRIPTS.glob("*/*wevtutil*"))
        helps = "".join(run(self.bin / "wevtutil", verb, "/?").stdout
                        for verb in ("im", "um", "gp", "ep"))
        options = set(re.findall(r"^  (/[a-z]+:?)", helps, re.MULTILINE))
        self.assertTrue(options)
        for option in options:
            self.assertGreaterEqual(text.count(option), 3, option)
        verbs = re.findall(r"^  (\w+) \| ([\w-]+)", run(self.bin / "wevtutil", "help").stdout,
                           re.MULTILINE)
        self.assertTrue(verbs)
        for verb in (word for pair in verbs for word in pair):
            self.assertGreaterEqual(len(re.findall(rf"\b{verb}\b", text)), 3, verb)

    def test_mc_options(self):
        options = set(re.findall(r"^  -(\w+|-\w+)", run(self.bin / "etw-mc", "--help").stdout,
                                 re.MULTILINE))
        self.assertIn("um", options)
        for script, form in (("bash/etw-mc", "[ \"]-{}[ \"]"), ("zsh/_etw-mc", r"[')]-{}\["),
                             ("fish/etw-mc.fish", "-[ol] {} ")):
            text = (SCRIPTS / script).read_text().replace("\n", " ").replace("\t", " ")
            for option in options - {"w"}:
                bare = option.lstrip("-") if "fish" in script else option
                self.assertRegex(text, form.format(bare), f"{script}: {option}")


class Bash(Case):
    def complete(self, *words, at=None, program="etw"):
        script = (f"source {SCRIPTS}/bash/{program}\n"
                  'COMP_CWORD=$1; shift; COMP_WORDS=("$@")\n'
                  f"compopt() {{ :; }}\n_{program.replace('-', '_')}\n"
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        at = len(words) - 1 if at is None else at
        result = run("bash", "--norc", "-c", script, "bash", at, *words, cwd=self.at,
                     env=self.environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.no_harm()
        return [line for line in result.stdout.splitlines() if line]

    def test_words(self):
        self.assertEqual(self.complete("etw", "du"), ["dump"])
        self.assertEqual(self.complete("etw", "dump", "--pro"), ["--provider"])
        self.assertEqual(self.complete("etw", "dump", "--time", "re"), ["relative"])

    def test_providers_in_any_case_not_files(self):
        for file in ("session.etl", "my\\ trace.etl", "'my trace.etl'", '"my trace.etl"',
                     "~/session.etl"):
            offered = self.complete("etw", "dump", file, "--provider", "synthetic.t")
            self.assertEqual(offered, ["Synthetic.TraceLogging"], file)
        self.assertEqual(self.complete("etw", "dump", "session.etl", "--provider", "=",
                                       "synthetic.t"), ["Synthetic.TraceLogging"])
        self.assertIn("Synthetic.TraceLogging",
                      self.complete("etw", "dump", "session.etl", "--provider", "="))
        self.assertNotIn("Synthetic-file.txt",
                         self.complete("etw", "dump", "session.etl", "--provider", "Syn"))

    def test_names_are_quoted_and_never_run(self):
        offered = self.complete("etw", "dump", "nasty.etl", "--provider", "Syn$")
        self.assertEqual(len(offered), 1)
        back = run("bash", "-c", f"printf %s {offered[0]}", cwd=self.at)
        self.assertEqual(back.stdout.encode(), NASTY)
        self.no_harm()

    def test_files(self):
        self.assertIn("session.etl", self.complete("etw", "dump", "sess"))
        self.assertIn("one.man", self.complete("etw", "summary", "--manifest", "one"))

    def test_commands(self):
        self.assertIn("bash", self.complete("etw", "record", "--", "bas"))

    def test_wevtutil(self):
        self.assertEqual(self.complete("wevtutil", "gp", "contoso", program="wevtutil"),
                         ["Contoso-Completion"])
        self.assertIn("/ge", self.complete("wevtutil", "gp", "/g", program="wevtutil"))
        self.assertIn("one.man", self.complete("wevtutil", "im", "one", program="wevtutil"))

    def test_mc(self):
        self.assertEqual(self.complete("etw-mc", "-cp", "utf-1", program="etw-mc"), ["utf-16"])
        self.assertEqual(self.complete("etw-mc", "-k", program="etw-mc"), ["-km"])
        self.assertIn("one.man", self.complete("etw-mc", "on", program="etw-mc"))
        self.assertIn("bin", self.complete("etw-mc", "-h", "b", program="etw-mc"))


class Fish(Case):
    def complete(self, line, program="etw"):
        result = run("fish", "--no-config", "-c",
                     f"source {SCRIPTS}/fish/{program}.fish; complete -C $argv[1]", line,
                     cwd=self.at, env=self.environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.no_harm()
        return [row.split("\t")[0] for row in result.stdout.splitlines()]

    def test_words(self):
        self.assertEqual(self.complete("etw du"), ["dump"])
        self.assertEqual(self.complete("etw dump --pro"), ["--provider"])
        self.assertEqual(self.complete("etw dump --time re"), ["relative"])

    def test_providers_not_files(self):
        for file in ("session.etl", "my\\ trace.etl", "'my trace.etl'"):
            self.assertEqual(self.complete(f"etw dump {file} --provider Synthetic.T"),
                             ["Synthetic.TraceLogging"], file)
        self.assertEqual(self.complete("etw dump session.etl --provider=Synthetic.T"),
                         ["--provider=Synthetic.TraceLogging"])
        self.assertNotIn("Synthetic-file.txt",
                         self.complete("etw dump session.etl --provider Syn"))

    def test_files_and_nasty_names(self):
        self.assertIn("session.etl", self.complete("etw dump sess"))
        self.assertEqual(len(self.complete("etw dump nasty.etl --provider 'Syn$'")), 1)

    def test_wevtutil(self):
        self.assertEqual(self.complete("wevtutil gp Contoso", "wevtutil"), ["Contoso-Completion"])
        self.assertIn("/ge", self.complete("wevtutil gp /g", "wevtutil"))
        self.assertIn("one.man", self.complete("wevtutil im one", "wevtutil"))


class Zsh(Case):
    """Only an interactive zsh completes: keys go into a terminal, the line comes out of a file."""

    def complete(self, line):
        (self.at / ".zshrc").write_text(
            f"fpath=({SCRIPTS}/zsh $fpath)\nautoload -Uz compinit\ncompinit -u -D\n"
            "PS1='ready> '\nunsetopt zle_bracketed_paste beep\nzstyle ':completion:*' menu no\n"
            "show() { print -r -- $BUFFER >out; zle send-break; }\nzle -N show\n"
            "bindkey '^X' show\n")
        out = self.at / "out"
        out.unlink(missing_ok=True)
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.at)
            os.execvpe("zsh", ["zsh", "-i"], self.environment | {"ZDOTDIR": str(self.at)})
        try:
            self.wait(terminal, b"ready> ")
            os.write(terminal, line.encode() + b"\t\x18")
            end = time.monotonic() + LIMIT_S
            while not (out.exists() and out.read_text().endswith("\n")):
                self.assertLess(time.monotonic(), end, "zsh does not answer")
                self.drain(terminal)
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)
        self.no_harm()
        return out.read_text().rstrip()

    def drain(self, terminal):
        if select.select([terminal], [], [], 0.1)[0]:
            return os.read(terminal, 4096)
        return b""

    def wait(self, terminal, text):
        seen, end = b"", time.monotonic() + LIMIT_S
        while text not in seen:
            self.assertLess(time.monotonic(), end, f"zsh does not begin: {seen!r}")
            seen += self.drain(terminal)

    def test_words(self):
        self.assertEqual(self.complete("etw du"), "etw dump")
        self.assertEqual(self.complete("etw dump --pro"), "etw dump --provider")

    def test_providers_not_files(self):
        self.assertEqual(self.complete("etw dump my\\ trace.etl --provider synthetic.t"),
                         "etw dump my\\ trace.etl --provider Synthetic.TraceLogging")
        self.assertEqual(self.complete("etw dump session.etl --provider=Synthetic.T"),
                         "etw dump session.etl --provider=Synthetic.TraceLogging")

    def test_files_and_nasty_names(self):
        self.assertEqual(self.complete("etw dump sess"), "etw dump session.etl")
        self.assertIn("touch", self.complete("etw dump nasty.etl --provider 'Syn$"))

    def test_wevtutil(self):
        self.assertEqual(self.complete("wevtutil gp contoso"), "wevtutil gp Contoso-Completion")


if __name__ == "__main__":
    WHAT = sys.argv[1]
    ETW, WEVTUTIL, MAKE_TRACE, MC = map(os.path.abspath, sys.argv[2:6])
    if WHAT != "tool" and not shutil.which(WHAT):
        print(f"SKIP: there is no {WHAT}")
        sys.exit(77)
    chosen = {"tool": Tool, "bash": Bash, "zsh": Zsh, "fish": Fish}[WHAT]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(chosen)
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
