# SPDX-License-Identifier: MIT
"""Rules about sequence, time and the file as a whole: what must hold from buffer to buffer."""

from layout import (FLAG_FLUSH_MARKER, MODE_APPEND, MODE_CIRCULAR, MODE_COMPRESSED,
                    NO_BUFFER_SIZES, TYPE_HEADER)
from rulebook import rule

FIRST_PLAUSIBLE_FT = 0x01C0000000000000     # late 2000: below it no relogger time can be
RELOGGER_DATA_LOGGER_ID_WIN7 = 0x8001


def _data_buffers(context):
    return [entry for entry in context.summaries if entry.header.type != TYPE_HEADER]


def _by_processor(buffers):
    streams = {}
    for entry in buffers:
        streams.setdefault(entry.header.cpu, []).append(entry)
    return streams


@rule("file", "must", "The file as a whole")
def buffers_fill_the_file(context):
    """Buffers lie end to end and the last one ends with the file."""
    for file_offset, text in context.trace.damage:
        yield file_offset, "file", text


@rule("file", "must", "The file as a whole")
def file_size_is_multiple(context):
    """An uncompressed file is an exact multiple of BufferSize."""
    size = context.logfile.buffer_bytes
    if context.logfile.mode & MODE_COMPRESSED or size in NO_BUFFER_SIZES:
        return
    rest = context.trace.file_bytes % size
    if rest:
        yield (context.trace.file_bytes - rest, "file",
               f"{rest:#x} bytes behind the last multiple of BufferSize {size:#x}")


@rule("file", "must", "Buffer header")
def header_sequence_is_0(context):
    """SequenceNumber is 0 for the header buffer, else from 1."""
    for entry in context.summaries:
        number = entry.header.sequence
        if entry.is_header and number != 0 or not entry.is_header and number < 1:
            yield entry.find(f"SequenceNumber {number}")


def _split_segments(context, buffers):
    """Append segments: a new one starts where LoggerId changes or numbering starts over at 1."""
    if not context.logfile.mode & MODE_APPEND:
        return [buffers]
    segments = []
    seen = set()
    for entry in buffers:
        is_new = (not segments or entry.header.sequence in seen
                  or entry.header.logger_id != segments[-1][-1].header.logger_id)
        if is_new:
            segments.append([])
            seen = set()
        segments[-1].append(entry)
        seen.add(entry.header.sequence)
    return segments


def _descents(context, entries, key):
    """Entries whose key does not exceed that of the entry before; a wrap excuses one descent."""
    found = [entry for before, entry in zip(entries, entries[1:]) if key(entry) <= key(before)]
    if context.logfile.mode & MODE_CIRCULAR and len(found) == 1:
        is_rotation = key(entries[-1]) < key(entries[0])
        return [] if is_rotation else found
    return found


@rule("file", "must", "Buffer header")
def sequence_per_processor(context):
    """Strictly increasing per processor; restarts with each append segment."""
    for segment in _split_segments(context, _data_buffers(context)):
        for cpu, stream in _by_processor(segment).items():
            for entry in _descents(context, stream, lambda one: one.header.sequence):
                yield entry.find(f"SequenceNumber {entry.header.sequence} does not exceed the "
                                 f"one before on processor {cpu}")


@rule("file", "must", "Buffer header")
def sequence_is_unique(context):
    """Numbers are session-wide, so none occurs twice in a segment."""
    for segment in _split_segments(context, _data_buffers(context)):
        seen = {}
        for entry in segment:
            first = seen.setdefault(entry.header.sequence, entry)
            if first is not entry:
                yield entry.find(f"SequenceNumber {entry.header.sequence} is also that of "
                                 f"buffer {first.index}")


@rule("file", "writer", "Buffer header")
def buffer_times_ascend(context):
    """File order is flush order, TimeStamp never decreases (but at a circular wrap)."""
    buffers = _data_buffers(context)
    falls = [entry for before, entry in zip(buffers, buffers[1:])
             if entry.header.timestamp < before.header.timestamp]
    if context.logfile.mode & MODE_CIRCULAR and len(falls) == 1:
        if buffers[-1].header.timestamp <= buffers[0].header.timestamp:
            return
    for entry in falls:
        yield entry.find(f"TimeStamp {entry.header.timestamp} is below that of the buffer before")


