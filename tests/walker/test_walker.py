#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unit tests of the walker's pieces, on hand-made bytes only."""

import contextlib
import io
import json
import os
import pathlib
import re
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare_streams
import etl_walk
from events import FramingError, walk_events
from layout import BufferHeader, pack_buffer_header, parse_buffer_header
from rule_cases import CASES
from rulebook import ALL_RULES, check_trace
from sample_file import (BUFFER_BYTES, GUID_A, GUID_B, START_FT, T0, SampleFile, compact_event,
                         ext_item, full_event, instance_event, message_event, modern_event,
                         perfinfo_event, system_event)
from tracefile import Clock, TraceFile, UnreadableFile
from xpress import XpressError, compress_literally, decompress


def make_vista(sample):
    """A Vista session: as Windows 7, layout 1.4, clock numbers of old, a raw header time."""
    sample.make_windows7()
    sample.logfile.update(os=(6, 0, 1, 4), build=6001)
    sample.header_buffer.changes["timestamp"] = T0 + 1
    return sample


BASES = {"session": lambda sample: sample, "relogged": SampleFile.make_relogged,
         "compressed": SampleFile.make_compressed, "windows7": SampleFile.make_windows7,
         "vista": make_vista}


def flag_word(bits):
    """A flag word from a text of 0 and 1, unused bits 1."""
    return struct.pack("<I", int(bits.ljust(32, "1"), 2))


def match_word(distance, low_bits):
    return struct.pack("<H", (distance - 1) << 3 | low_bits)


class XpressTest(unittest.TestCase):
    """xpress.decompress against streams assembled by hand."""

    def expect(self, stream, want, used=None):
        out, count = decompress(stream, len(want))
        self.assertEqual(out, want)
        self.assertEqual(count, len(stream) if used is None else used)

    def test_literals_only(self):
        self.expect(flag_word("000") + b"abc", b"abc")
        self.expect(b"", b"")

    def test_short_match_overlapping(self):
        self.expect(flag_word("01") + b"a" + match_word(1, 4), b"a" * 8)

    def test_short_match_not_overlapping(self):
        self.expect(flag_word("00001") + b"abcd" + match_word(4, 0), b"abcdabc")

    def test_nibble_lengths_share_a_byte(self):
        stream = flag_word("011") + b"a" + match_word(1, 7) + b"\x21" + match_word(1, 7)
        self.expect(stream, b"a" * (1 + 11 + 12))

    def test_nibble_is_kept_across_flag_words(self):
        literals = bytes(range(31))
        stream = (flag_word("0" * 31 + "1") + literals + match_word(31, 7) + b"\x50"
                  + flag_word("01") + b"z" + match_word(1, 7))
        self.expect(stream, literals + literals[:10] + b"z" * 16)

    def test_byte_length(self):
        self.expect(flag_word("01") + b"a" + match_word(1, 7) + b"\x0F\x05", b"a" * (1 + 30))

    def test_word_length(self):
        stream = flag_word("01") + b"a" + match_word(1, 7) + b"\x0F\xFF" + struct.pack("<H", 997)
        self.expect(stream, b"a" * 1001)

    def test_dword_length(self):
        stream = (flag_word("01") + b"a" + match_word(1, 7) + b"\x0F\xFF\0\0"
                  + struct.pack("<I", 69997))
        self.expect(stream, b"a" * 70001)

    def test_extra_flag_word_is_left_over(self):
        data = bytes(range(64))
        stream = compress_literally(data)
        self.expect(stream, data, used=len(stream) - 4)

    def test_literal_encoder_round_trip(self):
        for count in (0, 1, 31, 32, 33, 1000):
            data = bytes(i * 7 & 0xFF for i in range(count))
            self.assertEqual(decompress(compress_literally(data), count)[0], data)

    def test_malformed(self):
        start = flag_word("01") + b"a"
        for name, stream in {
                "no flag word": b"\0\0",
                "literals cut off": flag_word("000") + b"ab",
                "match word cut off": start + b"\0",
                "distance before the start": start + match_word(2, 0),
                "match behind the end": flag_word("01") + b"a" + match_word(1, 6) * 9,
                "nibble cut off": start + match_word(1, 7),
                "byte cut off": start + match_word(1, 7) + b"\x0F",
                "word cut off": start + match_word(1, 7) + b"\x0F\xFF\1",
                "dword cut off": start + match_word(1, 7) + b"\x0F\xFF\0\0\1",
                "long length too small": start + match_word(1, 7) + b"\x0F\xFF\x15\0"}.items():
            with self.subTest(name), self.assertRaises(XpressError):
                decompress(stream, 5)

    def test_every_truncation_fails_or_is_short(self):
        stream = (flag_word("0001011") + b"abc" + match_word(3, 2) + b"q" + match_word(1, 7)
                  + b"\x3F" + b"\x10" + match_word(8, 7))
        want = 3 + 5 + 1 + (22 + 16 + 3) + (3 + 7 + 3)
        self.assertEqual(len(decompress(stream, want)[0]), want)
        for length in range(len(stream)):
            with self.subTest(length), self.assertRaises(XpressError):
                decompress(stream[:length], want)


