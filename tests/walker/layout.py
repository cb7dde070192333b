# SPDX-License-Identifier: MIT
"""Fixed layouts of an .etl file: the buffer header and the logfile header.

Written from what docs/format/etl.md says, not from the C sources.
Nothing here reads a file: every function takes bytes and gives back plain values.
"""

import struct
import uuid
from typing import NamedTuple

BUFFER_HEADER_BYTES = 0x48
NO_BUFFER_SIZES = (0, 0xFFFFFFFF)          # no more buffers

FLAG_FLUSH_MARKER = 0x0001
LOSS_FLAGS = 0x001E                         # events, buffers lost; backup file corrupt, in use
FLAG_PROC_INDEX = 0x0020
FLAG_COMPRESSED = 0x0040
KNOWN_FLAGS = 0x007F

TYPE_HEADER = 4
TYPES_WITHOUT_EVENTS = (3, 6, 7)           # REFTIME, EMPTY_MARKER, DBG_INFO
TYPE_COUNT = 8

PROCESSOR_INDEX_MASK = 0x07FF

MODE_CIRCULAR = 0x00000002
MODE_KBYTES = 0x00002000
MODE_APPEND = 0x00000004
MODE_REAL_TIME = 0x00000100
MODE_RELOG = 0x00010000
MODE_STOP_ON_HYBRID_SHUTDOWN = 0x00400000
MODE_PERSIST_ON_HYBRID_SHUTDOWN = 0x00800000
MODE_COMPRESSED = 0x04000000
MODE_NO_PER_PROCESSOR_BUFFERING = 0x10000000

CLOCK_QPC = 1
CLOCK_SYSTEM_TIME = 2
CLOCK_CPU_CYCLES = 3

_BUFFER_HEADER = struct.Struct("<IIIiqqQHHIIHH16s")
assert _BUFFER_HEADER.size == BUFFER_HEADER_BYTES


class BufferHeader(NamedTuple):
    """WMI_BUFFER_HEADER, in field order."""

    buffer_bytes: int           # 00
    saved_offset: int           # 04
    current_offset: int         # 08
    reference_count: int        # 0C
    timestamp: int              # 10
    sequence: int               # 18
    union_20: int               # 20
    processor_word: int         # 28 u16 index, or u8 processor + u8 alignment
    logger_id: int              # 2A
    state: int                  # 2C
    offset: int                 # 30
    flags: int                  # 34
    type: int                   # 36
    union_38: bytes             # 38

    @property
    def cpu(self):
        """Processor of the buffer: 16-bit index when flag 0x20 says so, else the low byte."""
        if self.flags & FLAG_PROC_INDEX:
            return self.processor_word & PROCESSOR_INDEX_MASK
        return self.processor_word & 0xFF

    @property
    def alignment(self):
        """Alignment byte, meaningful only when flag 0x20 is clear."""
        return self.processor_word >> 8

    @property
    def is_compressed(self):
        return bool(self.flags & FLAG_COMPRESSED)


def parse_buffer_header(data, at=0):
    """Buffer header at `at`; the caller made sure that 0x48 bytes are there."""
    return BufferHeader._make(_BUFFER_HEADER.unpack_from(data, at))


def pack_buffer_header(header):
    """The 0x48 bytes of a BufferHeader (for files made by tests)."""
    return _BUFFER_HEADER.pack(*header)


# TRACE_LOGFILE_HEADER: common head, pointers by bitness, common rest.
_LOGFILE_HEAD = struct.Struct("<I4BIIqIIIIIIII")
_TIME_ZONE = struct.Struct("<i64s16si64s16si")
_LOGFILE_TIMES = struct.Struct("<qqqII")
LOGFILE_HEADER_BYTES = {4: 0x110, 8: 0x118}
assert _LOGFILE_HEAD.size == 0x38 and _TIME_ZONE.size == 0xAC and _LOGFILE_TIMES.size == 0x20

_LOGFILE_HEAD_FIELDS = (
    "buffer_bytes", "os_major", "os_minor", "sub_version", "sub_minor", "build",
    "processor_count", "end_time_ft", "timer_resolution", "maximum_file_size", "mode",
    "buffers_written", "start_buffers", "pointer_bytes", "events_lost", "cpu_mhz")


class LogfileHeader:
    """Fields of the TRACE_LOGFILE_HEADER and the two names behind it."""

    def __init__(self, payload, pointer_bytes):
        """Parse `payload` (after the event header) as seen by a logger of `pointer_bytes`."""
        need = LOGFILE_HEADER_BYTES[pointer_bytes]
        if len(payload) < need:
            raise ValueError(f"logfile header has {len(payload)} bytes, needs {need}")
        values = _LOGFILE_HEAD.unpack_from(payload, 0)
        for name, value in zip(_LOGFILE_HEAD_FIELDS, values):
            setattr(self, name, value)
        self.header_pointer_bytes = pointer_bytes
        pointers = struct.Struct("<II" if pointer_bytes == 4 else "<QQ")
        self.logger_name_pointer, self.file_name_pointer = pointers.unpack_from(payload, 0x38)
        zone_at = 0x38 + pointers.size
        self.time_zone_bias = _TIME_ZONE.unpack_from(payload, zone_at)[0]
        times_at = need - _LOGFILE_TIMES.size
        (self.boot_time_ft, self.perf_freq, self.start_time_ft, self.clock_type,
         self.buffers_lost) = _LOGFILE_TIMES.unpack_from(payload, times_at)
        self.logger_name, at = read_utf16z(payload, need)
        self.file_name, at = read_utf16z(payload, at) if at is not None else (None, None)
        self.strings_end = at           # None when a terminator is missing

    @property
    def layout_version(self):
        """(SubVersion, SubMinorVersion)."""
        return self.sub_version, self.sub_minor

    @property
    def is_relogged(self):
        return bool(self.mode & MODE_RELOG)

    @property
    def clock(self):
        """Effective clock type: before 6.1 the value 0 stood for system time."""
        return CLOCK_SYSTEM_TIME if self.clock_type == 0 else self.clock_type


def read_utf16z(data, at):
    """(text, offset behind the NUL) or (None, None) when no NUL is found."""
    end = at
    while end + 2 <= len(data):
        if data[end] == 0 and data[end + 1] == 0:
            return bytes(data[at:end]).decode("utf-16-le", "surrogatepass"), end + 2
        end += 2
    return None, None


def guid_text(data):
    """Sixteen little-endian GUID bytes as lower-case text."""
    return str(uuid.UUID(bytes_le=bytes(data)))


def round_up8(value):
    return (value + 7) & ~7
