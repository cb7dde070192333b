# SPDX-License-Identifier: MIT
"""Event headers of every type that docs/format/etl.md names, and their JSON form.

An event becomes one JSON object with these keys, in this order:

    buf off ht size cpu ts filetime   buffer index, offset behind the buffer header, header type,
                                      stored Size, processor, raw time, FILETIME
    ...                               the fields of the header type, see the parsers
    ext                               [[type, data bytes, SHA-1 of the data], ...] when present
    ulen sha1 hex                     payload length, its SHA-1, and its hex when ulen <= 64

PERFINFO events carry no pid and tid, and `pebs` / `pmc` only when the version word announces
them. COMPACT is SYSTEM without kt and ut. INSTANCE is FULL plus `inst`, `pinst`, `pguid`, always
in the 0x48-byte form: the shorter one belongs to layouts older than 1.3, which are not read.
MESSAGE has `num`, `opt` and, each when its option bit is set, `seq`, `comp`, `guid`, `pid`, `tid`.
A MESSAGE without a time takes the time of the event before it in the buffer, null at its start.
"""

import struct
from hashlib import sha1

from layout import guid_text, round_up8

HEX_LIMIT_BYTES = 64
END_MARKER = 0xFFFFFFFF

_SYSTEM = struct.Struct("<H2xHBBIIqII")
_COMPACT = struct.Struct("<H2xHBBIIq")
_PERFINFO = struct.Struct("<H2xHBBq")
_FULL = struct.Struct("<H2xBBHIIq16sII")
_INSTANCE_TAIL = struct.Struct("<II16s")
_EVENT = struct.Struct("<H2xHHIIq16sHBBBBHQII16s")
_MESSAGE = struct.Struct("<H2xHH")
_EXT_ITEM = struct.Struct("<HHHH")
_U32 = struct.Struct("<I")
_U32X2 = struct.Struct("<II")
_I64 = struct.Struct("<q")
_U64 = struct.Struct("<Q")

VERSION_PEBS = 0x8000
VERSION_PMC_SHIFT = 8
EVENT_EXTENDED_INFO = 0x0001

MESSAGE_SEQUENCE = 0x0001
MESSAGE_GUID = 0x0002
MESSAGE_COMPONENTID = 0x0004
MESSAGE_TIMESTAMP = 0x0008
MESSAGE_PERFORMANCE_TIMESTAMP = 0x0010
MESSAGE_SYSTEMINFO = 0x0020

_guid_cache = {}


class FramingError(ValueError):
    """The bytes at `pos` (behind the buffer header) are no event; the walk of the buffer ends."""

    def __init__(self, pos, reason):
        super().__init__(reason)
        self.pos = pos
        self.reason = reason


class ExtItem:
    """One extended data item on disk."""

    __slots__ = ("pos", "item_bytes", "type", "link_word", "data_bytes")

    def __init__(self, pos, item_bytes, ext_type, link_word, data_bytes):
        self.pos = pos
        self.item_bytes = item_bytes
        self.type = ext_type
        self.link_word = link_word
        self.data_bytes = data_bytes


class Event:
    """One parsed event: where it is, its time, its fields in JSON order, its items and payload."""

    __slots__ = ("kind", "pos", "size", "ts", "fields", "ext", "payload_pos")

    def __init__(self, kind, size, ts, fields, payload_bytes_in, ext=()):
        self.kind = kind
        self.pos = 0
        self.size = size
        self.ts = ts
        self.fields = fields
        self.ext = ext
        self.payload_pos = payload_bytes_in     # relative to pos until walk_events() places it

    @property
    def hook(self):
        """Group << 8 | Type, or None for events that carry a GUID."""
        group = self.fields.get("group")
        return None if group is None else group << 8 | self.fields["op"]


def _guid(raw):
    text = _guid_cache.get(raw)
    if text is None:
        if len(_guid_cache) > 100_000:
            _guid_cache.clear()
        text = _guid_cache[raw] = guid_text(raw)
    return text


def _need(size, header_bytes, kind):
    if size < header_bytes:
        raise FramingError(0, f"{kind} event of {size:#x} bytes is shorter than its header")


def parse_system(kind, body, at):
    """SYSTEM32/64."""
    version, size, opcode, group, tid, pid, ts, kernel, user = _SYSTEM.unpack_from(body, at)
    _need(size, 0x20, kind)
    fields = {"pid": pid, "tid": tid, "group": group, "ver": version & 0xFF, "op": opcode,
              "kt": kernel, "ut": user}
    return Event(kind, size, ts, fields, 0x20)


