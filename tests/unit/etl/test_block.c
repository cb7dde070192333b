/* SPDX-License-Identifier: MIT */
/* One buffer in memory: its events in order, what is wrong with them, and the events behind damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/block.h"
#include "unit/etl/sample.h"

/* The first data buffer of preset "plain": events of 88 bytes, 10 in each buffer of 1024. */
#define DATA       1024
#define EVENT      88
#define EVENTS     (DATA + WIRE_BUFFER_HEADER_BYTES)
#define PER_BUFFER 10

/* The first data buffer of preset "compressed-small". */
#define PACKED 0x400

struct loaded {
	struct sample sample;
	struct etw_etl_buffer buffer;
	struct etw_etl_block block;
	struct etw_findings findings;
};

static struct loaded prepare(const char *preset, uint64_t offset)
{
	struct loaded loaded = {.sample = sample_make(preset)};

	loaded.buffer = sample_buffer(&loaded.sample, offset);
	return loaded;
}

static void load(struct loaded *loaded)
{
	loaded->findings = (struct etw_findings){0};
	assert_int_equal(etw_etl_block_load(&loaded->sample.file, &loaded->buffer, &loaded->block,
					    &loaded->findings),
			 0);
}

static void done(struct loaded *loaded)
{
	etw_etl_block_done(&loaded->block);
	sample_done(&loaded->sample);
}

/* Walks the block with a cursor; times never run back. Returns the number of events. */
static unsigned count_events(const struct etw_etl_block *block)
{
	struct etw_etl_cursor cursor;
	unsigned count = 0;
	int64_t last = INT64_MIN;

	if (!etw_etl_cursor_start(&cursor, block))
		return 0;
	do {
		assert_int_equal(cursor.index, count);
		assert_true(cursor.event.time_raw >= last);
		last = cursor.event.time_raw;
		count++;
	} while (etw_etl_cursor_next(&cursor));
	assert_int_equal(cursor.index, block->count);
	return count;
}

static void assert_one_finding(const struct loaded *loaded, enum etw_finding_kind kind,
			       uint64_t offset, uint64_t bytes, const char *sentence)
{
	assert_int_equal(loaded->findings.kept_count, 1);
	assert_int_equal(loaded->findings.kept[0].kind, kind);
	assert_int_equal(loaded->findings.kept[0].offset, offset);
	assert_int_equal(loaded->findings.kept[0].bytes, bytes);
	assert_string_equal(loaded->findings.kept[0].sentence, sentence);
}

static void test_block__sound(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	load(&loaded);
	assert_true(loaded.block.is_stepped);
	assert_int_equal(loaded.block.count, PER_BUFFER);
	assert_int_equal(loaded.block.first_raw, 1000000);
	assert_int_equal(loaded.block.last_raw, 1000000 + 200 * (PER_BUFFER - 1));
	assert_int_equal(count_events(&loaded.block), PER_BUFFER);
	assert_int_equal(loaded.findings.kept_count, 0);
	/* The same memory serves again; without findings it is silent. */
	loaded.buffer = sample_buffer(&loaded.sample, 2 * DATA);
	assert_int_equal(
		etw_etl_block_load(&loaded.sample.file, &loaded.buffer, &loaded.block, NULL), 0);
	assert_int_equal(loaded.block.first_raw, 1000100);
	done(&loaded);
}

static void test_block__compressed(void **state)
{
	struct loaded loaded = prepare("compressed-small", PACKED);

	(void)state;
	load(&loaded);
	assert_int_equal(loaded.block.count, 22);
	assert_int_equal(loaded.block.packed_rest, 0);
	assert_int_equal(count_events(&loaded.block), 22);
	assert_int_equal(loaded.findings.kept_count, 0);
	/* What follows the stream is counted. */
	loaded.buffer.stride += 8;
	load(&loaded);
	assert_int_equal(loaded.block.count, 22);
	assert_true(loaded.block.packed_rest >= 8);
	done(&loaded);
}

static void test_block__compressed_data_that_is_damaged(void **state)
{
	struct loaded loaded = prepare("compressed-small", PACKED);
	uint32_t valid = loaded.buffer.valid_bytes;

	(void)state;
	loaded.buffer.valid_bytes += 16;
	load(&loaded);
	assert_int_equal(loaded.block.count, 22);
	assert_int_equal(loaded.findings.counts[ETW_FINDING_EVENTS], 1);
	assert_string_equal(loaded.findings.kept[0].sentence, "the compressed data is damaged");
	assert_int_equal(loaded.findings.kept[0].offset,
			 PACKED); /* the buffer's: it has no inner ones */
	loaded.buffer.valid_bytes = valid;
	memset(loaded.sample.bytes + PACKED + 0x48 + 60, 0xFF,
	       60); /* matches that reach too far back */
	load(&loaded);
	assert_true(loaded.findings.counts[ETW_FINDING_EVENTS] > 0);
	done(&loaded);
}

