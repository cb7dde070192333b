# SPDX-License-Identifier: MIT
"""Rules about single buffers: header fields, bounds, filler, and that the body decodes."""

from layout import (FLAG_COMPRESSED, FLAG_FLUSH_MARKER, FLAG_PROC_INDEX, KNOWN_FLAGS, LOSS_FLAGS,
                    MODE_CIRCULAR, MODE_COMPRESSED, MODE_NO_PER_PROCESSOR_BUFFERING, TYPE_COUNT,
                    TYPE_HEADER, TYPES_WITHOUT_EVENTS, round_up8)
from rulebook import EVENTS_START, rule
from xpress import ALL_ONES

GENERIC_TYPES = (0, 1, 2, 5)            # those that hold events
RELOGGER_HEADER_ROUNDING = 0x200


@rule("buffer", "must", "The file as a whole")
def stride_equals_buffer_size(context, buffer):
    """In an uncompressed file every BufferSize equals that of the logfile header."""
    if context.logfile.mode & MODE_COMPRESSED:
        return
    want = context.logfile.buffer_bytes
    if buffer.header.buffer_bytes != want:
        yield buffer.find(f"BufferSize {buffer.header.buffer_bytes:#x}, the logfile header "
                          f"says {want:#x}")


@rule("buffer", "writer", "Writing")
def compressed_file_header_stride(context, buffer):
    """Compressed relogger files round the header buffer's Offset up to 0x200."""
    if not (buffer.index == 0 and context.logfile.is_relogged
            and context.logfile.mode & MODE_COMPRESSED):
        return
    rounding = RELOGGER_HEADER_ROUNDING
    want = (buffer.header.offset + rounding - 1) // rounding * rounding
    if buffer.header.buffer_bytes != want:
        yield buffer.find(f"BufferSize {buffer.header.buffer_bytes:#x} is not Offset "
                          f"{buffer.header.offset:#x} rounded up to {rounding:#x}")


@rule("buffer", "must", "Buffer header")
def offset_in_bounds(context, buffer):
    """0x48 <= Offset <= BufferSize; compressed: at most the logfile header's BufferSize."""
    limit = buffer.header.buffer_bytes
    if buffer.header.is_compressed:
        limit = context.logfile.buffer_bytes
    if not EVENTS_START <= buffer.header.offset <= limit:
        yield buffer.find(f"Offset {buffer.header.offset:#x} is outside 0x48..{limit:#x}")


@rule("buffer", "must", "Buffer header")
def offset_is_multiple_of_8(context, buffer):
    """Offset includes the last pad; only a Windows 7 relogger header buffer broke this."""
    is_win7_relogger = context.logfile.is_relogged and context.is_before_windows8
    if buffer.header.offset % 8 and not (buffer.is_header and is_win7_relogger):
        yield buffer.find(f"Offset {buffer.header.offset:#x} is no multiple of 8")


@rule("buffer", "must", "Buffer header; Compressed buffers")
def body_decodes(_context, buffer):
    """Events lie end to end up to Offset, each complete and of a known type."""
    if buffer.damage:
        pos, text = buffer.damage
        where = buffer.file_offset if pos is None else buffer.at(pos)
        yield where, f"{buffer.name} body" + ("" if pos is None else f" +{pos:#x}"), text


@rule("buffer", "must", "Buffer header")
def offset_ends_events(_context, buffer):
    """Offset is where the last event ends, its pad included unless Offset is unaligned."""
    if not buffer.events or buffer.damage:
        return
    last = buffer.events[-1]
    end = EVENTS_START + last.pos + last.size
    if buffer.header.offset % 8 == 0:
        end = round_up8(end)
    if end != buffer.header.offset:
        yield buffer.find(f"Offset {buffer.header.offset:#x}, the last event ends at {end:#x}")


@rule("buffer", "must", "Compressed buffers")
def compressed_stream_used_up(_context, buffer):
    """The stream ends with its last token, or with one extra flag word of all ones."""
    if buffer.stream_bytes_used is None:
        return
    rest = buffer.stored[buffer.stream_bytes_used:]
    if rest not in (b"", ALL_ONES):
        yield (buffer.file_offset + EVENTS_START + buffer.stream_bytes_used,
               f"{buffer.name} compressed body", f"{len(rest)} bytes follow the last token")