def parse_compact(kind, body, at):
    """COMPACT32/64: the first 0x18 bytes of SYSTEM."""
    version, size, opcode, group, tid, pid, ts = _COMPACT.unpack_from(body, at)
    _need(size, 0x18, kind)
    fields = {"pid": pid, "tid": tid, "group": group, "ver": version & 0xFF, "op": opcode}
    return Event(kind, size, ts, fields, 0x18)


def parse_perfinfo(kind, body, at):
    """PERFINFO32/64 with the optional PEBS and PMC words."""
    version, size, opcode, group, ts = _PERFINFO.unpack_from(body, at)
    _need(size, 0x10, kind)
    fields = {"group": group, "ver": version & 0xFF, "op": opcode}
    payload = 0x10
    if version & 0x8700:
        counters = version >> VERSION_PMC_SHIFT & 7
        has_pebs = bool(version & VERSION_PEBS)
        _need(size, 0x10 + 8 * (counters + has_pebs), kind)
        if has_pebs:
            fields["pebs"] = _U64.unpack_from(body, at + payload)[0]
            payload += 8
        if counters:
            fields["pmc"] = [_U64.unpack_from(body, at + payload + 8 * i)[0]
                             for i in range(counters)]
            payload += 8 * counters
    return Event(kind, size, ts, fields, payload)


def parse_full(kind, body, at):
    """FULL_HEADER32/64."""
    size, opcode, level, version, tid, pid, ts, guid, kernel, user = _FULL.unpack_from(body, at)
    _need(size, 0x30, kind)
    fields = {"pid": pid, "tid": tid, "guid": _guid(guid), "ver": version, "level": level,
              "op": opcode, "kt": kernel, "ut": user}
    return Event(kind, size, ts, fields, 0x30)


def parse_instance(kind, body, at):
    """INSTANCE32/64 in the form that files contain."""
    size = body[at] | body[at + 1] << 8
    _need(size, 0x48, kind)
    event = parse_full(kind, body, at)
    instance, parent, parent_guid = _INSTANCE_TAIL.unpack_from(body, at + 0x30)
    event.fields.update(inst=instance, pinst=parent, pguid=_guid(parent_guid))
    event.payload_pos = 0x48
    return event


def parse_modern(kind, body, at):
    """EVENT_HEADER32/64 with its extended items."""
    (size, flags, prop, tid, pid, ts, guid, event_id, version, channel, level, opcode, task,
     keyword, _kernel, _user, activity) = _EVENT.unpack_from(body, at)
    _need(size, 0x50, kind)
    fields = {"pid": pid, "tid": tid, "guid": _guid(guid), "id": event_id, "ver": version,
              "chan": channel, "level": level, "op": opcode, "task": task, "kw": keyword,
              "flags": flags, "prop": prop, "activity": _guid(activity)}
    if not flags & EVENT_EXTENDED_INFO:
        return Event(kind, size, ts, fields, 0x50)
    ext = []
    pos = 0x50
    more = True
    while more:
        if pos + 8 > size or at + pos + 8 > len(body):
            raise FramingError(0, f"extended item header at +{pos:#x} passes the event's end")
        item_bytes, ext_type, link, data_bytes = _EXT_ITEM.unpack_from(body, at + pos)
        if item_bytes < 8 + data_bytes or pos + item_bytes > size:
            raise FramingError(0, f"extended item at +{pos:#x} (Size {item_bytes:#x}, DataSize "
                                  f"{data_bytes:#x}) does not fit the event of {size:#x} bytes")
        ext.append(ExtItem(at + pos, item_bytes, ext_type, link, data_bytes))
        pos += item_bytes
        more = link & 1
    return Event(kind, size, ts, fields, pos, ext)


def parse_message(kind, body, at):
    """MESSAGE (WPP): option words in their fixed order, then the arguments."""
    size, number, options = _MESSAGE.unpack_from(body, at)
    _need(size, 8, kind)
    fields = {"num": number, "opt": options}
    pos = 8
    ts = None
    if options & MESSAGE_SEQUENCE:
        _need(size, pos + 4, kind)
        fields["seq"] = _U32.unpack_from(body, at + pos)[0]
        pos += 4
    if options & MESSAGE_COMPONENTID:
        _need(size, pos + 4, kind)
        fields["comp"] = _U32.unpack_from(body, at + pos)[0]
        pos += 4
    elif options & MESSAGE_GUID:
        _need(size, pos + 16, kind)
        fields["guid"] = _guid(bytes(body[at + pos:at + pos + 16]))
        pos += 16
    if options & (MESSAGE_TIMESTAMP | MESSAGE_PERFORMANCE_TIMESTAMP):
        _need(size, pos + 8, kind)
        ts = _I64.unpack_from(body, at + pos)[0]
        pos += 8
    if options & MESSAGE_SYSTEMINFO:
        _need(size, pos + 8, kind)
        fields["tid"], fields["pid"] = _U32X2.unpack_from(body, at + pos)
        pos += 8
    return Event(kind, size, ts, fields, pos)


