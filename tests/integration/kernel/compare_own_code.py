#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold what a recording tells of the kernel's own code against /proc/kallsyms and /proc/modules.

    compare_own_code --etw PROGRAM [--modules FOLDER]

While one session records images, another one is started and ended, whose host loads BPF programs:
of each program that the kernel lists meanwhile there is a load at its address, with its name, from
before it was listed; each load by that host is in the list, if no unload came before; and each is
unloaded when the programs are gone. Where a module can be loaded (dummy.ko of the running kernel,
in /lib/modules or below FOLDER), it is, and removed: its load and unload have the place, the build
id and the time that the kernel tells; where none can, a line says so.

Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import ctypes
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SECONDS = 900
LISTED_SECONDS = 60
PREFIX = "bpf_prog_"
MODULE = "dummy"
SYSTEM_CALLS = {"x86_64": (313, 176), "aarch64": (273, 106)}   # finit_module, delete_module
FILETIME_START = datetime.datetime(1601, 1, 1)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def list_programs():
    """{address: name} of the BPF programs that the kernel lists; 0: it hides them."""
    found = {}
    for line in pathlib.Path("/proc/kallsyms").read_text(errors="replace").splitlines():
        words = line.split()
        if len(words) == 4 and words[2].startswith(PREFIX):
            found[int(words[0], 16)] = words[2]
    return found


def now_ft():
    """FILETIME of now."""
    return (time.clock_gettime_ns(time.CLOCK_REALTIME) // 100) + 116_444_736_000_000_000


def find_module(folder):
    """The file of a module that nothing needs, of the kernel that runs."""
    release = platform.release()
    for root in filter(None, (f"/lib/modules/{release}", f"/usr/lib/modules/{release}", folder)):
        for path in pathlib.Path(root).glob(f"**/{MODULE}.ko"):
            if release in str(path):
                return path
    return None


def module_line():
    """(size, address) of the module in /proc/modules, or None."""
    try:
        lines = pathlib.Path("/proc/modules").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if words[0] == MODULE:
            return int(words[1]), int(words[5], 16)
    return None


def play_module(folder):
    """Loads a module and removes it. What was seen, or why nothing was done, as text."""
    path = find_module(folder)
    if not path:
        return f"no file {MODULE}.ko of the kernel {platform.release()}"
    if module_line():
        return f"{MODULE} is loaded already"
    library = ctypes.CDLL(None, use_errno=True)
    load, remove = SYSTEM_CALLS.get(platform.machine(), (None, None))
    if not load:
        return f"the numbers of system calls of {platform.machine()} are not known here"
    times = [now_ft()]
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    if library.syscall(load, fd, b"", 0):
        return f"{path} cannot be loaded: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    times.append(now_ft())
    size, address = module_line()
    notes = pathlib.Path(f"/sys/module/{MODULE}/notes/.note.gnu.build-id")
    build_id = notes.read_bytes()[16:32].hex() if notes.exists() else ""
    time.sleep(0.2)
    times.append(now_ft())
    if library.syscall(remove, MODULE.encode(), os.O_NONBLOCK):
        return f"{MODULE} cannot be removed: {os.strerror(ctypes.get_errno())}"
    times.append(now_ft())
    return {"size": size, "address": address, "build_id": build_id, "times": times}


def json_of(text):
    """The line of JSON; the recorder says more behind it."""
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


def play(arguments):
    """What happens while the outer session records; tells it as JSON."""
    inner = {"before": list_programs()}
    folder = pathlib.Path(arguments.folder) / "inner"
    folder.mkdir()
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder), ETWD_IDLE_MS="100")
    command = [arguments.etw, "record", "--quiet", "--kernel", "process,cswitch,syscall", "-o",
               str(folder / "inner.etl"), "--", sys.executable, __file__, "--list"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                          timeout=SECONDS)
    if done.returncode:
        inner["failed"] = done.stderr
    else:
        inner["listed"] = json_of(done.stdout)
        mine = {int(address) for address in inner["listed"]["programs"]} - set(inner["before"])
        for _ in range(LISTED_SECONDS * 10):
            if not mine & set(list_programs()):
                break
            time.sleep(0.1)
        inner["left"] = sorted(mine & set(list_programs()))
        inner["module"] = play_module(arguments.modules)
    print(json.dumps(inner))


class Told:
    """What the outer recording tells of the kernel's code."""

    def __init__(self):
        self.loads = []                                     # (time, address, size, path, pid)
        self.unloads = collections.defaultdict(list)        # address -> times
        self.names = collections.defaultdict(set)           # address -> names
        self.ids = {}                                       # address -> GUID
        self.hosts = set()                                  # processes

    def read(self, line):
        """One event of the dump."""
        event = json.loads(line)
        fields = event.get("fields", {})
        if event.get("task_name") == "Process" and fields.get("ImageFileName") == "etwd":
            self.hosts.add(fields["ProcessId"])
        if fields.get("ProcessId") != 0 or "ImageBase" not in fields:
            return
        base, when = int(fields["ImageBase"], 0), ticks(event["time"])
        kind = event.get("opcode_name")
        if event["task_name"] == "ImageSymbols":
            for symbol in fields["Symbols"]:
                self.names[base + int(symbol["Offset"], 0)].add(symbol["Name"])
        elif kind == "DbgID_RSDS":
            self.ids[base] = fields["GuidSig"]
        elif kind == "Load":
            pid = event.get("header_pid", event.get("pid"))
            self.loads.append((when, base, int(fields["ImageSize"], 0), fields["FileName"], pid))
        elif kind == "UnLoad":
            self.unloads[base].append(when)