@rule("buffer", "must", "Compressed buffers; Writing")
def compressed_flag_fits_file(context, buffer):
    """Flag 0x40 only on data buffers of files with COMPRESSED mode and layout 2.x."""
    if not buffer.header.is_compressed:
        return
    if buffer.is_header:
        yield buffer.find("a header buffer is never compressed")
    if not context.logfile.mode & MODE_COMPRESSED:
        yield buffer.find(f"compressed, but LogFileMode is {context.logfile.mode:#x}")
    if context.logfile.sub_version < 2:
        major, minor = context.logfile.layout_version
        yield buffer.find(f"compressed, but the layout version is {major}.{minor}")


@rule("buffer", "must", "The file as a whole; Buffer header")
def header_type_at_start_only(_context, buffer):
    """Buffer 0, and only it, has BufferType 4."""
    if buffer.index == 0 and not buffer.is_header:
        yield buffer.find(f"BufferType {buffer.header.type} at the start of the file")
    if buffer.index > 0 and buffer.is_header:
        yield buffer.find("BufferType 4 behind the start of the file")


@rule("buffer", "must", "Buffer header")
def buffer_type_is_known(_context, buffer):
    """BufferType is one of 0 to 7."""
    if buffer.header.type >= TYPE_COUNT:
        yield buffer.find(f"BufferType {buffer.header.type} is unknown")


@rule("buffer", "writer", "Buffer header")
def buffer_type_is_generic(_context, buffer):
    """From Windows Vista on only the types 0 and 4 are written."""
    if 0 < buffer.header.type < TYPE_COUNT and buffer.header.type != TYPE_HEADER:
        yield buffer.find(f"BufferType {buffer.header.type} where a writer uses 0")


@rule("buffer", "must", "Buffer header")
def flags_are_known(_context, buffer):
    """No BufferFlag bit outside 0x7F."""
    unknown = buffer.header.flags & ~KNOWN_FLAGS
    if unknown:
        yield buffer.find(f"unknown BufferFlag bits {unknown:#x}")


@rule("buffer", "writer", "Buffer header")
def processor_index_flag(context, buffer):
    """Flag 0x20 on everything since Windows 8 except relogger header buffers, not before."""
    has_flag = bool(buffer.header.flags & FLAG_PROC_INDEX)
    want = not (context.is_before_windows8 or buffer.is_header and context.logfile.is_relogged)
    if has_flag != want:
        yield buffer.find(f"flag 0x20 {'is' if has_flag else 'is not'} set")


@rule("buffer", "writer", "Buffer header")
def alignment_is_8(context, buffer):
    """Before Windows 8 the byte at +29 is the alignment 8."""
    if context.is_before_windows8 and not buffer.header.flags & FLAG_PROC_INDEX:
        if buffer.header.alignment != 8:
            yield buffer.find(f"Alignment {buffer.header.alignment}, not 8")


@rule("buffer", "writer", "Buffer header; Writing")
def header_buffer_has_flush_marker(_context, buffer):
    """The header buffer carries FLUSH_MARKER."""
    if buffer.is_header and not buffer.header.flags & FLAG_FLUSH_MARKER:
        yield buffer.find("the header buffer lacks flag 0x01")


@rule("buffer", "writer", "Buffer header; Writing")
def flush_marker_means_flushed(context, buffer):
    """FLUSH_MARKER never sits on a buffer that was written because it was full."""
    header = buffer.header
    if buffer.is_header or not header.flags & FLAG_FLUSH_MARKER:
        return
    if header.current_offset != context.logfile.buffer_bytes + header.offset:
        yield buffer.find(f"flag 0x01, but CurrentOffset {header.current_offset:#x} is that of "
                          f"a full buffer")


@rule("buffer", "must", "Buffer header")
def reference_count_is_0(_context, buffer):
    """ReferenceCount is 0 on disk."""
    if buffer.header.reference_count:
        yield buffer.find(f"ReferenceCount {buffer.header.reference_count}")


@rule("buffer", "writer", "Buffer header; Writing")
def state_is_flush(context, buffer):
    """State is 3, except 0 in the header buffer of uncompressed relogger files."""
    logfile = context.logfile
    want = 3
    if buffer.is_header and logfile.is_relogged and not logfile.mode & MODE_COMPRESSED:
        want = 0
    if buffer.header.state != want:
        yield buffer.find(f"State {buffer.header.state}, not {want}")


