# SPDX-License-Identifier: MIT
"""A trace file as a sequence of buffers: opening, striding, decompression, clock.

Buffers are read one at a time with seek and read, so a file of many GB needs the memory of its
largest buffer. A torn file gives its complete buffers; `damage` then says what is wrong.
"""

import os

from events import FramingError, walk_events
from layout import (BUFFER_HEADER_BYTES, CLOCK_CPU_CYCLES, CLOCK_QPC, CLOCK_SYSTEM_TIME,
                    LogfileHeader, NO_BUFFER_SIZES, TYPE_HEADER, TYPES_WITHOUT_EVENTS,
                    parse_buffer_header)
from xpress import XpressError, decompress


MAX_DECOMPRESSED_BYTES = 1 << 28        # far above any buffer; bounds what a forged Offset can ask


class UnreadableFile(ValueError):
    """The file is no .etl file that this reader knows; the text says why."""


class Clock:
    """Raw session time to FILETIME, rounding toward minus infinity."""

    def __init__(self, clock_type, anchor_raw, start_time_ft, perf_freq, cpu_mhz):
        self.clock_type = clock_type
        self.anchor_raw = anchor_raw
        self.start_time_ft = start_time_ft
        self.multiplier, self.divisor = {
            CLOCK_QPC: (10_000_000, perf_freq), CLOCK_CPU_CYCLES: (10, cpu_mhz),
        }.get(clock_type, (1, 1))
        if clock_type == CLOCK_SYSTEM_TIME:
            self.anchor_raw = self.start_time_ft = 0
        if self.divisor <= 0:
            raise UnreadableFile("the clock's frequency in the logfile header is not positive")

    def to_filetime(self, raw):
        return self.start_time_ft + (raw - self.anchor_raw) * self.multiplier // self.divisor


class Buffer:
    """One buffer: header, place in the file, and its bytes as stored."""

    def __init__(self, index, file_offset, header, stored):
        self.index = index
        self.file_offset = file_offset
        self.header = header
        self.stored = stored            # everything behind the header up to BufferSize
        self.stream_bytes_used = None   # compressed buffers: how much the decoder consumed
        self.damage = None              # (body offset or None, text) when the walk ended early
        self._body = None

    @property
    def body(self):
        """Event bytes, decompressed, from behind the header to Offset; empty when damaged."""
        if self._body is None:
            self._body = self._make_body()
        return self._body

    def _make_body(self):
        header = self.header
        want = header.offset - BUFFER_HEADER_BYTES
        if want < 0:
            self.damage = (None, f"Offset {header.offset:#x} is below the header's size")
            return b""
        if header.is_compressed:
            if want > MAX_DECOMPRESSED_BYTES:
                self.damage = (None, f"Offset {header.offset:#x} is no size of a buffer")
                return b""
            try:
                body, self.stream_bytes_used = decompress(self.stored, want)
                return body
            except XpressError as error:
                self.damage = (None, f"compressed body: {error}")
                return b""
        if want > len(self.stored):
            self.damage = (None, f"Offset {header.offset:#x} passes BufferSize "
                                 f"{header.buffer_bytes:#x}")
            return self.stored
        return self.stored[:want]

    def events(self):
        """Events in order; ends early, with `damage` set, where the bytes make no sense."""
        if self.header.type in TYPES_WITHOUT_EVENTS:
            return
        body = self.body
        try:
            yield from walk_events(body)
        except FramingError as error:
            self.damage = (error.pos, error.reason)


class TraceFile:
    """An open .etl file. Use as a context manager; iterate `buffers()` as often as needed."""

    def __init__(self, path):
        self.path = path
        self.file_bytes = os.path.getsize(path)
        self.damage = []                # (file offset, text), filled by buffers()
        self._file = open(path, "rb")
        try:
            self._read_logfile_header()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def _read_logfile_header(self):
        first = next(self.buffers(), None)
        if first is None:
            raise UnreadableFile("no complete first buffer")
        if first.header.type != TYPE_HEADER:
            raise UnreadableFile(f"first buffer has type {first.header.type}, not 4 (header)")
        if first.header.is_compressed:
            raise UnreadableFile("header buffer is flagged compressed")
        event = next(first.events(), None)
        if event is None or event.hook != 0 or event.kind not in ("SYSTEM32", "SYSTEM64"):
            raise UnreadableFile("first event is not the header event 0000")
        self.header_event = event
        payload = first.body[event.payload_pos:event.pos + event.size]
        try:
            self.logfile = LogfileHeader(payload, 4 if event.kind == "SYSTEM32" else 8)
        except ValueError as error:
            raise UnreadableFile(str(error)) from None
        major, minor = self.logfile.layout_version
        if not (major == 1 and minor >= 3 or major == 2):
            raise UnreadableFile(f"layout version {major}.{minor} is not 1.3+ or 2.x")
        self.clock = Clock(self.logfile.clock, event.ts, self.logfile.start_time_ft,
                           self.logfile.perf_freq, self.logfile.cpu_mhz)

    def buffers(self):
        """Yield complete buffers in file order; note in `damage` why the walk ended early."""
        self.damage = []
        at = 0
        index = 0
        while at < self.file_bytes:
            left = self.file_bytes - at
            if left < BUFFER_HEADER_BYTES:
                self.damage.append((at, f"{left} bytes at the end are no buffer header"))
                return
            self._file.seek(at)
            header = parse_buffer_header(self._file.read(BUFFER_HEADER_BYTES))
            size = header.buffer_bytes
            if size in NO_BUFFER_SIZES:
                self.damage.append((at, f"BufferSize {size:#x} ends the file, "
                                        f"{left} bytes are left"))
                return
            if size < BUFFER_HEADER_BYTES:
                self.damage.append((at, f"BufferSize {size:#x} is below the header's size"))
                return
            if size > left:
                self.damage.append((at, f"buffer of {size:#x} bytes is cut off after {left:#x}"))
                return
            stored = self._file.read(size - BUFFER_HEADER_BYTES)
            yield Buffer(index, at, header, stored)
            at += size
            index += 1
