#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the walker's own output with the reference files of the genuine traces.

    compare_reference.py [DATA_DIR]

DATA_DIR defaults to $ETW_TEST_DATA, else to ../shared/data beside the repository. For each trace of
facts.json every event is compared with reference/events/*.jsonl.xz and every fact with facts.json.
Exit status: 0 all equal, 1 a difference, 77 no data (skipped, the reason is printed).
"""

import collections
import datetime
import hashlib
import itertools
import json
import os
import pathlib
import sys

from compare_streams import iter_differences, open_lines
from etl_walk import iter_event_objects
from tracefile import TraceFile, UnreadableFile

EXIT_SKIP = 77
FACTS_NOT_COMPARED = {"ModeFlags"}      # a rendering of LogFileMode, which is compared itself
TOP_PROVIDER_COUNT = 12
EXT_SCHEMA_TL = 11
CLOCK_NAMES = {1: "QPC", 2: "SystemTime", 3: "CPUCycle"}
GROUP_NAMES = {0x00: "EventTrace", 0x01: "DiskIo", 0x02: "Memory", 0x03: "Process", 0x04: "File",
               0x05: "Thread", 0x06: "TcpIp", 0x08: "UdpIp", 0x0B: "Config", 0x0F: "PerfInfo",
               0x14: "Image", 0x18: "StackWalk"}


class Tally:
    """Counts what facts.json states about a trace while its events pass by."""

    def __init__(self):
        self.events = 0
        self.header_types = collections.Counter()
        self.providers = collections.Counter()
        self.groups = collections.Counter()
        self.ext_types = collections.Counter()
        self.tracelogging = 0
        self.first_ft = None
        self.last_ft = None

    def watch(self, items):
        """Pass `items` through, counting them."""
        for item in items:
            self.events += 1
            self.header_types[item["ht"]] += 1
            if "group" in item:
                group = item["group"]
                self.groups[GROUP_NAMES.get(group, f"{group:#x}")] += 1
            elif "guid" in item:
                self.providers[item["guid"]] += 1
            ext_types = [entry[0] for entry in item.get("ext", ())]
            self.ext_types.update(map(str, ext_types))
            self.tracelogging += EXT_SCHEMA_TL in ext_types
            time_ft = item["filetime"]
            self.first_ft = time_ft if self.first_ft is None else min(self.first_ft, time_ft)
            self.last_ft = time_ft if self.last_ft is None else max(self.last_ft, time_ft)
            yield item


def iso_time(time_ft):
    """FILETIME as the ISO text of facts.json, cut to microseconds."""
    start = datetime.datetime(1601, 1, 1)
    when = start + datetime.timedelta(microseconds=time_ft // 10)
    return when.isoformat(timespec="microseconds") + "Z"


def header_facts(trace):
    """The `hdr` object of facts.json from the logfile header."""
    head = trace.logfile
    event = trace.header_event
    version = (head.os_major, head.os_minor, head.sub_version, head.sub_minor)
    return {
        "first_hdr_type": event.kind, "header_evt_version": event.fields["ver"],
        "BufferSize": head.buffer_bytes, "Build": head.build, "NumProc": head.processor_count,
        "EndTime": head.end_time_ft, "TimerRes": head.timer_resolution,
        "MaxFileMB": head.maximum_file_size, "LogFileMode": head.mode,
        "BuffersWritten": head.buffers_written, "StartBuffers": head.start_buffers,
        "PointerSize": head.pointer_bytes, "EventsLost": head.events_lost,
        "CpuMHz": head.cpu_mhz, "OSVersion": ".".join(map(str, version)),
        "TZ_bias": head.time_zone_bias, "BootTime": head.boot_time_ft,
        "PerfFreq": head.perf_freq, "StartTime": head.start_time_ft,
        "ClockType": head.clock_type, "BuffersLost": head.buffers_lost,
        "LoggerName": head.logger_name, "LogFileName": head.file_name,
        "HeaderTimeStamp": event.ts, "hdr_pid": event.fields["pid"],
        "hdr_tid": event.fields["tid"], "Clock": CLOCK_NAMES.get(head.clock_type),
        "header_ptr": head.header_pointer_bytes}


def collect_facts(path, trace, tally):
    """What facts.json would say about this trace, by our own reading."""
    flags, types, cpus = collections.Counter(), collections.Counter(), set()
    buffer_count = 0
    for buffer in trace.buffers():
        buffer_count += 1
        flags[f"{buffer.header.flags:#x}"] += 1
        types[str(buffer.header.type)] += 1
        cpus.add(buffer.header.cpu)
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha1").hexdigest()
    return {
        "size": trace.file_bytes, "sha1": digest, "buffers": buffer_count,
        "events": tally.events, "header_types": dict(tally.header_types),
        "kernel_groups": dict(tally.groups), "buf_flags": dict(flags), "buf_types": dict(types),
        "cpus": len(cpus), "first": iso_time(tally.first_ft), "last": iso_time(tally.last_ft),
        "ext_types": dict(tally.ext_types), "tracelogging": tally.tracelogging,
        "truncated_buffers": 0, "errors": {}, "hdr": header_facts(trace)}


def compare_providers(expected, counted):
    """Difference text or None: the listed providers must be the most frequent ones."""
    for guid, count in expected:
        if counted[guid] != count:
            return f"provider {guid}: {counted[guid]} events, expected {count}"
    least = min((count for _, count in expected), default=0)
    listed = {guid for guid, _ in expected}
    for guid, count in counted.items():
        if guid not in listed and (len(listed) < TOP_PROVIDER_COUNT or count > least):
            return f"provider {guid}: {count} events, but it is not listed"
    return None


def compare_facts(expected, ours):
    """First difference between the facts as text, or None."""
    for key, value in expected.items():
        if key in ("file", "top_providers"):
            continue
        if key == "hdr":
            for name, header_value in value.items():
                if name not in FACTS_NOT_COMPARED and ours["hdr"].get(name) != header_value:
                    return f"hdr.{name}: {ours['hdr'].get(name)!r}, expected {header_value!r}"
        elif ours.get(key) != value:
            return f"{key}: {ours.get(key)!r}, expected {value!r}"
    return None


def compare_trace(data_dir, facts):
    """(is equal, text) for one trace."""
    path = data_dir / facts["file"]
    reference = data_dir / "reference/events" / (facts["file"].replace("/", "__") + ".jsonl.xz")
    tally = Tally()
    try:
        with TraceFile(path) as trace, open_lines(reference) as lines:
            ours = tally.watch(iter_event_objects(trace))
            for number, text in itertools.islice(iter_differences(ours, lines), 1):
                return False, f"event {number}: {text}"
            if trace.damage:
                return False, f"damage at {trace.damage[0][0]:#x}: {trace.damage[0][1]}"
            problem = compare_facts(facts, collect_facts(path, trace, tally))
            problem = problem or compare_providers(facts["top_providers"], tally.providers)
    except (OSError, UnreadableFile) as error:
        return False, f"unreadable: {error}"
    return (False, problem) if problem else (True, f"{tally.events} events")


def find_data_dir(arguments):
    if arguments:
        return pathlib.Path(arguments[0])
    if os.environ.get("ETW_TEST_DATA"):
        return pathlib.Path(os.environ["ETW_TEST_DATA"])
    return pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data"


def main(arguments=None):
    data_dir = find_data_dir(sys.argv[1:] if arguments is None else arguments)
    facts_path = data_dir / "facts.json"
    if not facts_path.exists():
        print(f"skip: no genuine traces, {facts_path} does not exist")
        return EXIT_SKIP
    all_facts = json.loads(facts_path.read_text(encoding="utf-8"))
    bad = 0
    for facts in sorted(all_facts, key=lambda entry: entry["file"]):
        is_equal, text = compare_trace(data_dir, facts)
        print(f"{facts['file']}: {'ok' if is_equal else 'DIFFERENT'} {text}", flush=True)
        bad += not is_equal
    print(f"{len(all_facts) - bad} of {len(all_facts)} traces equal the reference")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
