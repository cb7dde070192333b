# SPDX-License-Identifier: MIT
"""Hand-made events and a small .etl file for the tests: valid as built, easy to break.

SampleFile is a modern session file (10.0, layout 1.5) of a header buffer and three data buffers;
`make_relogged`, `make_compressed` and `make_windows7` turn it into its relatives.
"""

import struct

from layout import (BUFFER_HEADER_BYTES, BufferHeader, MODE_COMPRESSED, MODE_RELOG,
                    pack_buffer_header, round_up8)
from xpress import compress_literally

BUFFER_BYTES = 0x1000
T0 = 1_000_000
START_FT = 133_000_000_000_000_000
GUID_A = bytes(range(16))
GUID_B = bytes(range(16, 32))


def system_event(hook, ts, payload, header_type=2, version=2, tid=11, pid=22, times=(3, 4)):
    """SYSTEM32/64."""
    head = struct.pack("<HBBHHIIqII", version, header_type, 0xC0, 0x20 + len(payload), hook, tid,
                       pid, ts, *times)
    return head + payload


def compact_event(hook, ts, payload, header_type=4, version=2):
    """COMPACT32/64."""
    return struct.pack("<HBBHHIIq", version, header_type, 0xC0, 0x18 + len(payload), hook, 11, 22,
                       ts) + payload


def perfinfo_event(hook, ts, payload, header_type=0x11, version=2):
    """PERFINFO32/64; PEBS and PMC words, if announced, are part of `payload`."""
    return struct.pack("<HBBHHq", version, header_type, 0xC0, 0x10 + len(payload), hook,
                       ts) + payload


def full_event(ts, payload, header_type=0x14, guid=GUID_A):
    """FULL_HEADER32/64."""
    return struct.pack("<HBBBBHIIq16sII", 0x30 + len(payload), header_type, 0xC0, 7, 4, 3, 11, 22,
                       ts, guid, 5, 6) + payload


def instance_event(ts, payload, header_type=0x15):
    """INSTANCE32/64 in the 0x48 form."""
    return struct.pack("<HBBBBHIIq16sIIII16s", 0x48 + len(payload), header_type, 0xC0, 7, 4, 3, 11,
                       22, ts, GUID_A, 5, 6, 77, 88, GUID_B) + payload


def message_event(options, variable, arguments=b"", number=10, reserved=0):
    """MESSAGE; `variable` is the optional part as bytes."""
    size = 8 + len(variable) + len(arguments)
    return struct.pack("<HBBHH", size, reserved, 0x90, number, options) + variable + arguments


def ext_item(ext_type, data, has_next=0, item_bytes=None, pad=b"\0"):
    """One extended data item."""
    size = round_up8(8 + len(data)) if item_bytes is None else item_bytes
    return (struct.pack("<HHHH", size, ext_type, has_next, len(data)) + data).ljust(size, pad)


def modern_event(ts, payload, ext=b"", header_type=0x13, flags=None, prop=0):
    """EVENT_HEADER32/64."""
    flags = int(bool(ext)) if flags is None else flags
    size = 0x50 + len(ext) + len(payload)
    return struct.pack("<HBBHHIIq16sHBBBBHQII16s", size, header_type, 0xC0, flags, prop, 11, 22, ts,
                       GUID_A, 1000, 1, 11, 5, 2, 300, 1 << 63, 0, 0, GUID_B) + ext + payload


class SampleBuffer:
    """Events of one buffer and the header fields to override once it is laid out."""

    def __init__(self, events, **changes):
        self.events = events
        self.changes = changes
        self.pad = b"\0"
        self.tail = b"\xff"
        self.is_compressed = False
        self.stream_rest = b""

    def to_bytes(self, default, buffer_bytes):
        body = b"".join(event.ljust(round_up8(len(event)), self.pad) for event in self.events)
        offset = BUFFER_HEADER_BYTES + len(body)
        header = default._replace(offset=offset, saved_offset=offset, current_offset=offset)
        if header.type != 4:
            header = header._replace(current_offset=buffer_bytes + offset)
        if self.is_compressed:
            stored = compress_literally(body) + self.stream_rest
            header = header._replace(buffer_bytes=BUFFER_HEADER_BYTES + len(stored))
        else:
            stored = body
        changes = {name: change(header) if callable(change) else change
                   for name, change in self.changes.items()}
        header = header._replace(**changes)
        size = max(header.buffer_bytes - BUFFER_HEADER_BYTES, 0)
        return pack_buffer_header(header) + stored[:size].ljust(size, self.tail)