# HeaderType -> (name, parser, least bytes that the parser reads).
HEADER_TYPES = {
    0x01: ("SYSTEM32", parse_system, 0x20), 0x02: ("SYSTEM64", parse_system, 0x20),
    0x03: ("COMPACT32", parse_compact, 0x18), 0x04: ("COMPACT64", parse_compact, 0x18),
    0x0A: ("FULL32", parse_full, 0x30), 0x14: ("FULL64", parse_full, 0x30),
    0x0B: ("INSTANCE32", parse_instance, 0x48), 0x15: ("INSTANCE64", parse_instance, 0x48),
    0x10: ("PERF32", parse_perfinfo, 0x10), 0x11: ("PERF64", parse_perfinfo, 0x10),
    0x12: ("EVENT32", parse_modern, 0x50), 0x13: ("EVENT64", parse_modern, 0x50),
}
_MESSAGE_TYPE = ("MESSAGE", parse_message, 8)
_SIZE_AT_4 = frozenset((0x01, 0x02, 0x03, 0x04, 0x10, 0x11))


def _recognise(body, pos):
    """(name, parser, least bytes) and the size field's offset, from the first dword."""
    flag_byte = body[pos + 3]
    if flag_byte == 0x90:
        return _MESSAGE_TYPE, 0
    if flag_byte != 0xC0:
        marker = _U32.unpack_from(body, pos)[0]
        raise FramingError(pos, f"marker {marker:#010x} starts no known record")
    header_type = body[pos + 2]
    found = HEADER_TYPES.get(header_type)
    if found is None:
        raise FramingError(pos, f"header type {header_type:#04x} is unknown")
    return found, 4 if header_type in _SIZE_AT_4 else 0


def walk_events(body):
    """Yield the events of one buffer body; raise FramingError where the walk must stop early.

    `body` is what lies between the buffer header and Offset, decompressed. A marker of all ones
    where an event should start ends the buffer.
    """
    pos = 0
    limit = len(body)
    last_ts = None
    while pos < limit:
        left = limit - pos
        if left < 8:
            if body[pos:pos + 4] == b"\xff\xff\xff\xff":
                return
            raise FramingError(pos, f"{left} bytes before the end are too few for an event")
        if body[pos + 3] == 0xFF and _U32.unpack_from(body, pos)[0] == END_MARKER:
            return
        (kind, parser, least_bytes), size_at = _recognise(body, pos)
        size = body[pos + size_at] | body[pos + size_at + 1] << 8
        if size > left:
            raise FramingError(pos, f"{kind} event of {size:#x} bytes, {left:#x} are left")
        if size < least_bytes:
            raise FramingError(pos, f"{kind} event of {size:#x} bytes is shorter than its header")
        try:
            event = parser(kind, body, pos)
        except FramingError as error:
            error.pos = pos
            raise
        event.pos = pos
        event.payload_pos += pos
        if event.ts is None:
            event.ts = last_ts
        last_ts = event.ts
        yield event
        pos += round_up8(size)


def event_json(event, body, buffer_index, cpu, to_filetime):
    """The event as a JSON-ready dict, keys in the order of the module's head."""
    ts = event.ts
    out = {"buf": buffer_index, "off": event.pos, "ht": event.kind, "size": event.size, "cpu": cpu,
           "ts": ts, "filetime": None if ts is None else to_filetime(ts)}
    out.update(event.fields)
    if event.ext:
        out["ext"] = [[item.type, item.data_bytes,
                       sha1(body[item.pos + 8:item.pos + 8 + item.data_bytes]).hexdigest()]
                      for item in event.ext]
    payload = body[event.payload_pos:event.pos + event.size]
    out["ulen"] = len(payload)
    out["sha1"] = sha1(payload).hexdigest()
    if len(payload) <= HEX_LIMIT_BYTES:
        out["hex"] = payload.hex()
    return out