/* A header that claims 64 MiB does not get them. */
static void test_block__claims_are_not_allocated(void **state)
{
	struct loaded loaded = prepare("compressed-small", PACKED);

	(void)state;
	loaded.buffer.valid_bytes = WIRE_BUFFER_BYTES_MAX;
	load(&loaded);
	assert_true(loaded.block.unpacked_room < 1024 * 1024);
	/* Nor is what cannot be read more than what is there. */
	assert_int_equal(loaded.findings.kept[0].bytes,
			 loaded.buffer.stride - WIRE_BUFFER_HEADER_BYTES);
	loaded.buffer = sample_buffer(&loaded.sample, PACKED);
	loaded.buffer.flags = 0;
	loaded.buffer.stride = loaded.buffer.valid_bytes = WIRE_BUFFER_BYTES_MAX;
	load(&loaded);
	assert_true(loaded.block.memory_room < 1024 * 1024);
	assert_int_equal(loaded.findings.counts[ETW_FINDING_CUT], 1);
	done(&loaded);
}

static void test_block__cut_by_the_files_end(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	loaded.sample.file.bytes = EVENTS + 3 * EVENT + 30;
	load(&loaded);
	assert_int_equal(loaded.block.count, 3);
	assert_int_equal(loaded.findings.counts[ETW_FINDING_CUT], 1);
	assert_string_equal(loaded.findings.kept[0].sentence, "the file ends within the buffer");
	assert_int_equal(loaded.findings.kept[0].bytes, PER_BUFFER * EVENT - 3 * EVENT - 30);
	assert_int_equal(loaded.findings.counts[ETW_FINDING_EVENTS], 1); /* the half event */
	loaded.sample.file.bytes = DATA + 10;
	load(&loaded);
	assert_int_equal(loaded.block.count, 0);
	assert_int_equal(count_events(&loaded.block), 0);
	done(&loaded);
}

static void test_block__types_without_events_are_not_read(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	loaded.buffer.type = WIRE_BUFFER_REFTIME;
	load(&loaded);
	assert_int_equal(loaded.block.count, 0);
	assert_int_equal(loaded.findings.kept_count, 0);
	done(&loaded);
}