@rule("buffer", "must", "Buffer header")
def events_precede_flush(context, buffer):
    """No event is later than its buffer's TimeStamp (relogger times are another clock)."""
    if context.logfile.is_relogged or buffer.is_header:
        return
    limit = buffer.header.timestamp
    for event in buffer.events:
        if event.ts is not None and event.ts > limit:
            yield buffer.find_event(event, f"TimeStamp {event.ts} behind the buffer's {limit}")


@rule("buffer", "must", "Buffer header")
def event_order_in_buffer(_context, buffer):
    """Events of a buffer are in non-decreasing time order."""
    last = None
    for event in buffer.events:
        if event.ts is None:
            continue
        if last is not None and event.ts < last:
            yield buffer.find_event(event, f"TimeStamp {event.ts} is below {last} before it")
        last = event.ts


@rule("file", "must", "Buffer header")
def event_order_per_processor(context):
    """The same holds from buffer to buffer of one processor, in SequenceNumber order."""
    for segment in _split_segments(context, _data_buffers(context)):
        for cpu, stream in _by_processor(segment).items():
            stream = [entry for entry in stream if entry.first_ts is not None]
            stream.sort(key=lambda entry: entry.header.sequence)
            for before, entry in zip(stream, stream[1:]):
                if entry.first_ts < before.last_ts:
                    yield entry.find(f"first event {entry.first_ts} is below the last "
                                     f"{before.last_ts} of buffer {before.index} on processor "
                                     f"{cpu}")


@rule("file", "writer", "Writing")
def header_buffer_time(context):
    """The header buffer's TimeStamp is 0; Vista wrote a raw time, not before T0."""
    first = context.summaries[0]
    stamp = first.header.timestamp
    if context.is_vista:
        if stamp < context.header_event.ts:
            yield first.find(f"TimeStamp {stamp} before the header event's")
    elif stamp != 0:
        yield first.find(f"TimeStamp {stamp}, not 0")


@rule("file", "writer", "Buffer header")
def last_buffer_is_flagged(context):
    """The last buffer of every closed file carries FLUSH_MARKER."""
    if len(context.summaries) < 2 or context.logfile.end_time_ft == 0:
        return
    last = context.summaries[-1]
    candidates = [last]
    if context.logfile.mode & MODE_CIRCULAR:        # once wrapped, the last flushed is elsewhere
        last_time = max(entry.header.timestamp for entry in context.summaries[1:])
        candidates = [one for one in context.summaries if one.header.timestamp == last_time]
    if not any(one.header.flags & FLAG_FLUSH_MARKER for one in candidates):
        yield last.find("the last buffer of the file lacks flag 0x01")


@rule("file", "writer", "Buffer header")
def logger_id(context):
    """One LoggerId for all buffers of a session; 0 in relogger files, 8001 by Windows 7's."""
    if context.logfile.mode & MODE_APPEND:
        return
    first = context.summaries[0].header.logger_id
    allowed = {first}
    if context.logfile.is_relogged:
        allowed = {0}
        if context.is_before_windows8:
            allowed.add(RELOGGER_DATA_LOGGER_ID_WIN7)
    for entry in context.summaries:
        if entry.header.logger_id not in allowed:
            yield entry.find(f"LoggerId {entry.header.logger_id:#x}, the header buffer has "
                             f"{first:#x}")


@rule("file", "writer", "Buffer header")
def relogger_times_are_filetimes(context):
    """Relogger output stamps its buffers with the FILETIME of writing."""
    if not context.logfile.is_relogged:
        return
    for entry in _data_buffers(context):
        if entry.header.timestamp < FIRST_PLAUSIBLE_FT:
            yield entry.find(f"TimeStamp {entry.header.timestamp} is no FILETIME")