class SampleFile:
    """A file whose every part can be changed before `to_bytes`."""

    def __init__(self):
        self.logfile = {
            "buffer_bytes": BUFFER_BYTES, "os": (10, 0, 1, 5), "build": 19041, "processors": 2,
            "end_time": START_FT + 10_000, "timer": 156250, "maximum": 0, "mode": 1,
            "written": 4, "start_buffers": 1, "pointer": 8, "lost": 0, "mhz": 2000,
            "pointers": (9, 6), "boot": START_FT - T0 - 5, "freq": 10_000_000, "start": START_FT,
            "clock": 1, "buffers_lost": 0}
        self.names = "sample\0C:\\sample.etl\0".encode("utf-16-le")
        self.header_type = 2
        self.header_version = 2
        self.header_ts = T0
        self.companions = [system_event(0x0050, T0, bytes(48))]
        self.header_buffer = SampleBuffer([])
        item = ext_item(1, GUID_B, has_next=1) + ext_item(0x0B, b"\x05\0abc")
        big = modern_event(T0 + 10, bytes(0xA00))
        self.data = [
            SampleBuffer([big, modern_event(T0 + 20, b"xy", item)], sequence=1,
                         timestamp=T0 + 100, current_offset=lambda header: header.offset + 0x800),
            SampleBuffer([full_event(T0 + 30, b"abc"), instance_event(T0 + 40, b"\1")],
                         sequence=2, processor_word=1, timestamp=T0 + 300),
            SampleBuffer([modern_event(T0 + 50, bytes(0x7B0)), perfinfo_event(0x0F2E, T0 + 60,
                                                                              bytes(16)),
                          system_event(0x0301, T0 + 70, b"process\0"),
                          message_event(0x28, struct.pack("<qII", T0 + 80, 11, 22), b"arg")],
                         sequence=3, timestamp=T0 + 300, flags=0x21)]
        self.trailer = b""

    def header_event(self):
        values = self.logfile
        payload = struct.pack(
            "<I4BIIqIIIIIIII", values["buffer_bytes"], *values["os"], values["build"],
            values["processors"], values["end_time"], values["timer"], values["maximum"],
            values["mode"], values["written"], values["start_buffers"], values["pointer"],
            values["lost"], values["mhz"])
        payload += struct.pack("<QQ" if self.header_type == 2 else "<II", *values["pointers"])
        payload += struct.pack("<i64s16si64s16si", -60, b"", b"", 0, b"", b"", -60)
        payload += bytes(4) + struct.pack("<qqqII", values["boot"], values["freq"],
                                          values["start"], values["clock"],
                                          values["buffers_lost"])
        return system_event(0, self.header_ts, payload + self.names, self.header_type,
                            self.header_version)

    def to_bytes(self):
        size = self.logfile["buffer_bytes"]
        plain = BufferHeader(size, 0, 0, 0, 0, 0, 0, 0, 7, 3, 0, 0x20, 0, bytes(16))
        self.header_buffer.events = [self.header_event()] + self.companions
        out = [self.header_buffer.to_bytes(plain._replace(flags=0x21, type=4), size)]
        out += [buffer.to_bytes(plain, size) for buffer in self.data]
        return b"".join(out) + self.trailer

    def make_relogged(self):
        """Uncompressed relogger output."""
        self.logfile.update(mode=self.logfile["mode"] | MODE_RELOG, pointers=(0, 0))
        end_of_first = BUFFER_HEADER_BYTES + round_up8(len(self.header_event()))
        self.header_buffer.changes.update(flags=1, state=0, current_offset=0, logger_id=0,
                                          saved_offset=end_of_first)
        for buffer in self.data:
            buffer.changes.update(logger_id=0, timestamp=START_FT + 20_000)
        return self

    def make_compressed(self):
        """Compressed relogger output."""
        self.make_relogged()
        self.logfile.update(mode=self.logfile["mode"] | MODE_COMPRESSED, os=(10, 0, 2, 0))
        self.header_buffer.changes.update(
            state=3, buffer_bytes=lambda header: (header.offset + 0x1FF) // 0x200 * 0x200)
        for buffer in self.data:
            buffer.is_compressed = True
            buffer.changes["flags"] = buffer.changes.get("flags", 0x20) | 0x40
        return self

    def make_windows7(self):
        """A Windows 7 session: no processor index flag, Alignment 8, no 0050."""
        self.logfile.update(os=(6, 1, 1, 5), build=7601)
        self.companions = []
        self.header_buffer.changes.update(flags=1, processor_word=0x800, saved_offset=0)
        for buffer in self.data:
            buffer.changes["flags"] = buffer.changes.get("flags", 0) & ~0x20
            buffer.changes["processor_word"] = buffer.changes.get("processor_word", 0) | 0x800
        return self
