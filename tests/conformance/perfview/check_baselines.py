#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold `etw dump --json` against what PerfView, on Windows, printed of the same traces.

    check_baselines.py ETW

Every EVENT line of reference/perfview-baselines must have an event of ours with the same provider,
time (ms from the start, 3 decimals), processor, payload length, and, where the event's header says
so, process and thread; all lines of one PerfView name must fall on one kind of event (provider and
id). Fields are compared where a schema is in scope: kernel classes by the tables of
tests/conformance/kernel, others by name and normalised value. What is not compared is counted by
reason. Exit status: 0 all agree, 1 a difference, 77 no data.
"""

import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "conformance" / "kernel"))
sys.dont_write_bytecode = True

import check_perfview as kernel  # noqa: E402 (found through the path above)
from kernel_common import as_number, find_data_dir  # noqa: E402

LINE = re.compile(r"EVENT ([\d,.]+): (.*?) PID=(-?\d+); TID=(-?\d+); PName=.*?; ProceNum=(\d+); "
                  r"DataLen=(\d+); ?(.*)$")
PAIR = re.compile(r"(\w+)=(.*?); (?=\w+=|$)")
TIME_MS = 0.002  # theirs is rounded to 0.001 ms, ours to FILETIMEs
EPOCH = datetime.datetime(1601, 1, 1)
NUMBER = re.compile(r"-?[\d,]+$|-?0x[0-9a-fA-F]+$|-?[\d,]+\.\d+$")

# Fields that PerfView's parser of the CLR's events, which is written by hand, calls otherwise.
RENAMED = {"size": "segmentsize", "address": "segmentaddress"}
# Values that it shows in part or by a rule of its own: (event, field) -> what it shows of ours.
SHOWN_SO = {
    # The upper byte of CreateOptions is the disposition, which it leaves out.
    ("Microsoft-Windows-Kernel-File/Create", "CreateOptions"): lambda value: value & 0xFFFFFF,
}
# Values that cannot be compared, and why.
NOT_COMPARED = {
    ("PerfView/KernelEnableParameters", "keywords"):
        "values with a name for all bits together, of which it shows the names of the bits",
    ("PerfView/KernelEnableParameters", "stacks"):
        "values with a name for all bits together, of which it shows the names of the bits",
    # Beside the same moment as a FILETIME: 35.79 s there, 35.03 in the SYSTEMTIME.
    ("solar_system/PrimitiveTypesTest", "system_time_type"):
        "SYSTEMTIMEs, whose milliseconds it reads from the wrong word",
}


def ticks_of(text):
    """FILETIME of an ISO time with 7 digits of fraction."""
    whole, fraction = text.rstrip("Z").split(".")
    since = datetime.datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S") - EPOCH
    return (since.days * 86400 + since.seconds) * 10_000_000 + int(fraction)


def read_events(etw, trace):
    """Every event of the dump; its payload length is in `bytes` when we can tell."""
    result = subprocess.run([etw, "dump", "--json", str(trace)], capture_output=True, check=False)
    if result.returncode:
        sys.exit(f"etw dump {trace} ended with {result.returncode}: {result.stderr.decode()}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def read_lengths(etw, trace):
    """Payload length by address: --no-decode shows every payload."""
    result = subprocess.run([etw, "dump", "--json", "--no-decode", str(trace)],
                            capture_output=True, check=True)
    lengths = {}
    for line in result.stdout.splitlines():
        event = json.loads(line)
        lengths[event["address"]] = len(event["payload"]) // 2
    return lengths


class Trace:
    """The events of one dump, by time."""

    def __init__(self, etw, path):
        events = read_events(etw, path)
        self.lengths = read_lengths(etw, path)
        self.start = ticks_of(events[0]["time"])
        self.providers = {event.get("provider") for event in events}
        self.times = collections.defaultdict(list)
        for event in events:
            self.times[ticks_of(event["time"])].append(event)


def is_kernel(name):
    return name.startswith(kernel.PROVIDERS)


def provider_agrees(name, event, known):
    """Whether our event can be what PerfView calls so; `known`: providers that we can name."""
    if is_kernel(name):
        class_name, opcode = kernel.our_names(name)
        return (event.get("task_name", "").strip() == class_name and
                event.get("opcode_name", "").strip() == opcode)
    provider = name.split("/")[0]
    ours = event.get("provider")
    guid = re.match(r"Provider\(([0-9a-fA-F-]+)\)", provider)
    if guid:
        return event["guid"] == guid[1].lower()
    return ours == provider if ours else provider not in known


def same_value(theirs, ours):
    """True, False, or the reason why the two cannot be compared."""
    if isinstance(ours, bool):
        return str(ours).lower() == theirs.lower()
    if isinstance(ours, (list, dict)):
        return "arrays and structs, of which it shows the number"
    if re.match(r"\d\d/\d\d/\d\d \d\d:", theirs):
        match = re.match(r".*:(\d\d):(\d\d)\.(\d\d)", str(ours))
        return kernel.clock_of(theirs) == match.groups() if match else "times of its own"
    if as_number(ours) is not None and not NUMBER.match(theirs.rstrip(".")):
        return "names of PerfView's own for numbers"
    if isinstance(ours, str) and as_number(ours) is None and re.match(r"-?[\d,]+$", theirs):
        if len(ours) == 1:
            return ord(ours) == int(theirs)  # a character, by its number
        return "numbers of its own for what the trace's maps give names"
    if isinstance(ours, str) and "|" in ours and ", " in theirs:
        ours = ours.replace("|", ", ")
    if isinstance(ours, float):
        return abs(float(theirs.replace(",", "")) - ours) < 0.001
    return kernel.same(theirs, ours)


class Comparison:
    """Counts over all baselines."""

    def __init__(self):
        self.lines = self.agreeing = self.values = 0
        self.failures = []
        self.outside = collections.Counter()
        self.kinds = collections.defaultdict(list)  # of the sets of kinds a line may be

    def compare_kernel(self, name, pairs, fields):
        class_name = kernel.our_names(name)[0]
        tally = collections.Counter()
        problem = kernel.differences(
            class_name, pairs,
            {"fields": [(key, value, None) for key, value in fields.items()]}, tally)
        return problem, sum(tally.values()), len(pairs) - sum(tally.values())

    def compare_fields(self, event_name, pairs, fields):
        """(problem or None, values compared, reasons why others were not)."""
        by_name = {key.lower(): value for key, value in fields.items()}
        compared, reasons = 0, collections.Counter()
        for name, theirs in pairs:
            key = name.lower()
            if key not in by_name:
                key = RENAMED.get(key, key)
            if key not in by_name:
                reasons["fields that only PerfView's own parser has"] += 1
                continue
            ours = by_name[key]
            if (event_name, name) in SHOWN_SO:
                ours = SHOWN_SO[event_name, name](as_number(ours))
            outcome = NOT_COMPARED.get((event_name, name)) or same_value(theirs, ours)
            if isinstance(outcome, str):
                reasons[outcome] += 1
            elif outcome:
                compared += 1
            else:
                return f"{name}: {by_name[key]!r}, expected {theirs!r}", 0, reasons
        return None, compared, reasons

    def compare(self, match, event):
        """(problem or None, values compared, why others were not) of a line and an event."""
        name, pairs = match[2], PAIR.findall(match[7])
        if not event.get("classic") and (event.get("pid") != int(match[3]) % (1 << 32) or
                                         event.get("tid") != int(match[4]) % (1 << 32)):
            return "process or thread differ", 0, None
        reasons = collections.Counter()
        if event.get("classic"):
            reasons["process and thread of classic events, which it takes from payloads"] += 2
        if not pairs:
            return None, 0, reasons
        if "fields" not in event:
            reasons["values of events without a schema in the trace"] += len(pairs)
            return None, 0, reasons
        if is_kernel(name):
            problem, compared, rest = self.compare_kernel(name, pairs, event["fields"])
            reasons["fields PerfView derives from other events or names otherwise"] += rest
            return problem, compared, reasons
        problem, compared, others = self.compare_fields(name, pairs, event["fields"])
        return problem, compared, reasons + others

    def compare_line(self, where, match, trace):
        at_ms = float(match[1].replace(",", ""))
        reason = "no event at this time on this processor, of this provider and length"
        first = int(trace.start + (at_ms - TIME_MS) * 1e4) - 1
        last = int(trace.start + (at_ms + TIME_MS) * 1e4) + 1
        kinds, best = set(), None
        for tick in range(first, last + 1):
            for event in trace.times.get(tick, ()):
                if (event["cpu"] != int(match[5]) or
                        trace.lengths.get(event["address"]) != int(match[6]) or
                        not provider_agrees(match[2], event, trace.providers)):
                    continue
                problem, compared, reasons = self.compare(match, event)
                reason = problem or reason
                if problem:
                    continue
                kinds.add((event["guid"], event.get("id"), event["opcode"]))
                best = best or (compared, reasons)
        if not best:
            self.failures.append(f"{where}: {match[0][:110]}: {reason}")
            return
        self.agreeing += 1
        self.values += best[0]
        self.outside += best[1]
        self.kinds[match[2]].append(kinds)

    def check_baseline(self, etw, path, trace_path):
        trace = Trace(etw, trace_path)
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            match = LINE.match(line)
            if match:
                self.lines += 1
                self.compare_line(path.name, match, trace)
            elif line.startswith("EVENT"):
                self.lines += 1
                self.failures.append(f"{path.name}: cannot read the line {line[:100]}")

    def check_kinds(self):
        """One name of theirs, one kind of ours; versions and pointer sizes are of one kind."""
        for name, sets in sorted(self.kinds.items()):
            if not set.intersection(*sets):
                self.failures.append(f"{name} falls on several kinds: {sets}")


def main():
    data_dir = find_data_dir()
    comparison = Comparison()
    for path in sorted((data_dir / "reference" / "perfview-baselines").glob("*.baseline.txt")):
        stem = path.name.removesuffix(".baseline.txt")
        comparison.check_baseline(sys.argv[1], path, next(data_dir.glob(f"*/{stem}.etl")))
    comparison.check_kinds()
    for failure in comparison.failures:
        print(failure)
    print(f"{comparison.agreeing} of {comparison.lines} lines agree, in {len(comparison.kinds)} "
          f"kinds of events; {comparison.values} field values compared")
    for reason, count in comparison.outside.most_common():
        print(f"  not compared: {count} {reason}")
    return 1 if comparison.failures or not comparison.lines else 0


if __name__ == "__main__":
    sys.exit(main())
