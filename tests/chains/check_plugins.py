#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole chains of calls through code of a form of its own, which the program announced by
etw/image.h: of at least 95 % of the stacks every function is there, in order, with its name.

    check_plugins --etw PROGRAM --run RUN_PLUGIN --code OBJECT

OBJECT is plugin_code.c as a shared object. Its bytes become plug-ins of a made-up form, which
run_plugin loads and announces; `etw record` records it, and `etw stacks` tells the chains. From
call 1 to 3 of run_plugin each calls one plug-in, so that every stack says by itself which names
must be in it, wherever the plug-ins lie. Exit status: 0; 1 with the reasons; 77 with the reason
why it cannot run.
"""

import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from check_chains import EVENTS_LEAST, SECONDS, SHARE, SKIPPED, holds, paths_of, run

PLACE = 0x2000000000
PARTS = ["enter", "parse", "step", "work"]
SAMPLES = ("--kernel", "process,thread,loader,profile", "--stacks", "profile")
# An announcement waits so long for its host: what ran behind one that took longer came too early.
PATIENCE_MS = 150
TRIES = 8
LOADED = 1
EXECUTABLE = 1


def image_of(shared_object):
    """Bytes of an ELF object as they lie in memory, and its [(name, offset, bytes)]."""
    data = pathlib.Path(shared_object).read_bytes()
    at, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    image = bytearray()
    for i in range(count):
        kind, _, offset, address, _, file_bytes, bytes_, _ = struct.unpack_from(
            "<IIQQQQQQ", data, at + i * size)
        if kind == LOADED:
            image.extend(bytes(max(0, address + bytes_ - len(image))))
            image[address:address + file_bytes] = data[offset:offset + file_bytes]
    symbols = []
    listed = subprocess.run(["nm", "-S", shared_object], check=True, capture_output=True,
                            text=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] in PARTS:
            symbols.append((words[3], int(words[0], 16), int(words[1], 16)))
    return bytes(image), symbols


class Maker:
    """Makes plug-ins."""

    def __init__(self, options, folder):
        self.folder = folder
        self.code = options.code
        self.image, self.symbols = image_of(options.code)

    def make(self, name, shift):
        """A file of run_plugin's form: functions NAME_..., the code SHIFT bytes further up."""
        symbols = [(f"{name}_{part}", offset + shift, size)
                   for part, offset, size in self.symbols]
        entry = next(offset for part, offset, _ in symbols if part == f"{name}_enter")
        code = bytes(shift) + self.image
        path = self.folder / f"{name}.plugin"
        lines = [f"symbol {offset:x} {size:x} {part}\n" for part, offset, size in symbols]
        path.write_bytes("".join(lines).encode() + f"code {len(code):x} {entry:x}\n".encode() +
                         code)
        return path, symbols

    def make_perf_map(self, name):
        """One whose names are in a perf map."""
        path, symbols = self.make(name, 0)
        lines = [f"{PLACE + offset:x} {size:x} {part}\n" for part, offset, size in symbols]
        path.with_name(path.name + ".perf_map").write_text("".join(lines))
        return path

    def make_jitdump(self, name):
        """One whose names are in a jitdump."""
        path, symbols = self.make(name, 0)
        data = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0)
        for i, (part, offset, size) in enumerate(symbols):
            body = struct.pack("<IIQQQQ", 1, 1, PLACE + offset, PLACE + offset, size, i)
            body += part.encode() + b"\0" + bytes(size)
            data += struct.pack("<IIQ", 0, 16 + len(body), 1) + body
        path.with_name(path.name + ".jitdump").write_bytes(data)
        return path

    def make_elf(self):
        """One whose names are the compiler's, in the object that the code was taken from."""
        path, _ = self.make("elf", 0)
        shutil.copy(self.code, path.with_name(path.name + ".elf"))
        return path


def chain_of(number, name):
    """What stacks of call NUMBER have, where it calls this plug-in."""
    prefix = f"{name}_" if name else ""
    return ["main", f"call_{number}", "run"] + [prefix + part for part in PARTS]


