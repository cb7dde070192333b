#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs in time namespaces, under a host whose clock is clock_gettime(): all write by one clock.

usage: check_time_namespaces.py ETW ETWD TIME_WRITER SHORT_WRITERS

The host sees a made-up /sys and /proc/cpuinfo, mounted over the machine's in a namespace of its
own, by which the processor's counter is no clock. Then QPC is CLOCK_MONOTONIC_RAW, which a time
namespace shifts.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 600
AHEAD = "100000"
BEHIND = "-3"
CHILDREN = 3
TIME_WRITER = "{7d2f6a10-8e41-4b0b-951c-306e025d8a44}"
SHORT_WRITERS = "{5e1c9b1a-3d53-4c7e-9a41-0c6f7d218817}"
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
MOUNT = 'mount --bind "$MADE/source" ' + CLOCKSOURCE + \
        ' && mount --bind "$MADE/cpuinfo" /proc/cpuinfo && exec "$@"'


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def runs(prefix):
    return subprocess.run([*prefix, "true"], check=False, capture_output=True,
                          timeout=SECONDS).returncode == 0


def moment(text):
    return datetime.datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00")


def main():
    etw, etwd, time_writer, short_writers = sys.argv[1:]
    if os.uname().machine != "x86_64":
        skip("the counter of other processors is always a clock")
    if os.geteuid() != 0:
        skip("only root can mount over /sys and make time namespaces")
    if not runs(["unshare", "--time", "--monotonic", AHEAD, "--fork"]):
        skip("the kernel has no time namespaces")
    with tempfile.TemporaryDirectory(prefix="etw-time-") as folder:
        made = pathlib.Path(folder)
        (made / "source").write_text("hpet\n", encoding="ascii")
        (made / "cpuinfo").write_text("flags\t\t: fpu\n", encoding="ascii")
        os.environ.update(MADE=folder, ETW_RUNTIME_DIR=f"{folder}/run", ETW_ETWD=etwd)
        os.mkdir(f"{folder}/run", 0o700)
        prefix = ["unshare", "--mount", "sh", "-c", MOUNT, "sh"]
        if not runs(prefix):
            skip("nothing can be mounted")
        command = (f'"{time_writer}" {AHEAD} && '
                   f'unshare --time --monotonic {AHEAD} --fork "{short_writers}" {CHILDREN} && '
                   f'unshare --time --monotonic {BEHIND} --fork "{short_writers}" {CHILDREN}')
        file = f"{folder}/out.etl"
        begin = datetime.datetime.now(datetime.timezone.utc)
        subprocess.run([*prefix, etw, "record", "--provider", TIME_WRITER, "--provider",
                        SHORT_WRITERS, "-o", file, "--", "sh", "-c", command],
                       check=True, timeout=SECONDS)
        end = datetime.datetime.now(datetime.timezone.utc)
        info = json.loads(subprocess.run([etw, "info", "--json", file], check=True, timeout=SECONDS,
                                         capture_output=True, text=True).stdout)
        lines = subprocess.run([etw, "dump", "--json", file], check=True, timeout=SECONDS,
                               capture_output=True, text=True).stdout.splitlines()
    check(info, [json.loads(line) for line in lines], begin, end)


def check(info, events, begin, end):
    """All are there, in their order, with times of the recording."""
    slack = datetime.timedelta(seconds=60)  # the wall clock may be set a little meanwhile
    header = info["header"]
    assert header["perf_frequency"] == 1_000_000_000, "the host's clock is CLOCK_MONOTONIC_RAW"
    assert header["events_lost"] == 0 and header["buffers_lost"] == 0, header
    ours = [event for event in events
            if event["guid"] in (TIME_WRITER.strip("{}"), SHORT_WRITERS.strip("{}"))]
    raw = [int(event["raw_time"]) for event in ours]
    assert raw == sorted(raw), raw
    for event in ours:
        assert begin - slack <= moment(event["time"]) <= end + slack, (begin, event, end)
    ids = [(event["guid"] == TIME_WRITER.strip("{}"), event["id"]) for event in ours]
    assert ids == [(True, 1), (True, 2), (True, 3), (True, 4)] + 2 * CHILDREN * [(False, 1)], ids
    print(f"{len(ours)} events of processes in four time namespaces, by one clock")


main()
