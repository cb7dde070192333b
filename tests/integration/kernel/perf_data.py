#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples of the whole machine by perf record, and what its file says of them.

perf's own reader looks for names in the files of all processes, and dies of some build ids. What is
asked here is nothing but whose samples they are, and when they were taken: that stands in the first
words of each record.
Source: tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h.
"""

import os
import pathlib
import shutil
import signal
import struct
import subprocess

from compare_processes import skip

MAGIC = b"PERFILE2"
LOST, THROTTLE, SAMPLE, LOST_SAMPLES = 2, 5, 9, 13  # PERF_RECORD_*
IP, TID, TIME = 0x1, 0x2, 0x4  # PERF_SAMPLE_*
IDENTIFIER = 0x10000
TYPE_PLACE = 24  # of sample_type in struct perf_event_attr


def start_perf(path, period, event="cpu-clock"):
    """perf, which samples all processors by now: it begins when told, and says when it has."""
    perf = shutil.which("perf")
    if not perf:
        skip("there is no perf")
    order_out, order = os.pipe()
    answer, answer_in = os.pipe()
    process = subprocess.Popen([perf, "record", "-q", "-e", event, "-c", str(period), "-a",
                                "-B", "-N", "-k", "mono", "-m", "1024", "-D", "-1",
                                f"--control=fd:{order_out},{answer_in}", "-o", path],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True,
                               pass_fds=(order_out, answer_in))
    os.close(order_out)
    os.close(answer_in)
    os.write(order, b"enable\n")
    # Nothing, where perf has ended.
    if b"ack" not in os.read(answer, 64):
        skip(f"perf record fails: {process.stderr.read().strip()}")
    process.control = (order, answer)  # without them perf would end by itself
    return process


def stop_perf(process):
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=900)
    for end in process.control:
        os.close(end)
    if complaint.strip():
        print(f"perf says: {complaint.strip().splitlines()[-1]}")


def read_records(path):
    """The file's bytes, where its first attribute is, and [(kind, where)] of its records."""
    data = pathlib.Path(path).read_bytes()
    if data[:8] != MAGIC:
        skip("perf's file is of another kind than ours")
    attr_at, _, at, size = struct.unpack_from("<4Q", data, 24)
    if not size:
        skip("perf did not close its file")
    records, end = [], at + size
    while at + 8 <= end:
        record, _, record_bytes = struct.unpack_from("<IHH", data, at)
        if record_bytes < 8:
            skip("perf's file is damaged")
        records.append((record, at))
        at += record_bytes
    return data, attr_at, records


def count_gaps(path):
    """How often perf says that it lost samples, or held them back."""
    return sum(record in (LOST, THROTTLE, LOST_SAMPLES) for record, _ in read_records(path)[2])


def read_samples(path):
    """[(time, process)]; the time is CLOCK_MONOTONIC, the process of an idle thread 0."""
    data, attr_at, records = read_records(path)
    kind = struct.unpack_from("<Q", data, attr_at + TYPE_PLACE)[0]
    if not (kind & TID and kind & TIME):
        skip("perf's samples do not say whose they are and when they were taken")
    tid_at = 8 + 8 * bool(kind & IDENTIFIER) + 8 * bool(kind & IP)
    samples = []
    for record, at in records:
        if record == SAMPLE:
            pid, _, time_ns = struct.unpack_from("<iIQ", data, at + tid_at)
            samples.append((time_ns, max(0, pid)))
    return samples
