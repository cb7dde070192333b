# SPDX-License-Identifier: MIT
"""For every rule one way to break it: a valid sample file with a single thing changed.

CASES maps a rule's name to a list of (base, change): `base` names the kind of sample, `change`
takes the SampleFile and damages it. test_walker.py demands that the rule reports each, and that no
rule is without a case.
"""

import struct

from layout import MODE_APPEND, MODE_CIRCULAR, MODE_KBYTES, MODE_NO_PER_PROCESSOR_BUFFERING
from sample_file import (GUID_B, START_FT, T0, ext_item, message_event, modern_event,
                         perfinfo_event, system_event)


def data(index, **changes):
    """Override header fields of data buffer `index`."""
    return lambda sample: sample.data[index].changes.update(changes)


def header(**changes):
    """Override header fields of the header buffer."""
    return lambda sample: sample.header_buffer.changes.update(changes)


def logfile(**changes):
    """Override fields of the logfile header."""
    return lambda sample: sample.logfile.update(changes)


def event(index, *events):
    """Replace the events of data buffer `index`."""
    def change(sample):
        sample.data[index].events = list(events)
    return change


def companions(*events):
    """Replace the companions in the header buffer."""
    def change(sample):
        sample.companions = list(events)
    return change


def attributes(**values):
    """Set attributes of the sample."""
    def change(sample):
        for name, value in values.items():
            setattr(sample, name, value)
    return change


def buffer_attributes(index, **values):
    """Set attributes of data buffer `index`."""
    def change(sample):
        for name, value in values.items():
            setattr(sample.data[index], name, value)
    return change


def both(*changes):
    """Several changes that make one violation together."""
    def change(sample):
        for one in changes:
            one(sample)
    return change


def with_item(item):
    """Data buffer 1 with one event that carries `item` (bytes of items)."""
    return event(1, modern_event(T0 + 30, b"p", item))


PARTITION = system_event(0x0050, T0, bytes(48))
BUILD_LAB = perfinfo_event(0x0042, T0, b"lab\0")
SHORT = system_event(0x0301, T0 + 30, b"")