def ticks(text):
    """FILETIME of a time of the dump."""
    when = datetime.datetime.fromisoformat(text[:19]) - FILETIME_START
    return (when.days * 86400 + when.seconds) * 10_000_000 + int(text[20:27])


def check_programs(told, inner):
    """Problems with BPF programs."""
    before = {int(address) for address in inner["before"]}
    listed = {int(address): name for address, name in inner["listed"]["programs"].items()}
    first_ft, last_ft = inner["listed"]["times"]
    loaded = collections.defaultdict(list)
    for when, base, size, path, pid in told.loads:
        if path == "[bpf]":
            loaded[base].append((when, size, pid))
    for address, name in listed.items():
        if address in before:
            continue
        if not any(when <= last_ft for when, *_ in loaded.get(address, ())):
            yield f"{name} at {address:#x} is listed, no load of it came before"
        elif name not in told.names[address]:
            yield f"{name} at {address:#x} is called {told.names[address]}"
        if address not in inner["left"] and not told.unloads[address]:
            yield f"{name} at {address:#x} is gone and was not unloaded"
    compared = 0
    for base, pieces in loaded.items():
        for when, _, pid in pieces:
            gone = any(when <= other <= last_ft for other in told.unloads[base])
            # Trampolines have names of another kind.
            is_program = any(name.startswith(PREFIX) for name in told.names[base])
            if pid in told.hosts and is_program and when < first_ft and not gone:
                compared += 1
                if base not in listed:
                    yield f"{told.names[base]} at {base:#x} is loaded, and not listed"
    fresh = len(set(listed) - before)
    print(f"{fresh} programs were listed, {compared} loads are of the other session's host; "
          f"{sum(map(len, loaded.values()))} loads, {sum(map(len, told.unloads.values()))} unloads")
    if not fresh or not compared:
        yield "nothing was compared"


def check_module(told, module):
    """Problems with a module."""
    if isinstance(module, str):
        print(f"no module was loaded: {module}")
        return
    loads = [load for load in told.loads if load[1] == module["address"]]
    before, loaded, removing, removed = module["times"]
    print(f"module at {module['address']:#x}, {module['size']} bytes: {loads}, unloads "
          f"{told.unloads[module['address']]}, {told.ids.get(module['address'])}")
    if len(loads) != 1 or not loads[0][3].endswith(f"/{MODULE}.ko") and \
            loads[0][3] != f"{MODULE}.ko":
        yield f"the module's loads are {loads}"
    elif not before <= loads[0][0] <= loaded:
        yield f"the module was loaded at {loads[0][0]}, not between {before} and {loaded}"
    elif not 0 < loads[0][2] <= module["size"]:
        yield f"the module has {loads[0][2]} bytes"
    unloads = told.unloads[module["address"]]
    if len(unloads) != 1 or not removing <= unloads[0] <= removed:
        yield f"the module's unloads are {unloads}, not one between {removing} and {removed}"
    guid = told.ids.get(module["address"], "")
    if module["build_id"]:
        raw = bytes.fromhex(module["build_id"])
        wanted = (f"{{{raw[3::-1].hex()}-{raw[5:3:-1].hex()}-{raw[7:5:-1].hex()}-"
                  f"{raw[8:10].hex()}-{raw[10:].hex()}}}")
        if guid.lower() != wanted:
            yield f"the module's identity is {guid}, not {wanted}"


def run(arguments, folder):
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"), ETWD_IDLE_MS="200")
    path = folder / "outer.etl"
    command = [arguments.etw, "record", "--quiet", "--kernel", "process,image_load", "-o",
               str(path), "--", sys.executable, __file__, "--etw", arguments.etw, "--folder",
               str(folder)]
    if arguments.modules:
        command += ["--modules", arguments.modules]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                          timeout=SECONDS)
    if done.returncode or not done.stdout.strip():
        print(done.stdout, done.stderr)
        return 1
    inner = json_of(done.stdout)
    if "failed" in inner:
        print(inner["failed"])
        return 1
    told = Told()
    with subprocess.Popen([arguments.etw, "dump", "--json", str(path)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          errors="replace") as dump:
        for line in dump.stdout:
            told.read(line)
    problems = [*check_programs(told, inner), *check_module(told, inner["module"])]
    for problem in problems[:20]:
        print(problem)
    print(f"{len(problems)} differences")
    return int(bool(problems))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch")      # what the kernel's source says of this machine
    parser.add_argument("--etw")
    parser.add_argument("--modules")
    parser.add_argument("--folder")     # this program's own: what runs inside
    parser.add_argument("--list", action="store_true")  # likewise, further inside
    arguments = parser.parse_args()
    if arguments.list:
        times = [now_ft()]
        programs = list_programs()
        times.append(now_ft())
        print(json.dumps({"programs": programs, "times": times}))
        return 0
    if arguments.folder:
        play(arguments)
        return 0
    if os.geteuid() != 0:
        skip("needs root")
    probe = subprocess.run([arguments.watch, "7"], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=SECONDS, check=False)
    if probe.returncode == SKIPPED:
        skip(probe.stderr.strip())
    if 0 in list_programs():
        skip("the kernel hides its addresses")
    with tempfile.TemporaryDirectory(prefix="etw-own-code-") as name:
        return run(arguments, pathlib.Path(name))


if __name__ == "__main__":
    sys.exit(main())
