# SPDX-License-Identifier: MIT
"""Events that describe themselves: TraceLogging, whose extended item has the names and the types.

Written from the published layout of that metadata: a size, tags, the event's name, then of each
field its name, its type with bits for arrays, and what it is shown as.
"""

import struct

from layout import guid_text
from payload import Form, PayloadError, Reader


class UnreadType(Exception):
    """A field has a type that no event of a kernel session has; it is not read here."""


EXT_SCHEMA = 11
IN_COUNTED, IN_CONSTANT, IN_CUSTOM, IN_OUT = 0x40, 0x20, 0x60, 0x80
IN_TYPE = 0x1F
IN_BOOLEAN = 13
IN_STRUCT = 24
OUT_BOOLEAN = 3

_NUMBERS = {3: "<b", 4: "<B", 5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q", 13: "<i",
            20: "<I", 21: "<Q"}
_NUMBERS = {kind: struct.Struct(form) for kind, form in _NUMBERS.items()}
_U16 = _NUMBERS[6]


class Member:
    """A field: type, how often, and the members of a struct."""

    __slots__ = ("name", "kind", "out", "is_counted", "constant", "members")


def _skip_tags(reader):
    while reader.take(1)[0] & 0x80:
        pass


def _read_member(reader):
    member = Member()
    member.name = reader.narrow().decode()
    kind = reader.take(1)[0]
    out = reader.take(1)[0] if kind & IN_OUT else 0
    if out & 0x80:
        _skip_tags(reader)
    how = kind & IN_CUSTOM
    if how == IN_CUSTOM:
        raise UnreadType(member.name)
    member.kind = kind & IN_TYPE
    member.out = out & 0x7F
    member.is_counted = how == IN_COUNTED
    member.constant = reader.number(_U16) if how == IN_CONSTANT else None
    member.members = []
    if member.kind == IN_STRUCT:
        member.members = [_read_member(reader) for _ in range(member.out)]
    return member


def read_schema(item):
    """(the event's name, its fields) of the extended item's data."""
    reader = Reader(item, 8)
    if reader.number(_U16) != len(item):
        raise PayloadError("the size in the event's metadata is not the item's")
    _skip_tags(reader)
    name = reader.narrow().decode()
    members = []
    while reader.left:
        members.append(_read_member(reader))
    return name, members


def _read_one(reader, member):
    kind = member.kind
    if kind == IN_STRUCT:
        return _read_members(reader, member.members)
    if kind in _NUMBERS:
        number = reader.number(_NUMBERS[kind])
        return bool(number) if member.out == OUT_BOOLEAN or kind == IN_BOOLEAN else number
    if kind == 1:
        return reader.wide()
    if kind == 2:
        return reader.narrow()
    if kind == 15:
        return Form(guid_text(reader.take(16)))
    if kind == 22:
        return reader.take(reader.number(_U16)).decode("utf-16-le", "replace")
    if kind == 23:
        return reader.take(reader.number(_U16))
    raise UnreadType(member.name)


def _read_members(reader, members):
    values = {}
    for member in members:
        count = reader.number(_U16) if member.is_counted else member.constant
        if member.is_counted:
            values[member.name + ".Count"] = count
        values[member.name] = (_read_one(reader, member) if count is None else
                               [_read_one(reader, member) for _ in range(count)])
    return values


def read_self_described(item, data):
    """(name, {field: value}) of an event; PayloadError when a byte is missing or left.

    The count of an array is a field of its own, "<name>.Count", as TDH shows it.
    """
    name, members = read_schema(item)
    reader = Reader(data, 8)
    values = _read_members(reader, members)
    if reader.left:
        raise PayloadError(f"{reader.left} bytes of {len(reader.data)} are left")
    return name, values
