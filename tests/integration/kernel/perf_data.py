#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples of the whole machine by perf record, and what its file says of them.

perf's own reader looks for names in the files of all processes, and dies of some build ids. What is
asked here is nothing but whose samples they are, and when they were taken: that stands in the first
words of each record.
Source: tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h.
"""

import pathlib
import shutil
import signal
import struct
import subprocess
import time

from compare_processes import skip

MAGIC = b"PERFILE2"
SAMPLE = 9  # PERF_RECORD_SAMPLE
IP, TID, TIME = 0x1, 0x2, 0x4  # PERF_SAMPLE_*
IDENTIFIER = 0x10000
TYPE_PLACE = 24  # of sample_type in struct perf_event_attr


def start_perf(path, period, event="cpu-clock"):
    perf = shutil.which("perf")
    if not perf:
        skip("there is no perf")
    process = subprocess.Popen([perf, "record", "-q", "-e", event, "-c", str(period), "-a",
                                "-B", "-N", "-k", "mono", "-m", "1024", "-o", path],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    if process.poll() is not None:
        skip(f"perf record fails: {process.stderr.read().strip()}")
    return process


def stop_perf(process):
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=900)
    if complaint.strip():
        print(f"perf says: {complaint.strip().splitlines()[-1]}")


def read_samples(path):
    """[(time, process)]; the time is CLOCK_MONOTONIC, the process of an idle thread 0."""
    data = pathlib.Path(path).read_bytes()
    if data[:8] != MAGIC:
        skip("perf's file is of another kind than ours")
    attr_at, _, at, size = struct.unpack_from("<4Q", data, 24)
    if not size:
        skip("perf did not close its file")
    kind = struct.unpack_from("<Q", data, attr_at + TYPE_PLACE)[0]
    if not (kind & TID and kind & TIME):
        skip("perf's samples do not say whose they are and when they were taken")
    tid_at = 8 + 8 * bool(kind & IDENTIFIER) + 8 * bool(kind & IP)
    samples = []
    end = at + size
    while at + 8 <= end:
        record, _, record_bytes = struct.unpack_from("<IHH", data, at)
        if record == SAMPLE:
            pid, _, time_ns = struct.unpack_from("<iIQ", data, at + tid_at)
            samples.append((time_ns, max(0, pid)))
        if record_bytes < 8:
            skip("perf's file is damaged")
        at += record_bytes
    return samples
