#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold `etw dump --json` of HTTP_Server.etl against HTTP_Server.evtx, which Windows made of it.

    check_evtx.py ETW

tracerpt wrote the same events into an event log: names and values as Windows decoded them with the
provider that was installed there. Event by event, in order of time: every number of the header, the
names of the fields and their order, and every value. The log stores typed values, so that it is
evtxexport (libevtx) that writes them: numbers are compared as numbers, whatever their base; through
the manifest's maps, read here, where it gives numbers names; byte strings that are socket addresses
through a rendering of their own here; text as text.
Exit status: 0 all agree, 1 a difference, 77 no data or no evtxexport.
"""

import ipaddress
import json
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "conformance" / "kernel"))
sys.dont_write_bytecode = True

from kernel_common import find_data_dir, readme_says  # noqa: E402 (found through the path above)

SPACE = "{http://schemas.microsoft.com/win/2004/08/events/event}"
LOG_HEADER_OPCODE_PROVIDER = "68fdd900-4a3e-11d1-84f4-0000f80464e3"
ERROR_EVT_INVALID_EVENT_DATA = "15005"
AF_INET, AF_INET6 = 2, 23
SHOWN_DIFFERENCES = 20


def manifest_maps(path):
    """(event id, field) -> {number: name}, of a manifest."""
    root = ElementTree.fromstring(path.read_bytes())
    strings = {text.attrib["id"]: text.attrib["value"] for text in root.iter()
               if text.tag.endswith("}string")}
    of_kind = lambda kind: (e for e in root.iter() if e.tag.endswith("}" + kind))  # noqa: E731
    maps = {}
    for value_map in of_kind("valueMap"):
        maps[value_map.attrib["name"]] = {
            int(entry.attrib["value"], 0): strings[entry.attrib["message"][len("$(string."):-1]]
            for entry in value_map}
    templates = {template.attrib["tid"]: {data.attrib["name"]: maps[data.attrib["map"]]
                                          for data in template if "map" in data.attrib}
                 for template in of_kind("template")}
    return {(int(event.attrib["value"], 0), field): names
            for event in of_kind("event")
            for field, names in templates.get(event.attrib.get("template"), {}).items()}


def undecoded(event):
    """
    The fields of event 2, whose text lacks its final NUL: Windows refuses such a payload as a whole
    and keeps it as it is, where ours takes what is left.
    """
    error = event.find(SPACE + "ProcessingErrorData")
    if error is None:
        return []
    assert error.find(SPACE + "ErrorCode").text == ERROR_EVT_INVALID_EVENT_DATA
    assert error.find(SPACE + "DataItemName").text == "Url"
    payload = bytes.fromhex(error.find(SPACE + "EventPayload").text)
    return [("RequestObj", str(int.from_bytes(payload[0:8], "little"))),
            ("HttpVerb", str(int.from_bytes(payload[8:12], "little"))),
            ("Url", payload[12:].decode("utf-16-le"))]


def log_events(path):
    """The events of a log as dictionaries of the same form as ours() gives."""
    text = subprocess.run(["evtxexport", "-f", "xml", path], check=True, capture_output=True,
                          encoding="utf-8").stdout
    text = text[text.index("<Event "):]
    for event in ElementTree.fromstring("<all>" + text + "</all>"):
        system = event.find(SPACE + "System")
        execution = system.find(SPACE + "Execution").attrib
        correlation = system.find(SPACE + "Correlation").attrib
        yield {
            "guid": system.find(SPACE + "Provider").attrib["Guid"].strip("{}").lower(),
            "time": system.find(SPACE + "TimeCreated").attrib["SystemTime"].rstrip("Z")[:-2],
            "id": int(system.find(SPACE + "EventID").text),
            "version": int(system.find(SPACE + "Version").text),
            "level": int(system.find(SPACE + "Level").text),
            "task": int(system.find(SPACE + "Task").text),
            "opcode": int(system.find(SPACE + "Opcode").text),
            "keywords": int(system.find(SPACE + "Keywords").text, 0),
            "pid": int(execution["ProcessID"]),
            "tid": int(execution["ThreadID"]),
            "cpu": int(execution["ProcessorID"]),
            "activity": correlation.get("ActivityID", "").strip("{}").lower(),
            "fields": [(data.attrib["Name"], data.text or "")
                       for data in event.iter(SPACE + "Data")] or undecoded(event),
        }


def our_events(etw, trace, manifest):
    """Ours, without the trace's own header."""
    lines = subprocess.run([etw, "dump", "--json", "--manifest", manifest, trace], check=True,
                           capture_output=True, encoding="utf-8").stdout.splitlines()
    for event in map(json.loads, lines):
        if event["guid"] == LOG_HEADER_OPCODE_PROVIDER:
            continue
        yield {
            "guid": event["guid"],
            "time": event["time"].rstrip("Z"),
            **{name: event[name] for name in ("id", "version", "level", "pid", "tid", "cpu")},
            "task": event.get("task", 0),
            "opcode": event["opcode"],
            "keywords": int(event.get("keywords", "0"), 0),
            "activity": event.get("activity", ""),
            "fields": list(event["fields"].items()),
            "status": event["status"],
        }


