#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds a published program unmodified and lets it read C:\\trace.etl.

usage: check_file_consumer.py CXX INCLUDE_DIR LIB_DIR SHIM

The program and the traces are not part of the project: they are looked for beside the test data
(ETW_TEST_DATA, else ../shared/data). Exit status 77 when they are not there.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = {"merged-perfview/gcevents.etl": 71, "win7-manifest/HTTP_Server.etl": 2042}


def build(cxx, source, include_dir, lib_dir, target):
    """The command that the README gives for unmodified Windows sources."""
    subprocess.run(
        [cxx, "-std=c++17", "-DUNICODE", "-D_UNICODE", "-fshort-wchar", f"-I{include_dir}", source,
         "-o", target, f"-L{lib_dir}", "-letw", f"-Wl,-rpath,{lib_dir}"],
        check=True, stderr=subprocess.DEVNULL)


def run(program, drive, shim):
    env = dict(os.environ, ETW_DRIVE_C=str(drive), LD_PRELOAD=str(shim))
    return subprocess.run([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def main():
    cxx, include_dir, lib_dir, shim = sys.argv[1:5]
    data = pathlib.Path(os.environ.get("ETW_TEST_DATA", ROOT.parent / "shared" / "data"))
    program_source = data.parent / "programs" / "file_consumer.cpp"
    if not program_source.exists():
        print("skipped: the published programs are not at hand")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "file_consumer"
        build(cxx, program_source, include_dir, lib_dir, program)
        for trace, count in TRACES.items():
            shutil.copy(data / trace, folder / "trace.etl")
            result = run(program, folder, shim)
            wanted = f"ProcessTrace 0 events {count}\n"
            passed = result.returncode == 0 and result.stdout.decode() == wanted
            print(f"{'ok' if passed else 'FAILED'} {trace}: {result.stdout.decode().strip()}")
            failed += not passed
        (folder / "trace.etl").unlink()
        missing = run(program, folder, shim)
        refused = missing.returncode == 1
        print(f"{'ok' if refused else 'FAILED'} no trace: exit {missing.returncode}")
        failed += not refused
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