class EventTest(unittest.TestCase):
    """events.walk_events on one event of each header type."""

    def walk_one(self, raw):
        events = list(walk_events(raw))
        self.assertEqual(len(events), 1)
        one = events[0]
        return one, raw[one.payload_pos:one.pos + one.size]

    def test_system(self):
        for header_type, kind in ((1, "SYSTEM32"), (2, "SYSTEM64")):
            one, payload = self.walk_one(system_event(0x0301, 5, b"pay", header_type))
            self.assertEqual((one.kind, one.ts, one.hook, payload), (kind, 5, 0x0301, b"pay"))
            self.assertEqual(one.fields, {"pid": 22, "tid": 11, "group": 3, "ver": 2, "op": 1,
                                          "kt": 3, "ut": 4})

    def test_compact(self):
        for header_type, kind in ((3, "COMPACT32"), (4, "COMPACT64")):
            one, payload = self.walk_one(compact_event(0x0524, 6, b"pay", header_type))
            self.assertEqual((one.kind, one.ts, one.hook, payload), (kind, 6, 0x0524, b"pay"))
            self.assertEqual(list(one.fields), ["pid", "tid", "group", "ver", "op"])

    def test_perfinfo(self):
        for header_type, kind in ((0x10, "PERF32"), (0x11, "PERF64")):
            one, payload = self.walk_one(perfinfo_event(0x0F2E, 7, b"pay", header_type))
            self.assertEqual((one.kind, one.ts, payload), (kind, 7, b"pay"))
            self.assertEqual(one.fields, {"group": 15, "ver": 2, "op": 0x2E})

    def test_perfinfo_with_pebs_and_counters(self):
        words = struct.pack("<QQQ", 100, 200, 300)
        one, payload = self.walk_one(perfinfo_event(0x0F2F, 7, words + b"pay", version=0x8203))
        self.assertEqual((one.fields["pebs"], one.fields["pmc"]), (100, [200, 300]))
        self.assertEqual((one.fields["ver"], payload), (3, b"pay"))

    def test_full(self):
        for header_type, kind in ((0x0A, "FULL32"), (0x14, "FULL64")):
            one, payload = self.walk_one(full_event(8, b"pay", header_type))
            self.assertEqual((one.kind, one.ts, payload), (kind, 8, b"pay"))
            self.assertEqual(one.fields, {
                "pid": 22, "tid": 11, "guid": "03020100-0504-0706-0809-0a0b0c0d0e0f", "ver": 3,
                "level": 4, "op": 7, "kt": 5, "ut": 6})

    def test_instance(self):
        for header_type, kind in ((0x0B, "INSTANCE32"), (0x15, "INSTANCE64")):
            one, payload = self.walk_one(instance_event(9, b"pay", header_type))
            self.assertEqual((one.kind, one.ts, payload), (kind, 9, b"pay"))
            self.assertEqual((one.fields["inst"], one.fields["pinst"], one.fields["pguid"]),
                             (77, 88, "13121110-1514-1716-1819-1a1b1c1d1e1f"))

    def test_message_with_all_usual_options(self):
        variable = (struct.pack("<I", 5) + GUID_A + struct.pack("<q", 1234)
                    + struct.pack("<II", 11, 22))
        one, payload = self.walk_one(message_event(0x00AB, variable, b"args"))
        self.assertEqual((one.kind, one.ts, payload), ("MESSAGE", 1234, b"args"))
        self.assertEqual(one.fields, {
            "num": 10, "opt": 0xAB, "seq": 5, "guid": "03020100-0504-0706-0809-0a0b0c0d0e0f",
            "tid": 11, "pid": 22})

    def test_message_component_wins_over_guid(self):
        one, payload = self.walk_one(message_event(0x0006, struct.pack("<I", 99), b"args"))
        self.assertEqual((one.fields["comp"], payload), (99, b"args"))
        self.assertNotIn("guid", one.fields)

    def test_message_without_time_takes_the_one_before(self):
        lonely = message_event(0, b"")
        body = lonely + system_event(0x0301, 55, b"") + lonely
        self.assertEqual([one.ts for one in walk_events(body)], [None, 55, 55])

    def test_modern_with_items(self):
        items = ext_item(1, GUID_B, has_next=1) + ext_item(0x0B, b"\x05\0abc")
        one, payload = self.walk_one(modern_event(10, b"pay", items))
        self.assertEqual([(item.type, item.data_bytes) for item in one.ext], [(1, 16), (11, 5)])
        self.assertEqual((one.kind, payload), ("EVENT64", b"pay"))

    def test_alignment_and_end_marker(self):
        body = system_event(0x0301, 1, b"abc").ljust(40, b"J") + system_event(0x0302, 2, b"")
        events = list(walk_events(body + b"\xff" * 8))
        self.assertEqual([one.pos for one in events], [0, 40])

    def test_every_truncation_is_a_framing_error(self):
        items = ext_item(1, GUID_B)
        for raw in (system_event(1, 1, b""), compact_event(1, 1, b""), full_event(1, b""),
                    perfinfo_event(1, 1, bytes(8), version=0x102), instance_event(1, b""),
                    message_event(0x2B, bytes(36)), modern_event(1, b"", items)):
            for length in range(1, len(raw)):
                with self.assertRaises(FramingError):
                    list(walk_events(raw[:length]))

    def test_size_below_header_is_a_framing_error(self):
        for raw, size_at in ((system_event(1, 1, b""), 4), (compact_event(1, 1, b""), 4),
                             (perfinfo_event(1, 1, b""), 4), (full_event(1, b""), 0),
                             (instance_event(1, b""), 0), (modern_event(1, b""), 0),
                             (message_event(0x2B, bytes(32)), 0)):
            for size in (0, 1, len(raw) - 1):
                broken = raw[:size_at] + struct.pack("<H", size) + raw[size_at + 2:]
                with self.subTest(kind=raw[2], size=size), self.assertRaises(FramingError):
                    list(walk_events(broken))

    def test_perfinfo_counters_beyond_size(self):
        with self.assertRaises(FramingError):
            list(walk_events(perfinfo_event(1, 1, bytes(8), version=0x8100)))

    def test_unknown_markers(self):
        for marker in (0x00000030, 0xB0000018, 0xC00C0030, 0xC0FF0030):
            with self.subTest(hex(marker)), self.assertRaises(FramingError):
                list(walk_events(struct.pack("<I", marker) + bytes(60)))


