#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walk an .etl file: print its events or buffers, or check it against the format's rules.

    etl_walk.py events FILE            one JSON object a line and event, in file order
    etl_walk.py dump-buffers FILE      one line a buffer
    etl_walk.py check [--strict] FILE  one line a violation

Exit status: 0 fine, 1 violations or damage, 2 unreadable. The JSON form is described in events.py,
the rules in rules_*.py. This reader was written from the description of the format
(docs/format/etl.md) alone and shares no code with the C reader, so that each can judge the other.
"""

import argparse
import json
import sys

from events import event_json
from tracefile import TraceFile, UnreadableFile


def iter_event_objects(trace):
    """JSON-ready dicts of all events in file order; damage is collected in trace.damage."""
    to_filetime = trace.clock.to_filetime
    for buffer in trace.buffers():
        cpu = buffer.header.cpu
        body = buffer.body
        index = buffer.index
        for event in buffer.events():
            yield event_json(event, body, index, cpu, to_filetime)
        if buffer.damage:
            pos, text = buffer.damage
            where = buffer.file_offset if pos is None else buffer.file_offset + 0x48 + pos
            trace.damage.append((where, f"buffer {index}: {text}"))


def print_events(trace):
    """The `events` command."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    write = sys.stdout.write
    for item in iter_event_objects(trace):
        write(encode(item) + "\n")
    return report_damage(trace)


def print_buffers(trace):
    """The `dump-buffers` command."""
    for buffer in trace.buffers():
        header = buffer.header
        count = sum(1 for _ in buffer.events())
        note = f" DAMAGED: {buffer.damage[1]}" if buffer.damage else ""
        print(f"{buffer.index:6} @{buffer.file_offset:#010x} size={header.buffer_bytes:#x} "
              f"saved={header.saved_offset:#x} current={header.current_offset:#x} "
              f"offset={header.offset:#x} seq={header.sequence} cpu={header.cpu} "
              f"logger={header.logger_id:#x} state={header.state} flags={header.flags:#06x} "
              f"type={header.type} time={header.timestamp} events={count}{note}")
        if buffer.damage:
            trace.damage.append((buffer.file_offset, f"buffer {buffer.index}: {buffer.damage[1]}"))
    return report_damage(trace)


def report_damage(trace):
    """Print the damage list on standard error; 1 if there was any."""
    for file_offset, text in trace.damage:
        print(f"{trace.path}: {file_offset:#x}: {text}", file=sys.stderr)
    return 1 if trace.damage else 0


def print_violations(trace, is_strict):
    """The `check` command."""
    from rulebook import check_trace
    found = 0
    for violation in check_trace(trace, is_strict):
        found += 1
        print(violation)
    return 1 if found else 0


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Walk or check an .etl file.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("events", "dump-buffers", "check"):
        command = commands.add_parser(name)
        if name == "check":
            command.add_argument("--strict", action="store_true",
                                 help="demand what a modern session writes")
        command.add_argument("file")
    options = parser.parse_args(arguments)
    try:
        with TraceFile(options.file) as trace:
            if options.command == "events":
                return print_events(trace)
            if options.command == "dump-buffers":
                return print_buffers(trace)
            return print_violations(trace, options.strict)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (UnreadableFile, OSError) as error:
        print(f"{options.file}: unreadable: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
