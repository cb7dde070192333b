# SPDX-License-Identifier: MIT
"""Payloads of classic kernel events, by the table of kernel_classes.py: names and values.

A value is an int, a text (str), a GUID or a SID (Form), or a list of them; a struct is a dict. A
text of bytes stays bytes, since its code page is the reader's business.
"""

import ipaddress
import struct

from layout import guid_text

_NUMBERS = {"u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q", "i8": "<b", "i16": "<h",
            "i32": "<i", "i64": "<q", "t": "<q"}
_NUMBERS = {name: struct.Struct(form) for name, form in _NUMBERS.items()}
_POINTERS = {4: _NUMBERS["u32"], 8: _NUMBERS["u64"]}
SID_HEAD_BYTES = 8
ELEMENTS_MAX = 65536


class PayloadError(ValueError):
    """The payload is not what the table says: it ends too early, or bytes are left."""


class Form(str):
    """A text that stands for a value with a form of its own: a GUID, a SID, a FILETIME."""


class Reader:
    """A place in a payload."""

    def __init__(self, data, pointer_bytes):
        self.data = bytes(data)
        self.pos = 0
        self.pointer = _POINTERS[pointer_bytes]

    @property
    def left(self):
        return len(self.data) - self.pos

    def take(self, count):
        """The next bytes."""
        if count > self.left:
            raise PayloadError(f"{count} bytes wanted at {self.pos}, {self.left} are left")
        self.pos += count
        return self.data[self.pos - count:self.pos]

    def number(self, form):
        return form.unpack(self.take(form.size))[0]

    def wide(self):
        """UTF-16 to a NUL."""
        end = self.pos
        while self.data[end:end + 2] != b"\0\0":
            if end + 2 > len(self.data):
                raise PayloadError(f"the text at {self.pos} has no end")
            end += 2
        text = self.take(end - self.pos).decode("utf-16-le", "replace")
        self.take(2)
        return text

    def narrow(self):
        """Bytes to a NUL."""
        end = self.data.find(b"\0", self.pos)
        if end < 0:
            raise PayloadError(f"the text at {self.pos} has no end")
        text = self.take(end - self.pos)
        self.take(1)
        return text

    def sid(self):
        """TOKEN_USER and the SID; a first word of 0 stands for neither, unless a SID follows."""
        user_bytes = 2 * self.pointer.size
        head = self.data[self.pos + user_bytes:self.pos + user_bytes + SID_HEAD_BYTES]
        if self.data[self.pos:self.pos + 4] == b"\0\0\0\0" and (
                head[:1] != b"\1" or head[2:7] != b"\0\0\0\0\0"):
            self.take(4)
            return Form("")
        self.take(user_bytes)
        head = self.take(SID_HEAD_BYTES)
        parts = [str(head[0]), str(int.from_bytes(head[2:8], "big"))]
        parts += [str(self.number(_NUMBERS["u32"])) for _ in range(head[1])]
        return Form("S-" + "-".join(parts))


def read_one(reader, kind):
    """One value of a type."""
    if isinstance(kind, list):
        return read_fields(reader, kind)
    if kind == "p":
        return reader.number(reader.pointer)
    if kind in _NUMBERS:
        return reader.number(_NUMBERS[kind])
    if kind == "ft":
        return Form(f"filetime {reader.number(_NUMBERS['u64'])}")
    return {"w": reader.wide, "a": reader.narrow, "sid": reader.sid,
            "g": lambda: Form(guid_text(reader.take(16))),
            "ip4": lambda: Form(str(ipaddress.IPv4Address(reader.take(4)))),
            "ip6": lambda: Form(str(ipaddress.IPv6Address(reader.take(16)))),
            "port": lambda: int.from_bytes(reader.take(2), "big")}[kind]()


def read_field(reader, field, known):
    """The value of a field, which may be an array."""
    if field.count is None:
        return read_one(reader, field.type)
    if field.count == "":
        values = []
        while reader.left:
            values.append(read_one(reader, field.type))
        return values
    count = int(field.count) if field.count.isdigit() else known[field.count]
    if count > ELEMENTS_MAX:
        raise PayloadError(f"{count} elements of {field.name}")
    if field.type == "w" and field.count.isdigit():
        return reader.take(2 * count).decode("utf-16-le", "replace").split("\0")[0]
    return [read_one(reader, field.type) for _ in range(count)]


def read_fields(reader, fields):
    """{name: value} of fields one behind the other."""
    values = {}
    for field in fields:
        if not field.is_optional or reader.left:
            values[field.name] = read_field(reader, field, values)
    return values


def read_payload(data, fields, pointer_bytes):
    """{name: value} of a whole payload; PayloadError when a byte is missing or left."""
    reader = Reader(data, pointer_bytes)
    values = read_fields(reader, fields)
    if reader.left:
        raise PayloadError(f"{reader.left} bytes of {len(reader.data)} are left")
    return values