class LayoutTest(unittest.TestCase):
    """Buffer header and clock."""

    def test_buffer_header_round_trip_and_processor(self):
        head = BufferHeader(1, 2, 3, 4, 5, 6, 7, 0x0801, 9, 10, 11, 0x20, 13, bytes(range(16)))
        self.assertEqual(parse_buffer_header(pack_buffer_header(head)), head)
        self.assertEqual(head.cpu, 1)
        self.assertEqual(head._replace(processor_word=0x0105).cpu, 0x105)
        self.assertEqual(head._replace(flags=0, processor_word=0x0805).cpu, 5)

    def test_clocks(self):
        self.assertEqual(Clock(1, 100, START_FT, 3, 0).to_filetime(104), START_FT + 13_333_333)
        self.assertEqual(Clock(2, 5, 7, 3, 0).to_filetime(START_FT), START_FT)
        self.assertEqual(Clock(3, 0, START_FT, 0, 3000).to_filetime(3001), START_FT + 10)
        day_ticks = 86400 * 10_000_000 * 400
        self.assertEqual(Clock(1, 0, 0, 10_000_000, 0).to_filetime(day_ticks), day_ticks)
        with self.assertRaises(UnreadableFile):
            Clock(1, 0, 0, 0, 0)


class FileTestCase(unittest.TestCase):
    """Common ground of the tests that need a file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "sample.etl")

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)
        return self.path

    def run_command(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = etl_walk.main([*arguments, self.path])
        return status, out.getvalue(), err.getvalue()


class TraceFileTest(FileTestCase):
    """Whole files: kinds, damage, the command line."""

    def count_events(self):
        status, out, err = self.run_command("events")
        return status, len(out.splitlines()), err

    def test_all_kinds_give_the_same_data_events(self):
        seen = set()
        for name, make in BASES.items():
            self.write(make(SampleFile()).to_bytes())
            status, out, _ = self.run_command("events")
            self.assertEqual(status, 0, name)
            items = [json.loads(line) for line in out.splitlines()]
            seen.add(json.dumps([item for item in items if item["buf"] > 0]))
        self.assertEqual(len(seen), 1)

    def test_header_layout_of_32_bit(self):
        sample = SampleFile()
        sample.header_type = 1
        sample.logfile["pointer"] = 4
        with TraceFile(self.write(sample.to_bytes())) as trace:
            self.assertEqual(trace.logfile.logger_name, "sample")
            self.assertEqual(trace.logfile.start_time_ft, START_FT)
            self.assertEqual(list(check_trace(trace)), [])

    def test_torn_file_keeps_complete_buffers(self):
        content = SampleFile().to_bytes()
        for cut, events in ((1, 6), (BUFFER_BYTES - 4, 6), (2 * BUFFER_BYTES, 6)):
            self.write(content[:len(content) - cut])
            status, count, err = self.count_events()
            whole = (len(content) - cut) // BUFFER_BYTES
            self.assertEqual(count, {1: 2, 2: 4, 3: events}[whole])
            self.assertEqual(status, 1 if cut % BUFFER_BYTES else 0)
            self.assertEqual(bool(err), bool(cut % BUFFER_BYTES))

    def test_damaged_buffer_does_not_hide_the_next(self):
        sample = SampleFile()
        sample.data[0].events[1] = b"\1\0\x99\xC0" + bytes(28)
        self.write(sample.to_bytes())
        status, count, err = self.count_events()
        self.assertEqual((status, count), (1, 9))
        self.assertIn("header type 0x99", err)

    def test_buffers_without_events_are_skipped(self):
        sample = SampleFile()
        sample.data[1].changes["type"] = 7
        self.write(sample.to_bytes())
        self.assertEqual(self.count_events()[:2], (0, 8))

    def test_unreadable(self):
        sample = SampleFile()
        content = sample.to_bytes()
        for name, broken in {"empty": b"", "text": b"no trace at all " * 64,
                             "short": content[:0x47], "cut": content[:BUFFER_BYTES - 1],
                             "no type": content[:0x36] + b"\0" + content[0x37:],
                             "old": content[:0x6E] + b"\1\2" + content[0x70:]}.items():
            self.write(broken)
            for command in ("events", "check", "dump-buffers"):
                with self.subTest(name, command=command):
                    status, out, err = self.run_command(command)
                    self.assertEqual((status, out), (2, ""))
                    self.assertIn("unreadable", err)

    def test_dump_buffers(self):
        self.write(SampleFile().to_bytes())
        status, out, _ = self.run_command("dump-buffers")
        self.assertEqual((status, len(out.splitlines())), (0, 4))

    def test_check_prints_offset_structure_and_section(self):
        sample = SampleFile()
        sample.data[1].changes["state"] = 2
        self.write(sample.to_bytes())
        status, out, _ = self.run_command("check")
        self.assertEqual(status, 1)
        self.assertEqual(out, f"{self.path}: 0x2000: buffer 2 header: State 2, not 3 "
                              f"[state_is_flush, writer, etl.md: Buffer header; Writing]\n")


class RulesTest(FileTestCase):
    """Each rule stays silent on valid files and reports its violation."""

    def violated_rules(self, sample, is_strict):
        with TraceFile(self.write(sample.to_bytes())) as trace:
            return [violation.rule.name for violation in check_trace(trace, is_strict)]

    def test_valid_files_are_clean(self):
        for name, make in BASES.items():
            with self.subTest(name):
                self.assertEqual(self.violated_rules(make(SampleFile()), name == "session"), [])

    def test_each_rule_reports(self):
        for rule_name, cases in CASES.items():
            for number, (base, change) in enumerate(cases):
                with self.subTest(rule_name, case=number):
                    sample = BASES[base](SampleFile())
                    change(sample)
                    self.assertIn(rule_name, self.violated_rules(sample, is_strict=True))

    def test_each_rule_stands_in_the_description_of_the_format(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs/format/etl.md"
        headings = set(re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE))
        self.violated_rules(SampleFile(), is_strict=False)      # loads the rules
        for entry in ALL_RULES:
            with self.subTest(entry.name):
                self.assertLessEqual(set(entry.section.split("; ")), headings)

    def test_each_rule_has_a_case(self):
        self.violated_rules(SampleFile(), is_strict=False)      # loads the rules
        self.assertEqual(sorted(CASES), sorted(entry.name for entry in ALL_RULES))

    def test_append_segments_may_restart_numbering(self):
        sample = SampleFile()
        sample.logfile.update(mode=5, clock=2, start=T0, boot=1, end_time=T0 + 1000)
        sample.data[2].changes.update(sequence=1, logger_id=9)
        self.assertEqual(self.violated_rules(sample, is_strict=True), [])

    def test_wrapped_circular_file(self):
        sample = SampleFile()
        sample.logfile.update(mode=0x2002, maximum=16, written=9)
        first, second, third = sample.data
        sample.data = [second, third, first]
        second.changes.update(sequence=8)
        third.changes.update(sequence=9)
        first.changes.update(sequence=7)
        self.assertEqual(self.violated_rules(sample, is_strict=True), [])


class CompareStreamsTest(unittest.TestCase):
    """compare_streams on short streams."""

    def compare(self, left, right):
        return list(compare_streams.iter_differences(left, right))

    def test_key_order_does_not_matter(self):
        self.assertEqual(self.compare(['{"a":1,"b":[2]}\n'], ['{"b": [2], "a": 1}']), [])

    def test_value_missing_key_and_type(self):
        found = self.compare(['{"a":1}', '{"a":1,"b":2}', '{"a":1}'],
                             ['{"a":2}', '{"a":1,"c":2}', '{"a":true}'])
        self.assertEqual([number for number, _ in found], [1, 2, 3])
        self.assertEqual(found[1][1], "b: 2 only in the first; c: 2 only in the second")

    def test_length_and_bad_json(self):
        self.assertEqual(self.compare(['{"a":1}'], []), [(1, "the second stream ends here")])
        self.assertIn("no JSON", self.compare(['{"a":1}'], ["{"])[0][1])
        self.assertIn("no JSON object", self.compare(["[]"], ["[1]"])[0][1])


if __name__ == "__main__":
    unittest.main()
