#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host knows its writers from their connections: it opens nothing of theirs in procfs.

    check_opens.py ETW ETWD SHIM SHORT_WRITERS

Records 200 processes that register, write one event and end. A shim preloaded into etwd tells what
it opens. Exit status: 0 as it should be, 1 not.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COUNT = 200
OPENS_MAX = COUNT // 20
SECONDS = 1500
PROVIDER = "5e1c9b1a-3d53-4c7e-9a41-0c6f7d218817"
OF_A_PROCESS = re.compile(r"/proc/\d+/")


def main(etw, etwd, shim, writers):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "run").mkdir(mode=0o700)
        log = folder / "opens"
        host = folder / "etwd"
        host.write_text("#!/bin/sh\n"
                        f"LD_PRELOAD='{shim}' OPENS_LOG='{log}' exec '{etwd}' \"$@\"\n",
                        encoding="utf-8")
        host.chmod(0o755)
        environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"), ETWD_IDLE_MS="200",
                           ETW_ETWD=str(host))
        done = subprocess.run([etw, "record", "--provider", f"{{{PROVIDER}}}",
                               "-o", folder / "t.etl", "--",
                               "sh", "-c", f"{writers} {COUNT} >{folder}/written"],
                              env=environment, timeout=SECONDS, capture_output=True, text=True,
                              check=False)
        events = subprocess.run([etw, "dump", "--json", folder / "t.etl"], timeout=SECONDS,
                                capture_output=True, text=True, check=False).stdout
        written = int((folder / "written").read_text(encoding="ascii") or 0)
        pids = {event["pid"] for event in map(json.loads, events.splitlines())
                if event.get("guid") == PROVIDER}
        paths = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    opens = [path for path in paths if OF_A_PROCESS.match(path)]
    print(f"{written} events of {len(pids)} processes; {len(paths)} paths below /proc opened, "
          f"{len(opens)} of processes: {opens[:5]}")
    if done.returncode or written != COUNT or len(pids) != COUNT:
        print(done.stdout, done.stderr)
        return 1
    return 0 if paths and len(opens) <= OPENS_MAX else 1


if __name__ == "__main__":
    sys.exit(main(*map(os.path.abspath, sys.argv[1:5])))