def socket_address(data):
    """A SOCKADDR as TDH shows it; the scope of an IPv6 address is 0 in all of them."""
    family = int.from_bytes(data[0:2], "little")
    port = int.from_bytes(data[2:4], "big")
    if family == AF_INET:
        return f"{ipaddress.IPv4Address(data[4:8])}:{port}"
    if family != AF_INET6:
        return None
    address = str(ipaddress.IPv6Address(data[8:24]))
    groups = ipaddress.IPv6Address(data[8:24]).exploded.split(":")
    if groups[4:6] == ["0000", "5efe"]:  # ISATAP: the IPv4 address behind it is shown as one
        tail = str(ipaddress.IPv4Address(data[20:24]))
        address = address.rsplit(":", 2)[0] + ":" + tail
    return f"[{address}]:{port}"


def number(value):
    """An integer in whatever base, or None."""
    if isinstance(value, bool) or isinstance(value, float):
        return None
    try:
        return int(value, 0) if isinstance(value, str) else int(value)
    except (TypeError, ValueError):
        return None


def is_same(theirs, ours):
    if theirs == ours:
        return True
    if number(theirs) is not None and number(theirs) == number(ours):
        return True
    try:
        return isinstance(ours, str) and socket_address(bytes.fromhex(theirs)) == ours
    except (ValueError, ipaddress.AddressValueError):
        return False


def differences(theirs, ours, maps):
    """Sentences about one pair of events."""
    for name, value in theirs.items():
        if name != "fields" and ours[name] != value:
            yield f"{name} is {ours[name]!r}, the log has {value!r}"
    if ours["status"] != "complete":
        yield f"status is {ours['status']}"
    event_id = theirs["id"]
    names = [name for name, _ in ours["fields"]]
    if names != [name for name, _ in theirs["fields"]]:
        yield f"fields are {names}"
        return
    for (name, value), (_, their_value) in zip(ours["fields"], theirs["fields"]):
        if (event_id, name) in maps:
            their_value = maps[event_id, name].get(int(their_value), their_value)
        if not is_same(their_value, value):
            yield f"{name} is {value!r}, the log has {their_value!r}"


def main():
    data = find_data_dir()
    if data is None:
        print("skipped: no genuine traces (ETW_TEST_DATA)")
        return 77
    if not shutil.which("evtxexport"):
        print("skipped: no evtxexport (package libevtx-utils)")
        return 77
    manifest = data / "manifests" / "tx-HTTP_Server.man"
    maps = manifest_maps(manifest)
    theirs = list(log_events(data / "reference" / "HTTP_Server.evtx"))
    ours = list(our_events(sys.argv[1], data / "win7-manifest" / "HTTP_Server.etl",
                           manifest))
    if len(ours) != len(theirs):
        print(f"{len(ours)} events, the log has {len(theirs)}")
        return 1
    bad, values = 0, 0
    for place, (their_event, our_event) in enumerate(zip(theirs, ours)):
        values += len(their_event["fields"])
        for sentence in differences(their_event, our_event, maps):
            bad += 1
            if bad <= SHOWN_DIFFERENCES:
                print(f"event {place} (id {their_event['id']}): {sentence}")
    print(f"{len(theirs)} events, {values} values, {bad} differences")
    is_told = readme_says(f"The {len(theirs):,} events that Windows itself wrote")
    return 1 if bad or not is_told else 0


if __name__ == "__main__":
    sys.exit(main())
