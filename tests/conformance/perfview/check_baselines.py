#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold `etw dump --json` against what PerfView, on Windows, printed of the same traces.

    check_baselines.py ETW

Every EVENT line of reference/perfview-baselines must have an event of ours with the same provider,
time (ms from the start, 3 decimals), processor, payload length, and, where the event's header says
so, process and thread; all lines of one PerfView name must fall on one kind of event (provider and
id), of which there must be as many as the COUNT line says. Fields are compared where a schema is in
the trace, built in, or in a genuine manifest: kernel classes by the tables of
tests/conformance/kernel, others by name and normalised value. What is not compared is counted by
reason. Exit status: 0 all agree, 1 a difference, 77 no data.
"""

import collections
import datetime
import ipaddress
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "conformance" / "kernel"))
sys.dont_write_bytecode = True

import check_perfview as kernel  # noqa: E402 (found through the path above)
from kernel_common import as_number, find_data_dir, readme_says  # noqa: E402

LINE = re.compile(r"EVENT ([\d,.]+): (.*?) PID=(-?\d+); TID=(-?\d+); PName=.*?; ProceNum=(\d+); "
                  r"DataLen=(\d+); ?(.*)$")
COUNT = re.compile(r"COUNT (.*):([\d,]+)$")
PAIR = re.compile(r"(\w+)=(.*?); (?=\w+=|$)")
# What the traces need besides their own schemas.
MANIFESTS = ("ClrEtwAll.man", "tx-SystemEvents.man")
TIME_MS = 0.002  # theirs is rounded to 0.001 ms, ours to FILETIMEs
EPOCH = datetime.datetime(1601, 1, 1)
NUMBER = re.compile(r"-?[\d,]+$|-?0x[0-9a-fA-F]+$|-?[\d,]+\.\d+$")

# Fields that PerfView's parsers, which are written by hand, call otherwise.
RENAMED = {"size": "segmentsize", "address": "segmentaddress", "irpptr": "irp",
           "fileattributes": "createattributes"}
# Values that it shows in part or by a rule of its own: (event, field) -> what it shows of ours.
SHOWN_SO = {
    # The upper byte of CreateOptions is the disposition, which it leaves out.
    ("Microsoft-Windows-Kernel-File/Create", "CreateOptions"): lambda value: value & 0xFFFFFF,
}
# Values that it makes of other fields of the event: field -> what of ours it must be.
DERIVED = {
    "CreateDisposition": lambda fields: as_number(fields["CreateOptions"]) >> 24,
    "ModuleILFileName": lambda fields: fields["ModuleILPath"].rpartition("\\")[2],
    "TotalHeapSize": lambda fields: sum_of("GenerationSize", fields),
    "TotalPromoted": lambda fields: sum_of("TotalPromotedSize", fields),
    "TypeID_0": lambda fields: fields["Values"][0]["TypeID"],
    "TypeName_0": lambda fields: fields["Values"][0]["TypeName"],
}
# Its names of numbers, cut as in the lines.
NAMED_SO = {
    "None": 0, "AllocSmall": 0, "Promotion": 4, "PinnedObjectHeap": 3, "START_BIND": 0,
    "REJECT_IL_SIG": 9, "ReadWrite": 3, "ReadWrite, Delete": 7, "OPEN_EXISTING": 1,
    # It takes options for attributes; what follows the cut is 0x40, another one's name.
    "FILE_ATTRIBUTE_ARCHI...": 0x20 | 0x40,
}
# What the maps of manifests name, where it shows numbers.
MAPPED = {
    "Default": 1, "Executable": 2, "Finalizer": 2, "ThreadPoolWorker": 4, "CONCURRENT_GC": 1,
    "LOADER_OPTIMIZATION_SINGLE_DOMAIN": 2,
}
# Kinds of which it leaves out events: the runtime's helpers among the methods, flag 0x10.
LEFT_OUT = {
    ("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", 143, 37): lambda fields: fields["MethodFlags"] == 16,
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


def read_events(etw, data_dir, trace):
    """Every event of the dump; its payload length is in `bytes` when we can tell."""
    manifests = [str(data_dir / "manifests" / name) for name in MANIFESTS]
    options = [option for path in manifests for option in ("--manifest", path)]
    result = subprocess.run([etw, "dump", "--json", *options, str(trace)], capture_output=True,
                            check=False)
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

    def __init__(self, etw, data_dir, path):
        events = read_events(etw, data_dir, path)
        self.lengths = read_lengths(etw, path)
        self.start = ticks_of(events[0]["time"])
        self.providers = {event.get("provider") for event in events}
        self.times = collections.defaultdict(list)
        for event in events:
            self.times[ticks_of(event["time"])].append(event)


def kind_of(event):
    return event["guid"], event.get("id"), event["opcode"]


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


def sum_of(prefix, fields):
    """What the generations have together; newer runtimes have a fifth, of pinned objects."""
    generations = range(5 if f"{prefix}4" in fields else 4)
    return sum(as_number(fields[f"{prefix}{generation}"]) for generation in generations)


def derive(name, fields):
    """What PerfView makes a field of, or None; fields that the event lacks give None too."""
    try:
        return DERIVED[name](fields)
    except (KeyError, IndexError):
        return None


def is_address(value):
    try:
        return isinstance(value, str) and bool(ipaddress.ip_address(value))
    except ValueError:
        return False


def number_of_names(names):
    """The number that a map or bit map shows so; None when a name is not in the table."""
    total = 0
    for name in names.split("|"):
        number = MAPPED.get(name, as_number(name))
        if number is None:
            return None
        total |= number
    return total


def same_value(theirs, ours):
    """True, False, or the reason why the two cannot be compared."""
    if is_address(ours):
        shown = f"[{ours}]:0" if ":" in ours else f"{ours}:0"  # a socket's, without a port
        return shown.startswith(theirs[:-3]) if theirs.endswith("...") else theirs in (shown, ours)
    if isinstance(ours, bool):
        return str(ours).lower() == theirs.lower()
    if isinstance(ours, (list, dict)):
        return "arrays and structs, of which it shows the number"
    if re.match(r"\d\d/\d\d/\d\d \d\d:", theirs):
        match = re.match(r".*:(\d\d):(\d\d)\.(\d\d)", str(ours))
        return kernel.clock_of(theirs) == match.groups() if match else "times of its own"
    if as_number(ours) is not None and not NUMBER.match(theirs.rstrip(".")):
        if theirs in NAMED_SO:
            return as_number(ours) == NAMED_SO[theirs]
        return "names of PerfView's own for numbers"
    if isinstance(ours, str) and as_number(ours) is None and re.match(r"-?[\d,]+$", theirs):
        if len(ours) == 1:
            return ord(ours) == int(theirs)  # a character, by its number
        number = number_of_names(ours)
        if number is not None:
            return number == int(theirs)
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
        self.counts = 0
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
            ours = by_name.get(key, derive(name, fields))
            if ours is None:
                reasons["fields that only PerfView's own parser has"] += 1
                continue
            if (event_name, name) in SHOWN_SO:
                ours = SHOWN_SO[event_name, name](as_number(ours))
            outcome = NOT_COMPARED.get((event_name, name)) or same_value(theirs, ours)
            if isinstance(outcome, str):
                reasons[outcome] += 1
            elif outcome:
                compared += 1
            else:
                return f"{name}: {ours!r}, expected {theirs!r}", 0, reasons
        return None, compared, reasons

    def compare(self, match, event):
        """(problem or None, values compared, why others were not) of a line and an event."""
        name, pairs = match[2], PAIR.findall(match[7])
        ids = [event.get(f"header_{key}", event.get(key)) for key in ("pid", "tid")]
        if not event.get("classic") and ids != [int(match[i]) % (1 << 32) for i in (3, 4)]:
            return "process or thread differ", 0, None
        reasons = collections.Counter()
        if event.get("classic"):
            reasons["process and thread of classic events, which it takes from payloads"] += 2
        if not pairs:
            return None, 0, reasons
        if "fields" not in event:
            reasons["values of events without a schema: newer than the manifest"] += len(pairs)
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
                kinds.add(kind_of(event))
                best = best or (compared, reasons)
        if not best:
            self.failures.append(f"{where}: {match[0][:110]}: {reason}")
            return
        self.agreeing += 1
        self.values += best[0]
        self.outside += best[1]
        self.kinds[match[2]].append(kinds)

    def check_baseline(self, etw, data_dir, path):
        stem = path.name.removesuffix(".baseline.txt")
        trace = Trace(etw, data_dir, next(data_dir.glob(f"*/{stem}.etl")))
        counts = {}
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            match = LINE.match(line)
            if match:
                self.lines += 1
                self.compare_line(path.name, match, trace)
            elif match := COUNT.match(line):
                counts[match[1]] = int(match[2].replace(",", ""))
            elif line.startswith("EVENT"):
                self.lines += 1
                self.failures.append(f"{path.name}: cannot read the line {line[:100]}")

        self.check_counts(path.name, trace, counts)

    def check_counts(self, where, trace, counts):
        """COUNT lines, but those of the kernel, which tests/conformance/kernel checks."""
        ours = collections.Counter()
        for event in (event for events in trace.times.values() for event in events):
            ours[kind_of(event)] += kind_of(event) not in LEFT_OUT or not LEFT_OUT[kind_of(event)](
                event["fields"])
        for name, count in counts.items():
            if is_kernel(name):
                continue
            self.counts += 1
            # Kinds whose events go with each other and look alike are not told apart by the lines.
            found = {ours[kind] for kind in set.intersection(*self.kinds[name] or [set()])}
            if count not in found:
                self.failures.append(f"{where}: {count} {name}, we have {found}")

    def check_kinds(self):
        """One name of theirs, one kind of ours; versions and pointer sizes are of one kind."""
        for name, sets in sorted(self.kinds.items()):
            if not sets or not set.intersection(*sets):
                self.failures.append(f"{name} falls on several kinds: {sets}")


def main():
    data_dir = find_data_dir()
    comparison = Comparison()
    for path in sorted((data_dir / "reference" / "perfview-baselines").glob("*.baseline.txt")):
        comparison.check_baseline(sys.argv[1], data_dir, path)
    comparison.check_kinds()
    for failure in comparison.failures:
        print(failure)
    print(f"{comparison.agreeing} of {comparison.lines} lines agree, in {len(comparison.kinds)} "
          f"kinds of events; {comparison.values} field values and {comparison.counts} counts "
          "compared")
    for reason, count in comparison.outside.most_common():
        print(f"  not compared: {count} {reason}")
    is_told = readme_says(
        f"{comparison.agreeing} of {comparison.lines} events that PerfView printed")
    is_told &= readme_says(f"{comparison.values:,} field values agree")
    return 1 if comparison.failures or not comparison.lines or not is_told else 0


if __name__ == "__main__":
    sys.exit(main())
