# SPDX-License-Identifier: MIT
"""Decoder of raw plain-LZ77 XPRESS streams, the body of compressed buffers (docs/format/etl.md).

The stream has no length of its own: decoding stops when the wanted number of bytes is out.
Malformed input raises XpressError; nothing is ever read or copied out of bounds.
"""

import struct

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
ALL_ONES = b"\xff\xff\xff\xff"


class XpressError(ValueError):
    """The stream breaks the format; the text says where and how."""


def decompress(source, want_bytes):
    """(decompressed bytes, count of source bytes used up). Exactly `want_bytes` come out."""
    source = bytes(source)
    source_bytes = len(source)
    out = bytearray()
    at = 0
    nibble_at = -1                      # byte whose high nibble is still free, or -1
    while len(out) < want_bytes:
        if at + 4 > source_bytes:
            raise XpressError(f"no room for a flag word at {at:#x}, {len(out)} bytes are out")
        flags = _U32.unpack_from(source, at)[0]
        at += 4
        bits_left = 32
        while bits_left:
            run = bits_left - flags.bit_length()
            if run:                     # literals up to the next match
                run = min(run, want_bytes - len(out))
                if at + run > source_bytes:
                    raise XpressError(f"literal run ends behind the stream at {at:#x}")
                out += source[at:at + run]
                at += run
                bits_left -= run
                if len(out) >= want_bytes or not bits_left:
                    break
            bits_left -= 1
            flags &= (1 << bits_left) - 1
            match_at = at
            if at + 2 > source_bytes:
                raise XpressError(f"match word ends behind the stream at {at:#x}")
            word = _U16.unpack_from(source, at)[0]
            at += 2
            distance = (word >> 3) + 1
            length = word & 7
            if length == 7:
                length, at, nibble_at = _long_length(source, at, nibble_at)
            length += 3
            have = len(out)
            if distance > have:
                raise XpressError(f"match at {match_at:#x} reaches {distance} back, {have} are out")
            if have + length > want_bytes:
                raise XpressError(f"match at {match_at:#x} of {length} bytes passes the end")
            start = have - distance
            if distance >= length:
                out += out[start:start + length]
            else:
                piece = bytes(out[start:])
                out += (piece * (length // distance + 1))[:length]
            if len(out) >= want_bytes:
                break
    return bytes(out), at


def _long_length(source, at, nibble_at):
    """(length - 3, next offset, free nibble byte) of a match whose three bits are all ones."""
    try:
        if nibble_at < 0:
            nibble_at = at
            length = source[at] & 15
            at += 1
        else:
            length = source[nibble_at] >> 4
            nibble_at = -1
        if length < 15:
            return length + 7, at, nibble_at
        length = source[at]
        at += 1
        if length < 255:
            return length + 22, at, nibble_at
        length = _U16.unpack_from(source, at)[0]
        at += 2
        if length == 0:
            length = _U32.unpack_from(source, at)[0]
            at += 4
        if length < 22:
            raise XpressError(f"long match length {length} at {at:#x} is below its minimum 22")
        return length, at, nibble_at
    except (IndexError, struct.error):
        raise XpressError(f"match length ends behind the stream at {at:#x}") from None


def compress_literally(data):
    """A literal-only stream of `data`, the simplest valid encoder (a shortcut for writers)."""
    out = bytearray()
    for at in range(0, len(data), 32):
        piece = data[at:at + 32]
        out += _U32.pack((1 << (32 - len(piece))) - 1)
        out += piece
    if len(data) % 32 == 0:
        out += ALL_ONES
    return bytes(out)
