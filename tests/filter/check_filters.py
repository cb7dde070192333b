#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What expressions select from genuine traces, against an evaluator that shares no code.

    check_filters.py ETW SELECT_EVENTS [--refresh]

filters.tsv beside this script has the expressions, and for each the number of events and the
beginning of the SHA-1 of their addresses. SELECT_EVENTS answers all expressions of a trace in one
pass; here they are read by a parser of its own and asked of the objects that `etw dump --json`
writes. Both must select what the table says; known providers are left out, so that it need not
change with them. Expressions marked "free" must not have decoded anything.
--refresh writes the table anew where both agree. Exit status: 0 all hold, 1 not, 77 no data.
"""

import datetime
import hashlib
import ipaddress
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli" / "genuine"))
from check_decode_share import find_data_dir  # noqa: E402

TABLE = pathlib.Path(__file__).resolve().parent / "filters.tsv"
EXPRESSIONS_MIN = 200
EVENTS = 5000  # the first of each trace: this side is slow
MANIFESTS = {"win7-manifest/HTTP_Server.etl": "manifests/tx-HTTP_Server.man"}

EPOCH = datetime.datetime(1601, 1, 1)
SIZES = {"": 1, **{f"{p}B": 1000 ** i for i, p in enumerate("KMGT", 1)},
         **{f"{p}iB": 1024 ** i for i, p in enumerate("KMGT", 1)}}
SPANS = {"": 10 ** 7, "us": 10, "ms": 10 ** 4, "s": 10 ** 7, "min": 60 * 10 ** 7,
         "h": 3600 * 10 ** 7, "d": 86400 * 10 ** 7}
LEVELS = {"critical": 1, "error": 2, "warning": 3, "information": 4, "verbose": 5}
GUID = re.compile(r"\{?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\}?$")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?Z?$")
NAMED = ("event", "task", "opcode", "keyword", "channel")
TEXTUAL = {"contains", "starts", "ends", "like", "matches"}


def time_of(text):
    """A time as 100 ns since 1601, or None."""
    match = TIME.match(text)
    if not match:
        return None
    parts = [int(part or 0) for part in match.groups()[:6]]
    whole = datetime.datetime(*parts) - EPOCH
    fraction = int(((match[7] or "") + "0" * 7)[:7])
    return (whole.days * 86400 + whole.seconds) * 10 ** 7 + fraction


class Value:
    """A literal with all that it may mean."""

    def __init__(self, text, is_quoted):
        self.text = text
        self.number = self.time = self.guid = self.net = self.truth = None
        self.is_relative = False
        number = re.match(r"(-?)(?:0[xX]([0-9a-fA-F]+)|(\d+(?:\.\d+)?)([A-Za-z]*))$", text)
        if not is_quoted and number and (number[2] or number[4] in SIZES):
            if number[2]:
                self.number = int(number[2], 16)
            else:
                is_whole = "." not in number[3]
                self.number = (int if is_whole else float)(number[3]) * SIZES[number[4]]
            self.number *= -1 if number[1] else 1
        span = re.match(r"([+-])(\d+(?:\.\d+)?)([a-z]*)$", text)
        if span and span[3] in SPANS:
            self.time = int(float(span[2]) * SPANS[span[3]]) * (-1 if span[1] == "-" else 1)
            self.is_relative = True
        elif time_of(text) is not None:
            self.time = time_of(text)
        if GUID.match(text):
            self.guid = GUID.match(text)[1].lower()
        try:
            self.net = ipaddress.ip_network(text, strict=False)
        except ValueError:
            pass
        if not is_quoted and text in ("true", "false"):
            self.truth = text == "true"


class Range:
    """Two literals, both ends included."""

    def __init__(self, low, high):
        self.low, self.high = low, high


TOKEN = re.compile(r"""\s*(?:(?P<symbol>&&|\|\||==|!=|<=|>=|\.\.|[()=<>,!])
    |"(?P<double>(?:[^"]|"")*)"|'(?P<single>(?:[^']|'')*)'
    |(?P<bare>(?:(?!\.\.)[^\s(),"'=<>!&|])+))""", re.VERBOSE)


def tokenize(text):
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"{text!r}: nothing is known at {at}")
        at = match.end()
        if match["double"] is not None:
            yield "quoted", match["double"].replace('""', '"')
        elif match["single"] is not None:
            yield "quoted", match["single"].replace("''", "'")
        elif match["symbol"]:
            yield "symbol", match["symbol"]
        else:
            yield "bare", match["bare"]


class Parser:
    """Makes functions of an event out of an expression."""

    def __init__(self, text):
        self.tokens = [*tokenize(text), ("end", "")]

    def peek(self, *words):
        kind, word = self.tokens[0]
        return kind in ("bare", "symbol") and word in words

    def take(self, *words):
        if self.peek(*words):
            return self.tokens.pop(0)[1]
        return None

    def parse(self):
        result = self.either()
        if self.tokens[0][0] != "end":
            raise ValueError(f"left over: {self.tokens}")
        return result

    def either(self):
        parts = [self.both()]
        while self.take("or", "||"):
            parts.append(self.both())
        return lambda event: any(part(event) for part in parts)

    def both(self):
        parts = [self.negation()]
        while self.take("and", "&&"):
            parts.append(self.negation())
        return lambda event: all(part(event) for part in parts)

    def negation(self):
        if self.take("not", "!"):
            part = self.negation()
            return lambda event: not part(event)
        if self.take("("):
            part = self.either()
            assert self.take(")")
            return part
        if self.take("true"):
            return lambda event: True
        if self.take("false"):
            return lambda event: False
        if self.take("has"):
            name = self.tokens.pop(0)[1]
            return lambda event: bool(find(event, name))
        return self.comparison()

    def value(self):
        kind, text = self.tokens.pop(0)
        low = Value(text, kind == "quoted")
        if self.take(".."):
            kind, text = self.tokens.pop(0)
            return Range(low, Value(text, kind == "quoted"))
        return low

    def comparison(self):
        name = self.tokens.pop(0)[1]
        is_count = name == "count" and self.take("(")
        if is_count:
            name = self.tokens.pop(0)[1]
            assert self.take(")")
        is_negated = bool(self.take("not"))
        is_exact = bool(self.take("exactly"))
        operator = self.tokens.pop(0)[1]
        if operator in ("starts", "ends"):
            self.take("with")
        values = [self.value()] if not self.take("(") else None
        if values is None:
            values = [self.value()]
            while self.take(","):
                values.append(self.value())
            assert self.take(")")
        is_negated ^= operator == "!="

        def ask(event):
            if is_count:
                found = count(event, name)
            else:
                found = find(event, name)
            if name in NAMED and all(is_number(value) for value in values):
                found = [item for item in found if isinstance(item, int)]
            fits = any(compare(event, name, item, operator, is_exact, value)
                       for item in found for value in values)
            return bool(found) and fits != is_negated
        return ask


def is_number(value):
    return isinstance(value, Range) or value.number is not None


def is_hex(item):
    return isinstance(item, str) and re.match(r"0x[0-9A-Fa-f]+$", item)


def number_of(item):
    if isinstance(item, (int, float)):
        return item
    if is_hex(item):
        return int(item, 16)
    return int(item) if isinstance(item, str) and re.match(r"\d{16,20}$", item) else None


def address_of(item):
    if not isinstance(item, str):
        return None
    match = re.match(r"\[([0-9a-f:.]+)\](?::\d+)?$|(\d+\.\d+\.\d+\.\d+)(?::\d+)?$|"
                     r"([0-9a-f:.]*::?[0-9a-f:.]*)$", item)
    try:
        return ipaddress.ip_address(match[1] or match[2] or match[3]) if match else None
    except ValueError:
        return None


def text_of(item):
    return str(item).lower() if isinstance(item, bool) else str(item)


def compare_text(item, operator, is_exact, value):
    text, wanted = text_of(item), value.text
    if operator == "matches":
        flags = re.ASCII | (0 if is_exact else re.IGNORECASE)
        return bool(re.search(wanted, text, flags))
    if not is_exact:
        text, wanted = ascii_lower(text), ascii_lower(wanted)
    if operator == "like":
        pattern = "".join({"*": "(?s:.)*", "?": "(?s:.)"}.get(c, re.escape(c)) for c in wanted)
        return bool(re.fullmatch(pattern, text))
    return {"contains": wanted in text, "starts": text.startswith(wanted),
            "ends": text.endswith(wanted)}.get(operator, text == wanted)


def ascii_lower(text):
    return re.sub("[A-Z]+", lambda match: match[0].lower(), text)


def in_order(operator, item, low, high=None):
    if high is not None:
        return low <= item <= high
    return {"<": item < low, "<=": item <= low, ">": item > low, ">=": item >= low,
            "any": isinstance(low, int) and isinstance(item, int) and item & low != 0,
            "all": isinstance(low, int) and isinstance(item, int) and item & low == low,
            }.get(operator, item == low)


def compare_typed(event, item, operator, value):
    """True or false where the type of the item reads the value in its own way, else None."""
    low, high = (value.low, value.high) if isinstance(value, Range) else (value, None)
    as_time = item if isinstance(item, Time) else None
    if as_time is None and isinstance(item, str) and TIME.match(item):
        as_time = time_of(item)
    if as_time is not None:
        if low.time is not None:
            start = event["_start"] if low.is_relative else 0
            return in_order(operator, int(as_time), low.time + start, high and high.time + start)
        return in_order(operator, int(as_time), low.number) if low.number is not None else None
    if isinstance(item, str) and GUID.match(item) and low.guid:
        return GUID.match(item)[1].lower() == low.guid
    address = address_of(item)
    if address is not None and low.net is not None:
        if high is not None:
            return (address.version == low.net.version and
                    low.net.network_address <= address <= high.net.network_address)
        return address in low.net
    number = number_of(item)
    if number is not None and low.number is not None:
        return in_order(operator, number, low.number, high and high.number)
    if number is not None and low.truth is not None:
        return low.truth == (number != 0)
    return None


def compare(event, name, item, operator, is_exact, value):
    if operator in TEXTUAL:
        return compare_text(item, operator, is_exact, value)
    if name == "level" and isinstance(value, Value) and value.text.lower() in LEVELS:
        value = Value(str(LEVELS[value.text.lower()]), False)
    if name in NAMED:
        if is_number(value) != isinstance(item, int):
            return False
    typed = compare_typed(event, item, operator, value)
    if typed is not None:
        return typed
    if isinstance(value, Range) or operator in ("<", "<=", ">", ">=", "any", "all"):
        return False
    return compare_text(item, "=", is_exact, value)


class Time(int):
    """A time of the header, so that it is not taken for a number."""


def event_names(event):
    task = (event.get("task_name") or event.get("event_name") or "").rstrip()
    full = (event.get("opcode_name") or "").rstrip()
    opcode = full if event.get("classic") else full.removeprefix("win:") if event["opcode"] else ""
    names = [task, opcode, full, event.get("event_name", "")]
    names += [f"{task}/{name}" for name in (opcode, full) if task and name]
    return [name for name in names if name] + [event["id" if "id" in event else "opcode"]]


def find_header(event, name):
    """What an operand of the header is; None: it is no such name."""
    is_classic = event.get("classic", False)
    if name == "provider":
        names = [event.get("provider"), event["guid"]]
        return [n for n in names + [event.get("task_name") if is_classic else None] if n]
    if name == "event":
        return event_names(event)
    if name == "opcode":
        short = event.get("opcode_name", "").removeprefix("win:")
        return [n for n in {event.get("opcode_name", ""), short} if n] + [event["opcode"]]
    if name == "task":
        task = event.get("task_name") or event.get("event_name")
        return [n for n in (task,) if n] + ([event["task"]] if "task" in event else [])
    if name == "keyword":
        names = [n.strip() for n in event.get("keyword_names", "").split("; ") if n.strip()]
        return names + ([int(event["keywords"], 16)] if "keywords" in event else [])
    if name == "time":
        return [Time(time_of(event["time"]))]
    if name == "classic":
        return [is_classic]
    if name in ("header_pid", "header_tid"):
        found = event.get(name, event.get(name.removeprefix("header_")))
        return [] if found is None else [found]
    if name == "user":
        name = "sid"
    if name in ("guid", "id", "version", "level", "channel", "pid", "tid", "process", "cpu",
                "activity", "related_activity", "sid", "status", "message"):
        return [event[name]] if name in event else []
    return None


def flatten(value):
    """Each value within a value."""
    if isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from flatten(part)
    else:
        yield value


def walk(value, steps):
    """What a path leads to; an array stands for its elements."""
    if not steps:
        return [value]
    name, indices = steps[0]
    if isinstance(value, list):
        return [found for part in value for found in walk(part, steps)]
    if not isinstance(value, dict) or name not in value:
        return []
    value = value[name]
    for index in indices:
        if not isinstance(value, list) or index >= len(value):
            return []
        value = value[index]
    return walk(value, steps[1:])


def steps_of(name):
    name = name.removeprefix("fields.")
    return [(step.split("[")[0].strip("`"), [int(i) for i in re.findall(r"\[(\d+)\]", step)])
            for step in name.split(".")]


class Emptiness:
    """What an array without elements is compared as: there, and equal to nothing."""

    def __str__(self):
        return "\0"


def find(event, name):
    found = None if name.startswith("fields") else find_header(event, name)
    if found is not None:
        return found
    fields = event.get("fields", {})
    if name == "fields":
        return list(flatten(fields))
    found = walk(fields, steps_of(name))
    items = [item for part in found for item in flatten(part)]
    return items or ([Emptiness()] if found else [])


def count(event, name):
    return [len(part) if isinstance(part, list) else 1
            for part in walk(event.get("fields", {}), steps_of(name))]


def read_events(etw, trace, manifest):
    command = [etw, "dump", "--json", "--no-known-providers", "--max", str(EVENTS), str(trace)]
    command += ["--manifest", str(manifest)] if manifest else []
    result = subprocess.run(command, capture_output=True, check=True)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    start = next(int(e["fields"]["StartTime"]) for e in events
                 if e.get("provider") == "EventTrace" and e.get("opcode_name") == "Header")
    for event in events:
        event["_start"] = start
    return events


def digest(events):
    text = "".join(event["address"].replace("loss", "4294967295") + "\n" for event in events)
    return f"{len(events)} {hashlib.sha1(text.encode()).hexdigest()[:16]}"


def check_trace(tools, data_dir, name, rows):
    """Yields the row and what both evaluators say."""
    etw, select_events = tools
    manifest = data_dir / MANIFESTS[name] if name in MANIFESTS else None
    events = read_events(etw, data_dir / name, manifest)
    command = [select_events, str(data_dir / name), str(EVENTS)]
    command += [str(manifest)] if manifest else []
    lines = "".join(row[2] + "\n" for row in rows)
    result = subprocess.run(command, input=lines.encode(), capture_output=True, check=False)
    answers = result.stdout.decode().splitlines()
    if result.returncode or len(answers) != len(rows):
        raise SystemExit(f"{name}: {result.stderr.decode()}")
    for row, answer in zip(rows, answers):
        ask = Parser(row[2]).parse()
        ours = digest([event for event in events if ask(event)])
        theirs, decoded = answer.rsplit(" ", 1)
        yield row, ours, theirs, int(decoded)


def refreshed(row, fresh):
    return "\t".join([*row[:3], fresh[row[0], row[2]]])


def main():
    data_dir = find_data_dir()
    if data_dir is None:
        print("SKIP: the genuine traces are not there")
        return 77
    table = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in table if line and not line.startswith("#")]
    failures, fresh = [], {}
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        for row, ours, theirs, decoded in check_trace(sys.argv[1:3], data_dir, name, mine):
            fresh[name, row[2]] = ours
            if ours != theirs:
                failures.append(f"{name}: {row[2]}: {theirs}, but the JSON says {ours}")
            elif row[1] == "free" and decoded:
                failures.append(f"{name}: {row[2]}: {decoded} events were decoded for it")
            elif row[3:] != [ours] and "--refresh" not in sys.argv:
                failures.append(f"{name}: {row[2]}: {ours}, but the table says {row[3:]}")
    if len(rows) < EXPRESSIONS_MIN or len(fresh) != len(rows):
        failures.append(f"{len(fresh)} different expressions of {len(rows)}")
    if "--refresh" in sys.argv:
        lines = [line if line.startswith("#") or not line else
                 refreshed(line.split("\t"), fresh) for line in table]
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(failures) or f"{len(rows)} expressions select what they should")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