static void test_block__damaged_events_are_skipped(void **state)
{
	static const struct {
		uint32_t at; /* in the third event */
		uint8_t value;
		const char *sentence;
	} rows[] = {
		{2, 0x0D, "the header type is not one that files hold"},
		{3, 0x41, "the marker is that of no event header"},
		{0, 0x08, "the event is shorter than its header"},
		{1, 0xF0, "the event reaches beyond its buffer"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct loaded loaded = prepare("plain", DATA);
		uint64_t third = EVENTS + 2 * EVENT;

		loaded.sample.bytes[third + rows[i].at] = rows[i].value;
		load(&loaded);
		assert_false(loaded.block.is_stepped);
		assert_int_equal(loaded.block.count, PER_BUFFER - 1);
		assert_int_equal(count_events(&loaded.block), PER_BUFFER - 1);
		assert_one_finding(&loaded, ETW_FINDING_EVENTS, third, EVENT, rows[i].sentence);
		done(&loaded);
	}
}

static void test_block__end_mark_in_the_middle(void **state)
{
	struct loaded loaded = prepare("plain", DATA);
	uint64_t third = EVENTS + 2 * EVENT;

	(void)state;
	sample_set32(&loaded.sample, third, WIRE_EVENT_END_MARK);
	load(&loaded);
	assert_int_equal(loaded.block.count, PER_BUFFER - 1);
	assert_one_finding(&loaded, ETW_FINDING_EVENTS, third, EVENT,
			   "an end mark stands before the buffer's end");
	done(&loaded);
}

static void test_block__filler_is_no_finding(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	loaded.buffer.valid_bytes = loaded.buffer.stride;
	load(&loaded);
	assert_true(loaded.block.is_stepped);
	assert_int_equal(loaded.block.count, PER_BUFFER);
	assert_int_equal(loaded.findings.kept_count, 0);
	done(&loaded);
}

/* Events overwritten by ones are none of the filling: the buffer says that it goes on behind them. */
static void test_block__ones_where_events_should_be(void **state)
{
	struct loaded loaded = prepare("plain", DATA);
	uint64_t third = EVENTS + 2 * EVENT;

	(void)state;
	assert_true(loaded.buffer.valid_bytes < loaded.buffer.stride);
	memset(loaded.sample.bytes + third, 0xFF, (PER_BUFFER - 2) * EVENT);
	load(&loaded);
	assert_int_equal(loaded.block.count, 2);
	assert_one_finding(&loaded, ETW_FINDING_EVENTS, third, (PER_BUFFER - 2) * EVENT,
			   "an end mark stands before the buffer's end");
	done(&loaded);
}

static void test_block__rest_too_small_for_an_event(void **state)
{
	struct loaded loaded = prepare("plain", DATA);
	uint64_t end = EVENTS + PER_BUFFER * EVENT;

	(void)state;
	loaded.buffer.valid_bytes += 4;
	memset(loaded.sample.bytes + end, 'x', 4);
	load(&loaded);
	assert_int_equal(loaded.block.count, PER_BUFFER);
	assert_one_finding(&loaded, ETW_FINDING_EVENTS, end, 4,
			   "too few bytes for an event are left at the end");
	done(&loaded);
}

/* The last event of an old relogger's buffer is not padded. */
static void test_block__last_event_without_pad(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	loaded.buffer.valid_bytes -= 4; /* the events are of 84 bytes and 4 of padding */
	load(&loaded);
	assert_true(loaded.block.is_stepped);
	assert_int_equal(loaded.block.count, PER_BUFFER);
	assert_int_equal(loaded.findings.kept_count, 0);
	done(&loaded);
}

static void test_block__times_that_run_back_are_ordered(void **state)
{
	struct loaded loaded = prepare("plain", DATA);
	struct etw_etl_cursor cursor;

	(void)state;
	etw_store64(loaded.sample.bytes + EVENTS + 5 * EVENT + 0x10, 999);
	load(&loaded);
	assert_false(loaded.block.is_stepped);
	assert_int_equal(loaded.block.count, PER_BUFFER);
	assert_int_equal(loaded.block.first_raw, 999);
	assert_true(etw_etl_cursor_start(&cursor, &loaded.block));
	assert_int_equal(cursor.offset, 5 * EVENT);
	assert_true(etw_etl_cursor_next(&cursor));
	assert_int_equal(cursor.offset, 0);
	assert_int_equal(count_events(&loaded.block), PER_BUFFER);
	assert_int_equal(loaded.findings.kept_count, 0);
	done(&loaded);
}

static void test_block__messages_without_time(void **state)
{
	struct loaded loaded = prepare("untimed-messages", 1024);
	struct etw_etl_cursor cursor;
	static const int64_t times[] = {1000500, 1000500, 1000500, 1000500, 1000500};

	(void)state;
	load(&loaded);
	assert_false(loaded.block.is_stepped);
	assert_int_equal(loaded.block.count, 5);
	assert_true(etw_etl_cursor_start(&cursor, &loaded.block));
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(cursor.event.time_raw, times[i]);
		assert_int_equal(cursor.event.header_type,
				 i == 3 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_MESSAGE);
		assert_int_equal(etw_etl_cursor_next(&cursor), i < 4);
	}
	/* Where nothing has a time, that of the buffer is as good as any. */
	loaded.buffer = sample_buffer(&loaded.sample, 3 * 1024);
	load(&loaded);
	assert_int_equal(loaded.block.count, 2);
	assert_int_equal(loaded.block.first_raw, loaded.buffer.time_raw);
	done(&loaded);
}

static void test_block__nothing_sound(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	memset(loaded.sample.bytes + EVENTS, 'A', PER_BUFFER * EVENT);
	load(&loaded);
	assert_int_equal(loaded.block.count, 0);
	assert_one_finding(&loaded, ETW_FINDING_EVENTS, EVENTS, PER_BUFFER * EVENT,
			   "the marker is that of no event header");
	done(&loaded);
}

static void fetch(struct loaded *loaded, bool needs_places)
{
	assert_int_equal(etw_etl_block_fetch(&loaded->sample.file, &loaded->buffer, PER_BUFFER,
					     needs_places, &loaded->block),
			 0);
}

/* A fetched block has the events of the loaded one, whatever the block held before. */
static void test_block__fetched(void **state)
{
	struct loaded loaded = prepare("plain", DATA);
	struct loaded packed = prepare("compressed-small", PACKED);

	(void)state;
	fetch(&loaded, /* needs_places= */ false);
	assert_true(loaded.block.is_unchecked);
	assert_int_equal(count_events(&loaded.block), PER_BUFFER);
	fetch(&loaded, /* needs_places= */ true);
	assert_int_equal(count_events(&loaded.block), PER_BUFFER);
	load(&loaded);
	assert_false(loaded.block.is_unchecked);
	assert_int_equal(count_events(&loaded.block), PER_BUFFER);
	loaded.buffer.type = WIRE_BUFFER_REFTIME;
	fetch(&loaded, /* needs_places= */ false);
	assert_int_equal(loaded.block.count, 0);
	done(&loaded);
	assert_int_equal(etw_etl_block_fetch(&packed.sample.file, &packed.buffer, 22,
					     /* needs_places= */ false, &packed.block),
			 0);
	assert_int_equal(count_events(&packed.block), 22);
	done(&packed);
}