CASES = {
    # rules_buffer.py
    "stride_equals_buffer_size": [("session", data(1, buffer_bytes=0x800))],
    "compressed_file_header_stride": [("compressed", header(buffer_bytes=0x600))],
    "offset_in_bounds": [("session", data(1, offset=0x1008)), ("session", data(1, offset=0x40)),
                         ("compressed", data(1, offset=0x1008))],
    "offset_is_multiple_of_8": [("session", data(1, offset=lambda one: one.offset - 4))],
    "body_decodes": [
        ("session", event(1, b"\1\0\x99\xC0" + bytes(28))),
        ("session", event(1, SHORT[:4] + b"\xFF\xFF" + SHORT[6:])),
        ("compressed", data(1, offset=lambda one: one.offset + 64)),
        ("session", with_item(ext_item(1, GUID_B, item_bytes=8 + 16)[:8].replace(
            b"\x18", b"\xF8", 1) + GUID_B))],
    "offset_ends_events": [("session", data(1, offset=lambda one: one.offset + 8))],
    "compressed_stream_used_up": [("compressed", buffer_attributes(1, stream_rest=b"12345678"))],
    "compressed_flag_fits_file": [("compressed", logfile(mode=0x10001)),
                                  ("compressed", logfile(os=(10, 0, 1, 5)))],
    "header_type_at_start_only": [("session", data(1, type=4))],
    "buffer_type_is_known": [("session", data(1, type=8))],
    "buffer_type_is_generic": [("session", data(1, type=2))],
    "flags_are_known": [("session", data(1, flags=0x120))],
    "processor_index_flag": [("session", data(0, flags=0)), ("windows7", data(0, flags=0x20)),
                             ("relogged", header(flags=0x21))],
    "alignment_is_8": [("windows7", data(1, processor_word=0x0401))],
    "header_buffer_has_flush_marker": [("session", header(flags=0x20))],
    "flush_marker_means_flushed": [("session", data(0, flags=0x21))],
    "reference_count_is_0": [("session", data(1, reference_count=1))],
    "state_is_flush": [("session", data(1, state=2)), ("relogged", header(state=3))],
    "saved_offset_of_data": [("session", data(1, saved_offset=0x48))],
    "saved_offset_of_header": [("session", header(saved_offset=0x50)),
                               ("windows7", header(saved_offset=0x1F0)),
                               ("relogged", header(saved_offset=0))],
    "current_offset_of_header": [("session", header(current_offset=0)),
                                 ("relogged", header(current_offset=0x200))],
    "current_offset_of_data": [("session", data(0, current_offset=0)),
                               ("session", data(0, current_offset=lambda one: one.offset + 8)),
                               ("session", data(0, current_offset=0x1004))],
    "processor_in_range": [("session", data(1, processor_word=2)),
                           ("session", logfile(mode=1 | MODE_NO_PER_PROCESSOR_BUFFERING))],
    "tail_is_filled": [("session", buffer_attributes(1, tail=b"\0"))],
    "data_buffer_has_events": [("session", event(1))],
    "loss_flags_on_data_only": [("session", header(flags=0x23))],
    "control_buffers_are_plain": [("compressed", data(1, type=6))],
    # rules_event.py
    "header_event_is_first_only": [("session", event(1, system_event(0, T0 + 30, b"")))],
    "event_flags_on_disk": [("session", event(1, modern_event(T0 + 30, b"", flags=0x40))),
                            ("session", event(1, modern_event(T0 + 30, b"", prop=1)))],
    "version_high_byte": [("session", event(1, system_event(0x301, T0 + 30, b"", version=0x102))),
                          ("session", event(1, perfinfo_event(0xF2E, T0, b"", version=0x802)))],
    "ext_item_size": [("session", with_item(ext_item(1, GUID_B, item_bytes=32)))],
    "ext_link_word": [("session", with_item(ext_item(1, GUID_B, has_next=2)))],
    "ext_type_is_known": [("session", with_item(ext_item(0x13, GUID_B)))],
    "ext_data_shape": [("session", with_item(ext_item(1, b"short"))),
                       ("session", with_item(ext_item(6, bytes(12)))),
                       ("session", with_item(ext_item(0x0B, b"\x09\0abc")))],
    "ext_padding_is_zero": [("session", with_item(ext_item(0x0B, b"\x05\0abc", pad=b"\1")))],
    "ext_item_order": [("session", with_item(ext_item(0x0B, b"\x02\0", has_next=1)
                                             + ext_item(0x0C, b"\x03\0\0")))],
    "message_options": [
        ("session", event(1, message_event(0x06, bytes(4)))),
        ("session", event(1, message_event(0x08, struct.pack("<q", T0 + 30), reserved=1)))],
    # rules_logfile.py
    "header_event_size": [("session", attributes(names=b"a\0\0\0b\0\0\0tail")),
                          ("session", attributes(names=b"a\0\0\0b\0"))],
    "header_event_version": [("session", attributes(header_version=1))],
    "companions_are_group_0": [("session", companions(PARTITION, SHORT))],
    "companion_order": [("session", companions(BUILD_LAB, PARTITION)),
                        ("session", companions(PARTITION, PARTITION)),
                        ("session", companions(PARTITION, perfinfo_event(0x0008, T0, b"")))],
    "companion_header_type": [("session", companions(perfinfo_event(0x0050, T0, bytes(48))))],
    "companion_time_and_version": [
        ("session", companions(system_event(0x0050, T0 + 1, bytes(48)))),
        ("session", companions(system_event(0x0050, T0, bytes(48), version=1)))],
    "companion_thread": [("session", companions(system_event(0x0050, T0, bytes(48), tid=1)))],
    "companion_payload": [
        ("session", companions(system_event(0x0050, T0, bytes(40)))),
        ("session", companions(system_event(0x0005, T0, bytes(32)), PARTITION)),
        ("session", companions(PARTITION, perfinfo_event(0x0052, T0, b"\2" + bytes(15)))),
        ("session", companions(PARTITION, perfinfo_event(0x0042, T0, b"lab"))),
        ("session", companions(PARTITION, perfinfo_event(0x0040, T0, bytes(12))))],
    "partition_companion": [("session", companions()), ("windows7", companions(PARTITION))],
    "buffers_written": [("session", logfile(written=1)),
                        ("session", logfile(mode=MODE_CIRCULAR | MODE_KBYTES, maximum=20,
                                            written=9))],
    "circular_wrap_place": [("session", logfile(mode=MODE_CIRCULAR | MODE_KBYTES, maximum=16,
                                                written=9))],
    "file_is_closed": [("session", logfile(end_time=0))],
    "times_in_order": [("session", logfile(end_time=START_FT - 1)),
                       ("session", logfile(boot=START_FT + 1))],
    "pointer_size": [("session", logfile(pointer=4)), ("session", attributes(header_type=1))],
    "start_buffers": [("session", logfile(start_buffers=0))],
    "clock_type": [("session", logfile(clock=0)), ("session", logfile(clock=4))],
    "clock_is_usable": [("session", logfile(clock=2)),
                        ("session", both(logfile(clock=2, freq=0, start=T0, boot=1),
                                         attributes(header_ts=T0)))],
    "layout_version": [("session", logfile(os=(10, 0, 1, 4))),
                       ("session", logfile(os=(10, 0, 2, 0))),
                       ("session", logfile(processors=257))],
    "mode_bits": [("session", logfile(mode=0x101))],
    "processor_count": [("session", logfile(processors=0)),
                        ("session", logfile(mode=1 | MODE_NO_PER_PROCESSOR_BUFFERING))],
    "name_pointers_are_enums": [("session", logfile(pointers=(0xFFFFF80000001000, 6)))],
    "buffer_size_in_kib": [("compressed", logfile(buffer_bytes=0x1001))],
    # rules_order.py
    "buffers_fill_the_file": [("session", attributes(trailer=bytes(0x100))),
                              ("session", attributes(trailer=b"\1")),
                              ("session", attributes(trailer=b"\0\x20" + bytes(0x100)))],
    "file_size_is_multiple": [("session", attributes(trailer=bytes(0x10)))],
    "header_sequence_is_0": [("session", header(sequence=1)), ("session", data(1, sequence=0))],
    "sequence_per_processor": [
        ("session", data(2, sequence=1)),
        ("session", both(logfile(mode=1 | MODE_APPEND), data(2, sequence=0)))],
    "sequence_is_unique": [("session", data(1, sequence=3))],
    "buffer_times_ascend": [("session", data(2, timestamp=T0 + 200))],
    "events_precede_flush": [("session", data(1, timestamp=T0 + 39))],
    "event_order_in_buffer": [("session", event(1, modern_event(T0 + 40, b""),
                                                modern_event(T0 + 39, b"")))],
    "event_order_per_processor": [("session", event(2, modern_event(T0 + 19, b"")))],
    "header_buffer_time": [("session", header(timestamp=T0)),
                           ("vista", header(timestamp=T0 - 1))],
    "last_buffer_is_flagged": [("session", data(2, flags=0x20)),
                               ("session", both(logfile(mode=MODE_CIRCULAR), data(2, flags=0x20)))],
    "logger_id": [("session", data(1, logger_id=8)), ("relogged", data(1, logger_id=8))],
    "relogger_times_are_filetimes": [("relogged", data(0, timestamp=T0))],
    # rules_strict.py
    "session_is_modern": [("windows7", logfile()), ("relogged", logfile())],
    "strict_header_buffer": [("session", header(current_offset=0x48)),
                             ("session", header(flags=0x20))],
    "strict_data_buffer": [("session", data(1, type=5)), ("session", data(0, timestamp=0)),
                           ("session", data(1, flags=0))],
    "strict_unions_are_zero": [("session", data(1, union_20=1)),
                               ("session", data(1, union_38=b"\1" + bytes(15)))],
    "strict_pads_are_zero": [("session", buffer_attributes(1, pad=b"\x20"))],
    "strict_partition_companion": [("session", companions()),
                                   ("session", companions(BUILD_LAB, PARTITION))],
}
