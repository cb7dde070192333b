#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What PerfView, on Windows, decoded of kernel events agrees with what we decode of them.

    check_perfview.py DUMP_PAYLOAD

The baselines (reference/perfview-baselines) give the time from the start of the session, PerfView's
own event and field names, and values cut at 20 characters. An event of ours matches a line when
class, opcode, payload length and time (to a few microseconds) agree and every field that PerfView
takes from the payload has the same value. The numbers of events (COUNT lines) must be equal too.
Exit status: 0 all agree, 1 a difference, 77 no data.
"""

import collections
import re
import sys

from kernel_common import as_number, classic_events, decode, fields_of, find_data_dir

PROVIDERS = ("Windows Kernel/", "KernelTraceControl/", "MSNT_SystemTrace/")
TIME_MS = 0.002         # their times are rounded to 0.001 ms, ours to FILETIMEs

CLASSES = {"Memory": "PageFault", "DiskIO": "DiskIo"}
OPCODES = {
    "": {"EventTrace": "Header", "ImageID": "Info"},
    "Stop": "End", "DCStop": "DCEnd", "Unload": "UnLoad", "RundownComplete": "RDComplete",
    "Opcode(37)": "OSVersion", "Sample": "SampleProf", "Send": "SendIPV4", "Recv": "RecvIPV4",
    "Disconnect": "DisconnectIPV4", "Accept": "AcceptIPV4",
}
# Their names of fields; by class first, then for all.
NAMES = {
    "EventTrace": {"SessionName": "SessionNameString", "LogFileName": "LogFileNameString"},
    "Process": {"PageDirectoryBase": "DirectoryTableBase", "MemoryCount": "PageFaultCount"},
    "Thread": {"ParentProcessID": "ProcessId"},
    "ImageID": {"PDBFileName": "PdbFileName"},
    "SystemConfig": {"ComputerName": "ComputerName", "TargetID": "TargetId"},
    "PerfInfo": {"SampleSource": "Source"},
    "": {"ProcessID": "ProcessId", "ThreadID": "TThreadId", "ParentID": "ParentId",
         "SessionID": "SessionId", "ApplicationID": "ApplicationId", "FileKey": "FileObject",
         "TThreadID": "TThreadId"},
}
# Not from the payload, or from other events.
NOT_COMPARED = {
    "": {"BuildTime", "ProcessorNumber", "ParentProcessName", "UtcOffsetMinutes", "ElapsedTimeMSec",
         "DiskServiceTimeMSec"},
    "SystemConfig": {"ProcessName"},
    "UdpIp": {"dsize"},
    "DiskIo": {"FileName"},
    "PageFault": {"FileName"},
    "Thread": {"StartAddr", "ThreadName", "ParentProcessID", "ParentThreadID"},
    "ImageID": {"ProcessID"},
}
# PerfView leaves out samples of the idle loop.
NOT_COUNTED = {("PerfInfo", "SampleProf")}
# It shows the drives' letters; what stands for them in net.4.5.2.x86.etl.
DRIVES = {"\\Device\\HarddiskVolume2\\": "C:\\", "\\SystemRoot\\": "C:\\Windows\\",
          "\\Windows\\": "C:\\Windows\\", "\\Device\\Mup\\": "\\\\"}
FLAG_NAMES = {"None": 0, "PackageFullName": 1, "Wow64": 2, "Protected": 4}
PRIORITIES = ("NotSet", "Verylow", "Low", "Normal", "High", "Critical", "Reserved0", "Reserved1")

LINE = re.compile(r"EVENT ([\d,.]+): (.*?) PID=.*?; DataLen=(\d+); ?(.*)$")
PAIR = re.compile(r"(\w+)=(.*?); (?=\w+=|$)")
COUNT = re.compile(r"COUNT (.*):(\d+)$")


def our_names(name):
    """Class and opcode name of `Provider/Task/Opcode`."""
    parts = name.split("/")[1:] + [""]
    class_name = CLASSES.get(parts[0], parts[0])
    opcode = OPCODES.get(parts[1], parts[1])
    if isinstance(opcode, dict):
        opcode = opcode.get(class_name, "")
    return class_name, opcode


def look_up(table, class_name, name):
    return table.get(class_name, {}).get(name) or table[""].get(name, name)


def clock_of(text):
    """Minutes, seconds and hundredths of `yy/MM/dd hh:mm:ss.ff...`: hours depend on the zone."""
    return tuple(re.findall(r"\d+", text.rstrip("."))[-3:])


def clock_of_filetime(filetime):
    hundredths = filetime // 100_000
    parts = (hundredths // 6000 % 60, hundredths // 100 % 60, hundredths % 100)
    return tuple(f"{part:02}" for part in parts)


def with_letter(path):
    for device, letter in DRIVES.items():
        if path.startswith(device):
            return letter + path[len(device):]
    return path


def same(theirs, ours):
    if re.match(r"\d\d/\d\d/\d\d \d\d:", theirs):
        number = as_number(ours)
        return number is None or clock_of(theirs) == clock_of_filetime(number)
    if theirs in FLAG_NAMES:
        return as_number(ours) == FLAG_NAMES[theirs]
    if isinstance(ours, str) and not re.match(r"0x|-?\d+$", ours):
        text = ours.strip("{}")
        return any(text.startswith(theirs[:-3]) if theirs.endswith("...") else text == theirs
                   for text in (text, with_letter(text)))
    digits = theirs.replace(",", "")
    if digits.endswith("..."):
        return str(as_number(ours)).startswith(digits[:-3]) or digits.startswith("-")
    number = as_number(digits)
    if number is None:
        return str(ours) == theirs
    return any((number - as_number(ours)) % bits == 0 for bits in (1 << 64, 1 << 32))


def derived(class_name, name, fields):
    """What PerfView makes of bits of a field; None when the field stands for itself."""
    if class_name == "PerfInfo" and "Flags" in fields:
        flags = as_number(fields["Flags"])
        return {"ExecutingDPC": str(bool(flags & 1)), "ExecutingISR": str(bool(flags & 2)),
                "Priority": str(flags >> 3)}.get(name)
    if class_name == "DiskIo" and name == "IrpFlags":
        bits = as_number(fields[name]) & 0xFFFF  # its names, cut at 20 characters as in the lines
        return {0: "None", 0x43: "Nocache, MountComple..."}.get(bits)
    if class_name == "DiskIo" and name == "Priority":
        return PRIORITIES[as_number(fields["IrpFlags"]) >> 17 & 7]
    if class_name == "UdpIp" and name == "context":
        return f"0x{fields['size']:x}{fields['PID']:08x}"  # it reads both as one pointer
    return None


def differences(class_name, pairs, answer, tally):
    """The first field that differs, or None."""
    fields = fields_of(answer)
    for name, theirs in pairs:
        bits = derived(class_name, name, fields)
        if bits is not None:
            if bits != theirs:
                return name
            tally[class_name] += 1
            continue
        if name in NOT_COMPARED[""] or name in NOT_COMPARED.get(class_name, ()):
            continue
        ours = look_up(NAMES, class_name, name)
        if ours not in fields:
            return f"{name} (there is none)"
        if not same(theirs, fields[ours]):
            return f"{name}: {fields[ours]!r}, expected {theirs!r}"
        tally[class_name] += 1
    return None


def check_line(match, answers, start, tally):
    """Why the line has no equal among our events, or None."""
    class_name, opcode = our_names(match[2])
    at_ms = float(match[1].replace(",", ""))
    pairs = PAIR.findall(match[4])
    reason = "no event of this kind, time and length"
    for filetime, length, answer in answers.get((class_name, opcode), ()):
        if length != int(match[3]) or abs((filetime - start) / 1e4 - at_ms) > TIME_MS:
            continue
        reason = differences(class_name, pairs, answer, tally)
        if reason is None:
            return None
    return reason


def check_baseline(program, path, trace, tally):
    events = list(classic_events(trace))
    start = events[0][0]
    answers = collections.defaultdict(list)
    for (filetime, request), answer in zip(
            events, decode(program, (request for _, request in events)), strict=True):
        answers[answer["class"], answer["opcode"]].append((filetime, len(request[4]), answer))
    failures = lines = 0
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        match = LINE.match(line)
        if match and match[2].startswith(PROVIDERS):
            reason = check_line(match, answers, start, tally)
        elif (match := COUNT.match(line)) and match[1].startswith(PROVIDERS):
            name = our_names(match[1])
            ours = len(answers[name])
            reason = None if ours == int(match[2]) or name in NOT_COUNTED else f"we have {ours}"
        else:
            continue
        lines += 1
        if reason:
            print(f"{path.name}: {line[:120]}: {reason}")
            failures += 1
    return failures, lines


def main():
    data_dir = find_data_dir()
    failures = lines = 0
    tally = collections.Counter()
    for path in sorted((data_dir / "reference" / "perfview-baselines").glob("*.baseline.txt")):
        stem = path.name.removesuffix(".baseline.txt")
        trace = next(data_dir.glob(f"*/{stem}.etl"))
        counts = check_baseline(sys.argv[1], path, trace, tally)
        failures += counts[0]
        lines += counts[1]
    print(f"{lines - failures} of {lines} lines agree, {sum(tally.values())} fields compared")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