@rule("buffer", "must", "Buffer header; Writing")
def saved_offset_of_data(_context, buffer):
    """SavedOffset equals Offset in data buffers."""
    if not buffer.is_header and buffer.header.saved_offset != buffer.header.offset:
        yield buffer.find(f"SavedOffset {buffer.header.saved_offset:#x} differs from Offset "
                          f"{buffer.header.offset:#x}")


@rule("buffer", "writer", "Writing")
def saved_offset_of_header(context, buffer):
    """0 before Windows 8; relogger: end of event 0000; else the end of some event."""
    if not buffer.is_header or not buffer.events:
        return
    saved = buffer.header.saved_offset
    if context.is_before_windows8:
        wanted = {0}
    elif context.logfile.is_relogged:
        wanted = {EVENTS_START + round_up8(buffer.events[0].size)}
    else:
        wanted = {EVENTS_START + event.pos + round_up8(event.size) for event in buffer.events}
    if saved not in wanted:
        yield buffer.find(f"SavedOffset {saved:#x}, expected "
                          + " or ".join(f"{value:#x}" for value in sorted(wanted)))


@rule("buffer", "writer", "Writing")
def current_offset_of_header(context, buffer):
    """Offset, or SavedOffset when companions came later; relogger: 0."""
    if not buffer.is_header:
        return
    header = buffer.header
    wanted = {0} if context.logfile.is_relogged else {header.offset, header.saved_offset} - {0}
    if header.current_offset not in wanted:
        yield buffer.find(f"CurrentOffset {header.current_offset:#x}, expected "
                          + " or ".join(f"{value:#x}" for value in sorted(wanted)))


@rule("buffer", "writer", "Writing")
def current_offset_of_data(context, buffer):
    """Full: Offset + aligned size of what did not fit; else BufferSize + Offset."""
    if buffer.is_header:
        return
    header = buffer.header
    size = context.logfile.buffer_bytes
    excess = header.current_offset - header.offset
    if excess == size:
        return
    is_full = excess % 8 == 0 and 0 < excess <= size - EVENTS_START
    if not is_full or header.current_offset <= size:
        yield buffer.find(f"CurrentOffset {header.current_offset:#x} fits neither a full nor a "
                          f"flushed buffer of Offset {header.offset:#x}")


@rule("buffer", "must", "Buffer header; The file as a whole")
def processor_in_range(context, buffer):
    """Processor below NumberOfProcessors; one stream: processor 0."""
    cpu = buffer.header.cpu
    count = context.logfile.processor_count
    if cpu >= count:
        yield buffer.find(f"processor {cpu} of {count}")
    if cpu and context.logfile.mode & MODE_NO_PER_PROCESSOR_BUFFERING:
        yield buffer.find(f"processor {cpu} in a session without per-processor buffers")


@rule("buffer", "writer", "Buffer header")
def tail_is_filled(_context, buffer):
    """An uncompressed buffer is 0xFF from Offset to BufferSize."""
    if buffer.header.is_compressed or buffer.header.offset < EVENTS_START:
        return
    start = buffer.header.offset - EVENTS_START
    tail = buffer.stored[start:]
    if tail.count(0xFF) != len(tail):
        bad = next(i for i, value in enumerate(tail) if value != 0xFF)
        yield (buffer.at(start + bad), f"{buffer.name} tail",
               f"byte {tail[bad]:#04x} behind Offset, not 0xFF")


@rule("buffer", "writer", "Buffer header")
def data_buffer_has_events(context, buffer):
    """Only non-empty buffers are written; a circular file may have a place that was lost."""
    if context.logfile.mode & MODE_CIRCULAR and context.logfile.buffers_lost:
        return
    if not buffer.is_header and buffer.header.type in GENERIC_TYPES and not buffer.events:
        yield buffer.find("no event in a data buffer")


@rule("buffer", "must", "Buffer header")
def loss_flags_on_data_only(_context, buffer):
    """Loss and backup flags (0x02 to 0x10) tell about data buffers only."""
    if buffer.is_header and buffer.header.flags & LOSS_FLAGS:
        yield buffer.find(f"loss flags {buffer.header.flags & LOSS_FLAGS:#x} on the header buffer")


@rule("buffer", "must", "Buffer header; Compressed buffers")
def control_buffers_are_plain(_context, buffer):
    """A buffer of type 3, 6 or 7 holds no events, so it is not compressed either."""
    if buffer.header.type in TYPES_WITHOUT_EVENTS and buffer.header.flags & FLAG_COMPRESSED:
        yield buffer.find(f"BufferType {buffer.header.type} is flagged compressed")
