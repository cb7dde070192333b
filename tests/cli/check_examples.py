#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run every command line that README.md, the manual pages and --help show as an example.

    check_examples.py ETW WEVTUTIL MAKE_TRACE ETWD

The traces, manifests and programs that the examples name are made up; a host of its own records.
Each command must succeed, with nothing that it did not understand.
Exit status: 0 all do, 1 not.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("etw", "etw-dump", "etw-info", "etw-processes", "etw-providers", "etw-record",
         "etw-sessions", "etw-stacks", "etw-doctor", "etw-summary", "wevtutil")
VERBS = ("summary", "dump", "processes", "stacks", "info", "providers", "record", "sessions",
         "doctor")
TRACES = {"trace.etl": "processes", "kernel.etl": "processes", "user.etl": "processes"}
MANIFESTS = {"Contoso.man": "Contoso-App", "provider.man": "Example-Provider",
             "mnt/windows/Windows/System32/http.man": "Microsoft-Windows-HttpService"}
# What an example may end with besides 0: a session of this name does not run.
OTHER_STATUS = {"etw sessions stop": 1}


def examples_of_pages():
    for page in PAGES:
        text = (ROOT / f"man/{page}.1").read_text(encoding="utf-8").replace("\\-", "-")
        block = text.split(".Sh EXAMPLES")[1].split(".Sh ")[0]
        for line in block.splitlines():
            line = line.removeprefix(".Dl ")
            if re.match(r"(sudo )?(etw|wevtutil) ", line):
                yield page, line


def examples_of_readme():
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("## The first minute")[1]
    for line in block.split("```")[1].splitlines():
        if line.startswith("$ "):
            yield "README.md", re.split(r"\s{2,}#|\s+# ", line[2:])[0]


def examples_of_help(etw):
    for verb in VERBS:
        text = subprocess.run([etw, verb, "--help"], capture_output=True, text=True,
                              check=True).stdout
        if "Examples:" in text:
            for line in text.split("Examples:\n")[1].splitlines():
                if re.match(r"\s+(sudo )?etw ", line):
                    yield f"etw {verb} --help", line.strip()


def prepare(folder, make_trace):
    for name, preset in TRACES.items():
        subprocess.run([make_trace, "--preset", preset, folder / name], check=True,
                       stdout=subprocess.DEVNULL)
    manifest = (ROOT / "examples/write_events.man").read_text(encoding="utf-8")
    for number, (name, provider) in enumerate(MANIFESTS.items()):
        text = manifest.replace("Libetw-Examples-WriteEvents", provider)
        text = text.replace("{2b7f4f6e-", f"{{2b7f4f6{number}-")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("app", "make"):
        (folder / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def adapt(line, folder):
    """The line as it can be run here."""
    line = line.removeprefix("sudo ")
    return line.replace("/mnt/", f"{folder}/mnt/")


def main():
    etw, wevtutil, make_trace, etwd = (pathlib.Path(argument).resolve()
                                       for argument in sys.argv[1:])
    examples = [*examples_of_readme(), *examples_of_pages(), *examples_of_help(etw)]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, make_trace)
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        for tool in (etw, wevtutil):
            (bin_folder / tool.name).symlink_to(tool)
        (folder / "make").rename(bin_folder / "make")
        (folder / "run").mkdir(mode=0o700)
        environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}",
                       "ETW_PROVIDERS_DIR": str(folder / "providers"), "ETW_ETWD": str(etwd),
                       "ETW_RUNTIME_DIR": str(folder / "run"), "ETWD_IDLE_MS": "200"}
        for place, line in examples:
            wanted = next((status for start, status in OTHER_STATUS.items()
                           if line.startswith(start)), 0)
            result = subprocess.run(["bash", "-o", "pipefail", "-c", adapt(line, folder)],
                                    cwd=folder, env=environment, capture_output=True, text=True,
                                    stdin=subprocess.DEVNULL, check=False)
            if result.returncode != wanted:
                failed += 1
                print(f"{place}: {line}: status {result.returncode}\n{result.stderr}")
    print(f"{len(examples)} examples, {failed} failed")
    return 1 if failed or len(examples) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