class Case:
    """Recordings of run_plugin."""

    def __init__(self, options, folder, environment):
        self.options = options
        self.folder = folder
        self.environment = environment
        self.failed = 0

    def record(self, commands, how):
        """[(pid, said)] of run_plugin's command lines that were recorded together."""
        trace = self.folder / "t.etl"
        script = " & ".join(f"{self.options.run} {words} >out{i}"
                            for i, words in enumerate(commands))
        done = subprocess.run([self.options.etw, "record", "--only-command", "--force", "-o",
                               trace, *SAMPLES, *how, "--", "sh", "-c", f"{script}; wait"],
                              env=self.environment, capture_output=True, text=True, check=False,
                              cwd=self.folder, timeout=SECONDS)
        said = [(self.folder / f"out{i}").read_text().splitlines() for i in range(len(commands))]
        if done.returncode or any(len(lines) < 2 for lines in said):
            sys.exit(f"the recording failed: {done.returncode}: {done.stderr}\n{said}")
        return [(int(lines[0].split()[1]), int(lines[-1].split()[2])) for lines in said]

    def paths(self, pid, is_child=False):
        """[(path, events)] of one process, or of its child."""
        which = ["--process", "run_plugin*"] if is_child else ["--pid", str(pid)]
        text = run([self.options.etw, "stacks", "--json", "--tree", "--top", "100000", *which,
                    self.folder / "t.etl"], self.environment).stdout
        return paths_of(json.loads(text)["tree"])

    def check_paths(self, title, paths, chains):
        """That nearly all stacks of each call have its chain."""
        for chain in chains:
            call = chain[1]
            mine = [(path, events) for path, events in paths if call in path]
            known = sum(events for _, events in mine)
            good = sum(events for path, events in mine if holds(path, chain))
            share = good / known if known else 0
            print(f"{title}: {good} of {known} stacks ({share:.1%}) have {' > '.join(chain)}")
            if known >= EVENTS_LEAST and share >= SHARE:
                continue
            self.failed += 1
            for path, events in sorted(mine or paths, key=lambda item: -item[1])[:20]:
                if not holds(path, chain):
                    print(f"    {events}: {' > '.join(path)}")

    def record_heard(self, title, commands, how):
        """As record(), of a run whose host heard all in time; None: there was none."""
        for _ in range(TRIES):
            told = self.record(commands, how)
            if max(took for _, took in told) < PATIENCE_MS:
                return told
        print(f"{title}: left out: the host was too slow to hear of code before it ran")
        return None

    def check(self, title, commands, chains, how=(), is_child=False):
        """COMMANDS run at once; CHAINS has for each of them those of its calls."""
        told = self.record_heard(title, commands, how)
        for (pid, _), wanted in zip(told or (), chains):
            self.check_paths(title, self.paths(pid, is_child), wanted)

    def record_later(self, plugin, seconds):
        """The process, recorded after it loaded the plug-in and before that is gone."""
        with subprocess.Popen([self.options.run, f"{PLACE:x}", "0", f"waiting:{plugin}"],
                              env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as program:
            while "ready" not in program.stdout.readline():
                pass
            run([self.options.etw, "record", "--force", "--duration", str(seconds), "-o",
                 self.folder / "t.etl", *SAMPLES], self.environment)
            program.stdin.close()
            program.wait(timeout=SECONDS)
        return program.pid

    def check_later(self, plugin):
        """On a loaded machine a busy program may tell a new host late what it has."""
        for seconds in (1, 4, 16):
            failed = self.failed
            self.check_paths("there before the recording",
                             self.paths(self.record_later(plugin, seconds)),
                             [chain_of(1, "first")])
            if self.failed == failed or seconds == 16:
                break
            self.failed = failed


def check_all(options, folder, environment):
    """All cases; the number of those that do not hold."""
    case = Case(options, folder, environment)
    maker = Maker(options, folder)
    first, _ = maker.make("first", 0)
    second, _ = maker.make("second", 64)
    third, _ = maker.make("third", 4096)
    where = f"{PLACE:x} 400"

    case.check("announced with a table", [f"{where} table:{first}"], [[chain_of(1, "first")]])
    case.check("the same, by tables of unwinding", [f"{where} table:{first}"],
               [[chain_of(1, "first")]], how=("--unwind", "dwarf"))
    for form, plugin in (("perf_map", maker.make_perf_map("mapped")),
                         ("jitdump", maker.make_jitdump("dumped")), ("elf", maker.make_elf())):
        case.check(f"announced with a file: {form}", [f"{where} {form}:{plugin}"],
                   [[chain_of(1, {"perf_map": "mapped", "jitdump": "dumped", "elf": ""}[form])]])
    case.check("one after the other at one place",
               [f"{where} table:{first} unmapped:{second} table:{third}"],
               [[chain_of(1, "first"), chain_of(2, "second"), chain_of(3, "third")]])
    case.check("two processes, another one at the same place in each",
               [f"{where} table:{first}", f"{where} table:{second}"],
               [[chain_of(1, "first")], [chain_of(1, "second")]])
    case.check("inherited by a child", [f"{where} fork:{first}"], [[chain_of(1, "first")]],
               is_child=True)
    case.check_later(first)
    check_bare(case, [f"{where} table:{first} bare:{second} unmapped:{third}"])
    return case.failed


def check_bare(case, commands):
    """Nobody's code has nobody's names. A host that hears late of its end cannot know."""
    told = case.record_heard("announced by nobody", commands, ())
    if not told:
        return
    announced = tuple(f"{name}_" for name in ("first", "second", "third"))
    bare = [(path, events) for path, events in case.paths(told[0][0]) if "call_2" in path]
    wrong = [path for path, _ in bare if any(name.startswith(announced) for name in path)]
    known = sum(events for _, events in bare)
    print(f"announced by nobody: {len(wrong)} of {len(bare)} kinds of stacks have names; "
          f"{known} events")
    if wrong or known < EVENTS_LEAST:
        for path in wrong:
            print(f"    {' > '.join(path)}")
        case.failed += 1


def main():
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("etw", "run", "code"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("SKIP: kernel events need root")
        return SKIPPED
    if not shutil.which("nm"):
        print("SKIP: nm is not here")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="etw-plugins-") as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"))
        (folder / "run").mkdir()
        probe = run([options.etw, "record", "--kernel", "profile", "-o", folder / "probe.etl",
                     "--", "true"], environment, is_checked=False)
        if probe.returncode:
            print(f"SKIP: no samples can be had here: {probe.stderr.strip()}")
            return SKIPPED
        return 1 if check_all(options, folder, environment) else 0


if __name__ == "__main__":
    sys.exit(main())
