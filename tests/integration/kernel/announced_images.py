#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold a recorded file against what a program announced of its own code.

    announced_images --watch PROGRAM --etw PROGRAM --announce PROGRAM

announce_images announces code and prints what it did; `etw record` records it, once from its
start, once beginning while it is there. The file has the load, the symbols, the child's inherited
image with whose symbols it has, the unloads; of the later session the image is there at its start
and at its end. A user who is not trusted then announces, has it inherited by children and
withdraws, until the host keeps no more. Exit
status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
STRANGER = 65534
LIMIT_BYTES = 16 << 20  # of one user who is not trusted
SYMBOLS = 50000
SYMBOL_BYTES = 12 + 55  # of each, packed
CHILDREN = 10


def events_of(etw, path):
    output = subprocess.run([etw, "dump", "--json", str(path)], capture_output=True, text=True,
                            check=True).stdout
    found = []
    for line in output.splitlines():
        if "announced.plugin" in line or "ImageSymbols" in line:
            found.append(json.loads(line))
    return found


def text_of(event):
    return json.dumps(event)


def has(events, name, *parts):
    return any(name in text_of(event) and all(part in text_of(event) for part in parts)
               for event in events)


def record(arguments, folder, name, command):
    path = folder / name
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"), ETWD_IDLE_MS="200",
                       ETW_ETWD=str(pathlib.Path(arguments.etw).parent / "etwd"))
    done = subprocess.run([arguments.etw, "record", "--kernel", "process,image_load", "-o",
                           str(path), "--", *command],
                          capture_output=True, text=True, env=environment,
                          timeout=600)
    if done.returncode:
        print(done.stdout + done.stderr)
        raise SystemExit(1)
    return events_of(arguments.etw, path), done.stdout


def check_limit(arguments, folder):
    """What children of a user have inherited is that user's, and is in the trace once."""
    problems = []
    runtime = folder / "limited"
    runtime.mkdir(mode=0o755)
    folder.chmod(0o755)
    etwd = pathlib.Path(arguments.etw).parent / "etwd"
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(runtime), ETW_ETWD=str(etwd))
    path = folder / "limited.etl"
    with subprocess.Popen([etwd, "--system", "--foreground"], env=environment,
                          stderr=subprocess.PIPE, text=True) as host:
        while "accepts connections" not in host.stderr.readline():
            pass
        done = subprocess.run([arguments.etw, "record", "--kernel", "process,image_load", "-o",
                               str(path), "--", "setpriv", f"--reuid={STRANGER}",
                               f"--regid={STRANGER}", "--clear-groups", arguments.announce,
                               "--keep", str(SYMBOLS), str(CHILDREN)],
                              capture_output=True, text=True, env=environment, timeout=600)
        host.terminate()
        host.communicate()
    kept = [int(line.split()[1]) for line in done.stdout.splitlines()
            if line.startswith("kept ")]
    if done.returncode or not kept:
        return [f"nothing was kept: {done.stdout}{done.stderr}"]
    least, most = 1, LIMIT_BYTES // (SYMBOLS * SYMBOL_BYTES)
    if not least <= kept[0] <= most:
        problems.append(f"{kept[0]} images were kept, and not {least} to {most}")
    events = events_of(arguments.etw, path)
    heirs = sum("ImageSymbolsInherited" in text_of(event) for event in events)
    if heirs != kept[0] * CHILDREN:
        problems.append(f"{heirs} children say whose symbols they have")
    symbols = sum(text_of(event).count("kept_function_") for event in events)
    if not kept[0] * SYMBOLS <= symbols <= (kept[0] + 1) * (SYMBOLS + 1):
        problems.append(f"the trace has {symbols} symbols of {kept[0]} images")
    loads = sum("announced.plugin" in text_of(event) and '"Load"' in text_of(event)
                for event in events)
    if not 0 <= loads - kept[0] * (1 + CHILDREN) <= 1:
        problems.append(f"{loads} loads of {kept[0]} images, each in {CHILDREN} children")
    return problems


def check(arguments, folder):
    problems = []
    events, told = record(arguments, folder, "whole.etl", [arguments.announce])
    ids = dict(line.split() for line in told.splitlines()
               if line.startswith(("parent ", "child ")))
    for who in ("parent", "child"):
        pid = f'"ProcessId":{ids[who]}'
        mine = [event for event in events if pid in text_of(event).replace(" ", "")]
        kinds = [kind for kind in ("Load", "UnLoad")
                 if has(mine, f'"{kind}"', "announced.plugin")]
        if kinds != ["Load", "UnLoad"]:
            problems.append(f"the {who} has only {kinds}")
        for symbol in ("first_function", "second_function"):
            if has(mine, "ImageSymbols", symbol) != (who == "parent"):
                problems.append(f"the {who} has not once the symbol {symbol}")
    of_parent = f'"OfProcess":{ids["parent"]}'
    if not any("ImageSymbolsInherited" in text_of(event) and
               of_parent in text_of(event).replace(" ", "") and
               f'"ProcessId":{ids["child"]}' in text_of(event).replace(" ", "")
               for event in events):
        problems.append("the child does not say whose symbols it has")
    if not has(events, "DbgID_RSDS", "announced.plugin"):
        problems.append("the image has no identity")
    # Another session begins while the image is there: the program records itself.
    again = [arguments.announce, "--while", arguments.etw, "record", "--kernel",
             "process,image_load", "-o", str(folder / "later.etl"), "--", "true"]
    _, _ = record(arguments, folder, "outer.etl", again)
    later = events_of(arguments.etw, folder / "later.etl")
    for kind in ("DCStart", "DCEnd"):
        if not has(later, kind, "announced.plugin"):
            problems.append(f"a session that starts later has no {kind}")
    if not has(later, "ImageSymbols", "first_function"):
        problems.append("a session that starts later has no symbols")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--etw", required=True)
    parser.add_argument("--announce", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(SKIPPED)
    # What the kernel's source says of this machine.
    probe = subprocess.run([arguments.watch, "7"], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=600)
    if probe.returncode == SKIPPED:
        print("skipped: " + probe.stderr.strip())
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="etw-announced-") as name:
        problems = check(arguments, pathlib.Path(name))
        problems += check_limit(arguments, pathlib.Path(name))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} differences")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