/* The events of a fetched block up to where they end. */
static unsigned count_cut(const struct etw_etl_block *block, struct etw_findings *findings)
{
	struct etw_etl_cursor cursor;
	unsigned count = 0;

	for (bool has = etw_etl_cursor_start(&cursor, block); has;
	     has = etw_etl_cursor_next(&cursor))
		count++;
	etw_etl_cursor_tell(&cursor, findings);
	return count;
}

/* Whatever stands there now: no event reaches beyond the buffer, and what is missing is told. */
static void test_block__fetched_from_a_file_that_changed(void **state)
{
	struct loaded loaded = prepare("plain", DATA);

	(void)state;
	fetch(&loaded, /* needs_places= */ false);
	assert_int_equal(count_cut(&loaded.block, &loaded.findings), PER_BUFFER);
	assert_int_equal(loaded.findings.kept_count, 0);
	sample_set16(&loaded.sample, EVENTS + 4 * EVENT, 0xFFF8); /* the size of one */
	fetch(&loaded, /* needs_places= */ false);
	assert_int_equal(count_cut(&loaded.block, &loaded.findings), 4);
	assert_string_equal(loaded.findings.kept[0].sentence, "the file changed while it was read");
	memset(loaded.sample.bytes + EVENTS, 0xFF, PER_BUFFER * EVENT);
	fetch(&loaded, /* needs_places= */ false);
	assert_int_equal(count_cut(&loaded.block, &loaded.findings), 0);
	assert_int_equal(loaded.findings.counts[ETW_FINDING_EVENTS], 2);
	loaded.sample.file.bytes = DATA + 10;
	fetch(&loaded, /* needs_places= */ false);
	assert_int_equal(count_cut(&loaded.block, &loaded.findings), 0);
	done(&loaded);
}

/* What is borrowed is read where it is, and gives the same events as a copy. */
static void test_block__borrows(void **state)
{
	static const struct {
		const char *preset;
		uint64_t offset;
	} rows[] = {{"plain", DATA}, {"compressed-small", PACKED}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct loaded loaded = prepare(rows[i].preset, rows[i].offset);
		const uint8_t *at = loaded.sample.bytes + rows[i].offset;
		struct etw_etl_block block = {0};

		load(&loaded);
		assert_int_equal(loaded.block.raw_bytes,
				 loaded.buffer.flags & WIRE_BUFFER_COMPRESSED
					 ? loaded.buffer.stride
					 : loaded.buffer.valid_bytes);
		assert_memory_equal(loaded.block.raw, at, loaded.block.raw_bytes);
		assert_int_equal(etw_etl_block_borrow(at, loaded.buffer.stride, &loaded.buffer,
						      &block, &loaded.findings),
				 0);
		assert_ptr_equal(block.raw, at);
		assert_null(block.memory);
		assert_int_equal(block.raw_bytes, loaded.block.raw_bytes);
		assert_int_equal(block.count, loaded.block.count);
		assert_int_equal(count_events(&block), count_events(&loaded.block));
		assert_int_equal(loaded.findings.kept_count, 0);
		/* what is cut is told of */
		assert_int_equal(etw_etl_block_borrow(at, loaded.block.raw_bytes - 8,
						      &loaded.buffer, &block, &loaded.findings),
				 0);
		assert_int_equal(loaded.findings.counts[ETW_FINDING_CUT], 1);
		etw_etl_block_done(&block);
		done(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block__borrows),
		cmocka_unit_test(test_block__sound),
		cmocka_unit_test(test_block__compressed),
		cmocka_unit_test(test_block__compressed_data_that_is_damaged),
		cmocka_unit_test(test_block__claims_are_not_allocated),
		cmocka_unit_test(test_block__cut_by_the_files_end),
		cmocka_unit_test(test_block__types_without_events_are_not_read),
		cmocka_unit_test(test_block__damaged_events_are_skipped),
		cmocka_unit_test(test_block__end_mark_in_the_middle),
		cmocka_unit_test(test_block__filler_is_no_finding),
		cmocka_unit_test(test_block__ones_where_events_should_be),
		cmocka_unit_test(test_block__rest_too_small_for_an_event),
		cmocka_unit_test(test_block__last_event_without_pad),
		cmocka_unit_test(test_block__times_that_run_back_are_ordered),
		cmocka_unit_test(test_block__messages_without_time),
		cmocka_unit_test(test_block__nothing_sound),
		cmocka_unit_test(test_block__fetched),
		cmocka_unit_test(test_block__fetched_from_a_file_that_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
