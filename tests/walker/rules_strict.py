# SPDX-License-Identifier: MIT
"""Rules of --strict: the exact values that a writer of modern session files writes."""

from layout import (FLAG_COMPRESSED, FLAG_FLUSH_MARKER, FLAG_PROC_INDEX, LOSS_FLAGS, TYPE_HEADER,
                    round_up8)
from rulebook import rule

LAST_BUILD_WITHOUT_PARTITION = 10240


@rule("file", "writer", "Writing", is_strict=True)
def session_is_modern(context):
    """The values to write are those of a Windows 10+ session, no relogger output."""
    if not context.is_modern_session:
        yield context.find_logfile(f"OS {context.os_version}, LogFileMode "
                                   f"{context.logfile.mode:#x}: no modern session file")


@rule("buffer", "writer", "Writing", is_strict=True)
def strict_header_buffer(_context, buffer):
    """Header buffer: SavedOffset = CurrentOffset = Offset, flags 0021."""
    header = buffer.header
    if header.type != TYPE_HEADER:
        return
    if not header.saved_offset == header.current_offset == header.offset:
        yield buffer.find(f"SavedOffset {header.saved_offset:#x}, CurrentOffset "
                          f"{header.current_offset:#x} and Offset {header.offset:#x} differ")
    if header.flags != FLAG_PROC_INDEX | FLAG_FLUSH_MARKER:
        yield buffer.find(f"BufferFlag {header.flags:#06x}, not 0x0021")


@rule("buffer", "writer", "Writing", is_strict=True)
def strict_data_buffer(_context, buffer):
    """Data buffer: type 0, a flush time, flags 0020 or 0021 beside loss and compression."""
    header = buffer.header
    if header.type == TYPE_HEADER:
        return
    if header.type != 0:
        yield buffer.find(f"BufferType {header.type}, not 0")
    if header.timestamp <= 0:
        yield buffer.find(f"TimeStamp {header.timestamp} is no flush time")
    plain = header.flags & ~(LOSS_FLAGS | FLAG_COMPRESSED | FLAG_FLUSH_MARKER)
    if plain != FLAG_PROC_INDEX:
        yield buffer.find(f"BufferFlag {header.flags:#06x}")


@rule("buffer", "writer", "Buffer header", is_strict=True)
def strict_unions_are_zero(_context, buffer):
    """The unions at +20 and +38 are written as 0."""
    if buffer.header.union_20:
        yield buffer.find(f"{buffer.header.union_20:#x} at +20, not 0")
    if any(buffer.header.union_38):
        yield buffer.find(f"{buffer.header.union_38.hex()} at +38, not 0")


@rule("buffer", "writer", "Buffer header", is_strict=True)
def strict_pads_are_zero(_context, buffer):
    """A writer puts zeros between events."""
    body = buffer.body
    for event in buffer.events:
        end = event.pos + event.size
        pad = body[end:event.pos + round_up8(event.size)]
        if any(pad):
            yield buffer.find_event(event, f"pad {bytes(pad).hex()} at +{end:#x}, not zeros")


@rule("file", "writer", "The header event", is_strict=True)
def strict_partition_companion(context):
    """0050 directly behind the header event, or behind 0005; not in builds to 10240."""
    hooks = [event.hook for event in context.header_events]
    if context.logfile.build <= LAST_BUILD_WITHOUT_PARTITION:
        return
    if hooks[1:2] != [0x0050] and hooks[1:3] != [0x0005, 0x0050]:
        found = " ".join("?" if hook is None else f"{hook:04X}" for hook in hooks)
        yield context.find_logfile(f"the header buffer holds {found}")
