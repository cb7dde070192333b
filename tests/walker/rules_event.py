# SPDX-License-Identifier: MIT
"""Rules about single events: header flags, extended items, and where header events may be."""

from events import EVENT_EXTENDED_INFO, MESSAGE_COMPONENTID, MESSAGE_GUID
from layout import round_up8
from rulebook import rule

EXT_TYPE_COUNT = 0x13
EXT_STACK32, EXT_STACK64 = 0x05, 0x06
EXT_SCHEMA_TL, EXT_PROV_TRAITS = 0x0B, 0x0C
OBSERVED_ORDER = {0x01: 0, EXT_STACK32: 1, EXT_STACK64: 1, EXT_PROV_TRAITS: 2, EXT_SCHEMA_TL: 3}
FIXED_DATA_BYTES = {0x01: 16, 0x03: 4, 0x04: 24, 0x0A: 8, 0x0D: 8, 0x0E: 16, 0x0F: 8, 0x10: 16,
                    0x11: 16, 0x12: 16}
SYSTEM_KINDS = ("SYSTEM32", "SYSTEM64", "COMPACT32", "COMPACT64")


@rule("buffer", "must", "The header event")
def header_event_is_first_only(_context, buffer):
    """Hook 0000 once, as the first event of the file, append segments included."""
    for event in buffer.events:
        if event.hook == 0 and not (buffer.index == 0 and event.pos == 0):
            yield buffer.find_event(event, "header event 0000 in the midst of the file")


@rule("buffer", "writer", "Event headers")
def event_flags_on_disk(_context, buffer):
    """Flags of EVENT headers are 0 or EXTENDED_INFO on disk, EventProperty is 0."""
    for event in buffer.events:
        fields = event.fields
        if "prop" not in fields:
            continue
        if fields["flags"] & ~EVENT_EXTENDED_INFO:
            yield buffer.find_event(event, f"Flags {fields['flags']:#x}")
        if fields["prop"]:
            yield buffer.find_event(event, f"EventProperty {fields['prop']:#x}")


@rule("buffer", "writer", "Event headers")
def version_high_byte(_context, buffer):
    """Only PERFINFO uses the version word's high byte, and there only bits 0x8700."""
    body = buffer.body
    for event in buffer.events:
        if "group" not in event.fields:
            continue
        high = body[event.pos + 1]
        if high and (event.kind in SYSTEM_KINDS or high & ~0x87):
            yield buffer.find_event(event, f"version word has the high byte {high:#04x}")


@rule("buffer", "must", "Extended items")
def ext_item_size(_context, buffer):
    """An item's Size is 8 + DataSize rounded up to 8."""
    for event in buffer.events:
        for item in event.ext:
            if item.item_bytes != round_up8(8 + item.data_bytes):
                yield buffer.find_event(event, f"extended item +{item.pos - event.pos:#x}: Size "
                                               f"{item.item_bytes} for DataSize "
                                               f"{item.data_bytes}")


@rule("buffer", "must", "Extended items")
def ext_link_word(_context, buffer):
    """Only bit 0 of the linkage word is used."""
    for event in buffer.events:
        for item in event.ext:
            if item.link_word & ~1:
                yield buffer.find_event(event, f"extended item +{item.pos - event.pos:#x}: "
                                               f"linkage word {item.link_word:#x}")


@rule("buffer", "must", "Extended items")
def ext_type_is_known(_context, buffer):
    """ExtType is one of 1 to 0x12."""
    for event in buffer.events:
        for item in event.ext:
            if not 0 < item.type < EXT_TYPE_COUNT:
                yield buffer.find_event(event, f"extended item +{item.pos - event.pos:#x}: type "
                                               f"{item.type:#x}")


def _data_problem(item, data):
    """What is wrong with the data of one item, or None."""
    want = FIXED_DATA_BYTES.get(item.type)
    if want is not None and len(data) != want:
        return f"{len(data)} data bytes, not {want}"
    if item.type in (EXT_STACK32, EXT_STACK64):
        address_bytes = 4 if item.type == EXT_STACK32 else 8
        if len(data) < 8 or (len(data) - 8) % address_bytes:
            return f"{len(data)} data bytes are no MatchId and {address_bytes}-byte addresses"
    if item.type in (EXT_SCHEMA_TL, EXT_PROV_TRAITS):
        if len(data) < 2 or int.from_bytes(data[:2], "little") != len(data):
            return f"its own size word differs from its {len(data)} bytes"
    return None


@rule("buffer", "must", "Extended items")
def ext_data_shape(_context, buffer):
    """Data sizes by type; blobs 0B and 0C begin with their own total size."""
    for event in buffer.events:
        for item in event.ext:
            data = buffer.body[item.pos + 8:item.pos + 8 + item.data_bytes]
            problem = _data_problem(item, data)
            if problem:
                yield buffer.find_event(event, f"extended item +{item.pos - event.pos:#x} type "
                                               f"{item.type:#x}: {problem}")


@rule("buffer", "writer", "Extended items")
def ext_padding_is_zero(_context, buffer):
    """The bytes behind an item's data up to its Size are zero."""
    for event in buffer.events:
        for item in event.ext:
            pad = buffer.body[item.pos + 8 + item.data_bytes:item.pos + item.item_bytes]
            if any(pad):
                yield buffer.find_event(event, f"extended item +{item.pos - event.pos:#x}: "
                                               f"padding {bytes(pad).hex()}")


@rule("buffer", "writer", "Extended items")
def ext_item_order(_context, buffer):
    """The types 1, 5 or 6, 0C, 0B stand in this order; places of others are unknown."""
    for event in buffer.events:
        if len(event.ext) > 1:
            types = [item.type for item in event.ext if item.type in OBSERVED_ORDER]
            ranks = [OBSERVED_ORDER[ext_type] for ext_type in types]
            if ranks != sorted(ranks):
                yield buffer.find_event(event, f"item types {types} out of order")


@rule("buffer", "writer", "Event headers")
def message_options(_context, buffer):
    """The byte at +2 is 0; GUID and COMPONENTID are not set together."""
    for event in buffer.events:
        if event.kind != "MESSAGE":
            continue
        if buffer.body[event.pos + 2]:
            yield buffer.find_event(event, f"reserved byte {buffer.body[event.pos + 2]:#04x}")
        both = MESSAGE_GUID | MESSAGE_COMPONENTID
        if event.fields["opt"] & both == both:
            yield buffer.find_event(event, "GUID and COMPONENTID together")
