#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record what programs with TraceLoggingProvider.h write, and compare every value that is decoded.

    check_recorded.py ETW FOLDER_OF_PROGRAMS

Needs ETW_ETWD.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

FIRST = "000f1257-0000-0000-0000-000000000001"
SCALARS = {
    "Int8": -128, "UInt16": 65535, "Int64": "-9223372036854775808",
    "UInt64": "18446744073709551615", "Hex": "0xFEDCBA98", "Float": -2.5, "Boolean": True,
    "String": "narrow", "Utf8": "\u00e4", "Wide": "w\u00e4", "Counted": "count", "Null": "",
    "Guid": "{01020304-0506-0708-0102-030405060708}", "Sid": "S-1-5-18", "Binary.Length": 3,
    "Binary": "0x0102FE", "Numbers.Count": 3, "Numbers": [-1, 0, 2147483647], "Fixed": [-1, 0],
    "None.Count": 0, "None": [], "Value": 42}
STRUCTURES = {
    "Outer": {"A": 1, "Inner": {"B": 2}}, "Points.Count": 2,
    "Points": [{"X": 1, "Y": 2}, {"X": 3, "Y": 4}], "After": "last"}


def record(etw, program, provider, folder):
    """Return the provider's events, as `etw dump --json` says them."""
    trace = folder / (program.name + ".etl")
    subprocess.run([etw, "record", "--provider", provider, "-o", trace, "--", program],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=900)
    dump = subprocess.run([etw, "dump", "--json", trace], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=900)
    events = [json.loads(line) for line in dump.stdout.splitlines()]
    return [event for event in events if event["provider"] != "EventTrace"]


def expect(what, is_, should_be):
    if is_ != should_be:
        sys.exit(f"{what}: is\n{is_}\nshould be\n{should_be}")


def check_published(etw, programs, folder):
    """The name that the user types and the one in the program make the same id."""
    events = record(etw, programs / "tracelogging_provider", "MyCompany.MyProvider", folder)
    expect("published", [(event["provider"], event["task_name"], event["channel"], event["level"],
                          event["status"], event["fields"]) for event in events],
           [("MyCompany.MyProvider", "MyEvent", 11, 5, "complete", {"Message": "Hello from ETW"})])


def check_values(etw, programs, folder):
    events = record(etw, programs / "tracelogging_values",
                    "{1ab2c3d4-1111-2222-0102-030405060708}", folder)
    expect("values", [(event["task_name"], event["level"], event["keywords"], event["status"])
                      for event in events],
           [("Scalars", 3, "0x10", "complete"), ("Structures", 5, "0x0", "complete")])
    expect("scalars", events[0]["fields"], SCALARS)
    expect("structures", events[1]["fields"], STRUCTURES)


def check_activities(etw, programs, folder):
    events = record(etw, programs / "tracelogging_activity", "*Libetw.Test.Activities", folder)
    ids = {FIRST: "first", None: None}

    def name(event, key):
        """An activity is called by the name of its first event."""
        return ids.setdefault(event.get(key), event["task_name"])

    expect("activities", [(event["task_name"], event["opcode"], event["level"], event["keywords"],
                           name(event, "activity"), name(event, "related_activity"))
                          for event in events],
           [("InnerStart", 1, 4, "0x20", "InnerStart", "first"),
            ("Inside", 0, 5, "0x0", "InnerStart", None),
            ("ActivityStoppedAutomatically", 2, 4, "0x20", "InnerStart", None),
            ("Again", 0, 5, "0x0", "first", None),
            ("Start", 1, 2, "0x40", "Start", "first"),
            ("Tagged", 0, 5, "0x0", "Start", None),
            ("LaterStart", 1, 5, "0x0", "LaterStart", "Start"),
            ("LaterStop", 2, 5, "0x0", "LaterStart", None),
            ("Stop", 2, 5, "0x0", "Start", None),
            ("Outside", 0, 5, "0x0", None, None),
            ("generic", 1, 5, "0x0", "generic", None),
            ("plain", 1, 4, "0x80", "plain", "generic"),
            ("Within", 0, 5, "0x0", "plain", None),
            ("ActivityStoppedAutomatically", 2, 4, "0x80", "plain", None),
            ("ActivityStoppedAutomatically", 2, 5, "0x0", "generic", None)])
    expect("functions", [event["fields"] for event in events[-5:]],
           [{"Value": 5}, {"Number": 5}, {}, {}, {}])


def main(arguments):
    etw, programs = arguments[0], pathlib.Path(arguments[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["ETW_RUNTIME_DIR"] = str(folder / "run")
        check_published(etw, programs, folder)
        check_values(etw, programs, folder)
        check_activities(etw, programs, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
