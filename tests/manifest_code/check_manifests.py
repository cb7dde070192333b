#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile what mc generates for manifests as users do, and record and decode what it writes.

    check_manifests.py [--every] [--sample N] [--jobs N] [--flavour F]
                       PROGRAM INCLUDES LIBRARIES DATA_DIR

Every manifest compiles with gcc and clang, as C11 and as C++17, without warnings; one of the four
programs, in turn, writes every event; with --every each of the four. --sample: the N smallest
manifests; --flavour: km, co.
$ETW_TEST_DATA goes before DATA_DIR. Exit 77: no manifests, or no compiler.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
COMPILERS = [("gcc", "c", "c11"), ("clang++", "c++", "c++17"), ("clang", "c", "c11"),
             ("g++", "c++", "c++17")]


# The kernel's manifest providers, which no process may register: a copy of the manifest gets other
# ids.
OWNED = re.compile(rb"22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716|edd08927-9cc4-4e65-b970-c2560fb5c289|"
                   rb"7dd42a49-5329-4832-8dfd-43d979153a88|c7bde69a-e1e0-4177-b6ef-283ad1525271|"
                   rb"d1d93ef7-e1f2-4f45-9943-03d245fe6c00", re.I)


def compilers():
    return [one for one in COMPILERS if shutil.which(one[0])]


def manifests(data):
    found = []
    for folder in ("manifests", "mc"):
        for pattern in ("*.man", "*.xml"):
            found += sorted((data / folder).glob(pattern))
    return found


def without_owned(scratch, manifest):
    """The manifest, or a copy of it without ids that the host owns."""
    text = manifest.read_bytes()
    if not OWNED.search(text):
        return manifest
    copy = scratch / manifest.name
    copy.write_bytes(OWNED.sub(lambda match: b"00000000" + match[0][8:], text))
    return copy


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800,
                          check=False)
    if done.returncode:
        words = " ".join(str(word) for word in command)
        sys.exit(f"{words}\n{done.stdout.decode(errors='replace')[-4000:]}")
    return done.stdout.decode()


def build(arguments, folder, chosen, program):
    """Compile the driver: a whole program if it has a name, else only its code."""
    compiler, language, standard = chosen
    command = [compiler, "-x", language, f"-std={standard}", *WARNINGS, "-I", folder, "-I", HERE,
               "-I", arguments.include, folder / "driver.c"]
    if program:
        command += ["-x", "none", f"-L{arguments.libraries}", "-letw-provider",
                    f"-Wl,-rpath,{arguments.libraries}", "-o", folder / program]
    else:
        command += ["-fsyntax-only"]
    run(command)


def make_one(arguments, scratch, index, manifest, flavours):
    """Generate and compile one manifest; return its drivers."""
    folder = scratch / str(index)
    folder.mkdir()
    run([arguments.program, "generate", manifest, folder, *flavours])
    chosen = compilers()
    drivers = []
    for number, compiler in enumerate(chosen):
        is_run = arguments.every or number == index % len(chosen)
        program = f"driver-{number}" if is_run else None
        build(arguments, folder, compiler, program)
        drivers += [folder / program] if is_run else []
    return drivers


def check_one(arguments, manifest, driver):
    """Record and decode what a driver writes; return how many events and properties."""
    said = run([arguments.program, "check", manifest, driver, driver.parent / "values.bin",
                *arguments.flavour])
    print(said.strip())
    counts = said.rsplit(":", 1)[1].split()
    return int(counts[0]), int(counts[2])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--flavour", action="append", default=[])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("libraries", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    arguments = parser.parse_args()
    found = manifests(pathlib.Path(os.environ.get("ETW_TEST_DATA", arguments.data)))
    if not found or not compilers():
        print("SKIP: no manifests, or no compiler")
        return 77
    if arguments.sample:
        found = sorted(found, key=lambda path: path.stat().st_size)[:arguments.sample]
    events = properties = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        found = [without_owned(scratch, manifest) for manifest in found]
        os.environ["ETW_RUNTIME_DIR"] = str(scratch / "run")
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            made = [pool.submit(make_one, arguments, scratch, index, manifest, arguments.flavour)
                    for index, manifest in enumerate(found)]
            for manifest, future in zip(found, made):
                for driver in future.result():
                    some = check_one(arguments, manifest, driver)
                    events += some[0]
                    properties += some[1]
    print(f"{len(found)} manifests, {events} events, {properties} properties")
    return 0


if __name__ == "__main__":
    sys.exit(main())
