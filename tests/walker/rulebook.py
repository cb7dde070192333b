# SPDX-License-Identifier: MIT
"""The frame in which the rules run: registration, what a rule sees, and the pass over a file.

A rule is a generator function with a name, a docstring that says what must hold, the headings of
docs/format/etl.md under which that stands, a severity and a scope. It yields findings (file offset,
structure, text).

* severity "must": every reader relies on it.
* severity "writer": what a modern writer does; the rule itself knows which older builds, layout
  versions and reloggers did otherwise.
* is_strict: only run with --strict, and only on a modern session: the values that it writes.
* scope "buffer": called as rule(context, buffer) for each buffer in file order.
* scope "file": called as rule(context) once all buffers have passed.

Only headers and a few times of each buffer are kept, so checking a file of many GB is possible.
"""

import importlib
from typing import NamedTuple

from layout import BUFFER_HEADER_BYTES, TYPE_HEADER

ALL_RULES = []
RULE_MODULES = ("rules_buffer", "rules_event", "rules_logfile", "rules_order", "rules_strict")
EVENTS_START = BUFFER_HEADER_BYTES


class Rule(NamedTuple):
    """A registered rule."""

    name: str
    function: object
    scope: str
    severity: str
    section: str
    is_strict: bool


class Violation(NamedTuple):
    """One finding of one rule, printable as one line."""

    path: str
    file_offset: int
    structure: str
    text: str
    rule: Rule

    def __str__(self):
        return (f"{self.path}: {self.file_offset:#x}: {self.structure}: {self.text} "
                f"[{self.rule.name}, {self.rule.severity}, etl.md: {self.rule.section}]")


def rule(scope, severity, section, is_strict=False):
    """Decorator that registers a rule under its function's name."""
    assert scope in ("buffer", "file") and severity in ("must", "writer")

    def register(function):
        assert function.__doc__, f"rule {function.__name__} needs a docstring"
        ALL_RULES.append(Rule(function.__name__, function, scope, severity, section, is_strict))
        return function
    return register


class CheckedBuffer:
    """A buffer with its events parsed, as rules of scope "buffer" see it."""

    def __init__(self, buffer):
        self.index = buffer.index
        self.file_offset = buffer.file_offset
        self.header = buffer.header
        self.stored = buffer.stored
        self.body = buffer.body
        self.events = list(buffer.events())
        self.damage = buffer.damage
        self.stream_bytes_used = buffer.stream_bytes_used

    @property
    def name(self):
        return f"buffer {self.index}"

    @property
    def is_header(self):
        return self.header.type == TYPE_HEADER

    def at(self, pos):
        """File offset of body offset `pos`; in a compressed buffer that of the buffer."""
        if self.header.is_compressed:
            return self.file_offset
        return self.file_offset + EVENTS_START + pos

    def find(self, text):
        """A finding about the buffer header."""
        return self.file_offset, f"{self.name} header", text

    def find_event(self, event, text):
        """A finding about one event."""
        return self.at(event.pos), f"{self.name} {event.kind} event +{event.pos:#x}", text


class BufferSummary:
    """What is kept of a buffer for rules of scope "file"."""

    __slots__ = ("index", "file_offset", "header", "event_count", "first_ts", "last_ts")

    def __init__(self, checked):
        times = [event.ts for event in checked.events if event.ts is not None]
        self.index = checked.index
        self.file_offset = checked.file_offset
        self.header = checked.header
        self.event_count = len(checked.events)
        self.first_ts = times[0] if times else None
        self.last_ts = times[-1] if times else None

    @property
    def is_header(self):
        return self.header.type == TYPE_HEADER

    def find(self, text):
        """A finding about the buffer header."""
        return self.file_offset, f"buffer {self.index} header", text


class Context:
    """What is known of the file while rules run: logfile header, era, finished buffers."""

    def __init__(self, trace):
        self.trace = trace
        self.logfile = trace.logfile
        self.header_event = trace.header_event
        self.summaries = []             # finished buffers, in file order
        self.header_events = []         # events of the header buffer
        self.header_body = b""

    @property
    def os_version(self):
        return self.logfile.os_major, self.logfile.os_minor

    @property
    def is_before_windows8(self):
        return self.os_version < (6, 2)

    @property
    def is_vista(self):
        return self.os_version < (6, 1)

    @property
    def is_modern_session(self):
        """A session file as Windows 10 and later write it: what --strict is about."""
        return self.os_version >= (10, 0) and not self.logfile.is_relogged

    def find_logfile(self, text):
        """A finding about the logfile header."""
        return EVENTS_START + self.header_event.payload_pos, "logfile header", text

    def find_header_event(self, event, text):
        """A finding about an event of the header buffer."""
        where = EVENTS_START + event.pos
        return where, f"header buffer {event.kind} event +{event.pos:#x}", text


def check_trace(trace, is_strict=False, only=None):
    """Yield the violations of one open trace; `only` limits the check to rules of these names."""
    for name in RULE_MODULES:
        importlib.import_module(name)
    context = Context(trace)
    rules = [entry for entry in ALL_RULES
             if (not entry.is_strict or is_strict and context.is_modern_session
                 or entry.name == "session_is_modern" and is_strict)
             and (only is None or entry.name in only)]
    buffer_rules = [entry for entry in rules if entry.scope == "buffer"]
    for buffer in trace.buffers():
        checked = CheckedBuffer(buffer)
        if checked.index == 0:
            context.header_events = checked.events
            context.header_body = checked.body
        for entry in buffer_rules:
            for finding in entry.function(context, checked):
                yield Violation(trace.path, *finding, entry)
        context.summaries.append(BufferSummary(checked))
    for entry in rules:
        if entry.scope == "file":
            for finding in entry.function(context):
                yield Violation(trace.path, *finding, entry)
