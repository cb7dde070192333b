#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often the commands of etw load each buffer of a trace: once.

    check_loads.py ETW ETW_COUNTING MAKE_TRACE [--memory]

ETW_COUNTING is etw with count_loads.c. --memory also looks at how much memory the commands take,
which a sanitizer would add to. What the commands print is held against what ETW prints.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

COMMANDS = (["dump", "--json"], ["dump"], ["summary"], ["summary", "--json"], ["processes"],
            ["processes", "--json"], ["info"])
PRESETS = ("plain", "compressed", "messages", "untimed-messages", "wpp", "session", "processes",
           "idle-processor", "processors-300", "equal-times", "wrapped-circular")
# Larger than the 60 MiB that the traces of a command may use.
LARGE = {
    "large": ["--buffers", "1200", "--buffer-bytes", "65536", "--payload", "30000"],
    "large-compressed": ["--buffers", "1100", "--buffer-bytes", "65536", "--payload", "30000",
                         "--pack", "literal"],
}
MEMORY_KIB = (64 + 16) * 1024   # with the program itself and its libraries
failures = 0


def check(holds, *words):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", *words)


class Runner:
    def __init__(self, etw, counting, folder):
        self.etw, self.counting = etw, counting
        self.counts = folder / "counts"
        self.environment = dict(os.environ, LC_ALL="C.UTF-8",
                                ETW_PROVIDERS_DIR=str(folder / "none"))

    def plain(self, command, traces):
        return subprocess.run([self.etw, *command, *traces], env=self.environment,
                              capture_output=True, check=False).stdout

    def counted(self, command, traces, memory=None):
        """What is printed, and buffers, loads, most loads of one, fetches, memory in KiB."""
        environment = dict(self.environment, ETW_TEST_LOADS=str(self.counts))
        if memory is not None:
            environment["ETW_TEST_MEMORY"] = str(memory)
        output = subprocess.run([self.counting, *command, *traces], env=environment,
                                capture_output=True, check=False).stdout
        return output, *(int(word) for word in self.counts.read_text().split())

    def buffers(self, traces):
        """Those with events."""
        texts = self.plain(["info", "--json", "--buffers"], traces).splitlines()
        lists = (json.loads(text)["buffer_list"] for text in texts)
        return sum(buffer["events"] > 0 for buffers in lists for buffer in buffers)


def check_small(runner, traces):
    buffers = runner.buffers(traces)
    for command in COMMANDS:
        expected = runner.plain(command, traces)
        for memory in (None, 10000, 0):
            output, seen, loads, most, fetches, _ = runner.counted(command, traces, memory)
            what = (command, traces, "memory", memory, "gave", seen, loads, most, fetches)
            check(output == expected, "the output differs:", *what)
            check(most == 1 and loads == seen >= buffers, "each of", buffers, "once:", *what)
            if not memory and memory is not None:
                check(fetches >= buffers, "fetches of all:", *what)


def check_large(runner, trace, is_compressed, looks_at_memory):
    buffers = runner.buffers([trace])
    for command in (["dump", "--json"], ["summary"]):
        _, seen, loads, most, fetches, peak = runner.counted(command, [trace])
        what = (command, trace, "gave", seen, loads, most, fetches, peak)
        check(most == 1 and loads == seen == buffers, "each of", buffers, "once:", *what)
        if is_compressed:
            check(0 < fetches < buffers, "some find no room:", *what)
        else:
            check(fetches == buffers, "all are fetched:", *what)
        check(peak < MEMORY_KIB or not looks_at_memory, "memory:", *what)


def main(etw, counting, make_trace, *options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = Runner(etw, counting, folder)
        traces = {}
        for preset in PRESETS:
            traces[preset] = str(folder / f"{preset}.etl")
            subprocess.run([make_trace, "--preset", preset, traces[preset]], check=True)
            check_small(runner, [traces[preset]])
        check_small(runner, [traces["plain"], traces["compressed"], traces["session"]])
        for what, arguments in LARGE.items():
            trace = str(folder / f"{what}.etl")
            subprocess.run([make_trace, *arguments, trace], check=True)
            check_large(runner, trace, "compressed" in what, "--memory" in options)
            os.unlink(trace)
    print("failures:", failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
