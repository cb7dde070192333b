/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/cursor.h"
#include "synthetic/made_event.h"

#define EVENT_BYTES 40u
#define EVENTS      3u

/* Three sound events one behind the other, at the times 300, 100 and 200. */
static void make_block(uint8_t *bytes, struct etw_etl_block *block)
{
	static const int64_t times[EVENTS] = {300, 100, 200};
	static const struct made_ids ids = {1, 2, 3, 4};
	static struct made_event made;

	/* Header and payload are 37 bytes; what follows begins at the next multiple of 8. */
	for (size_t i = 0; i < EVENTS; i++) {
		made_system(&made, WIRE_HEADER_SYSTEM64, 0x0501, 3, times[i], &ids);
		made_fill(&made, 7, 5);
		memcpy(bytes + i * EVENT_BYTES, made.bytes, made.count);
	}
	*block = (struct etw_etl_block){
		.events = bytes,
		.event_bytes = EVENTS * EVENT_BYTES,
		.count = EVENTS,
		.is_stepped = true,
	};
}

static void test_cursor__steps_by_size(void **state)
{
	uint8_t bytes[EVENTS * EVENT_BYTES] = {0};
	struct etw_etl_cursor cursor;
	struct etw_etl_block block;

	(void)state;
	make_block(bytes, &block);
	block.count = 2;
	assert_true(etw_etl_cursor_start(&cursor, &block));
	assert_int_equal(cursor.offset, 0);
	assert_int_equal(cursor.event.time_raw, 300);
	assert_true(etw_etl_cursor_next(&cursor));
	assert_int_equal(cursor.offset, EVENT_BYTES);
	assert_int_equal(cursor.event.time_raw, 100);
	assert_false(etw_etl_cursor_next(&cursor));
	assert_int_equal(cursor.index, block.count);
}

static void test_cursor__follows_places(void **state)
{
	struct etw_etl_place places[] = {{EVENT_BYTES, 100}, {2 * EVENT_BYTES, 250}, {0, 300}};
	uint8_t bytes[EVENTS * EVENT_BYTES] = {0};
	struct etw_etl_cursor cursor;
	struct etw_etl_block block;

	(void)state;
	make_block(bytes, &block);
	block.places = places;
	block.is_stepped = false;
	assert_true(etw_etl_cursor_start(&cursor, &block));
	for (size_t i = 0; i < EVENTS; i++) {
		assert_int_equal(cursor.index, i);
		assert_int_equal(cursor.offset, places[i].offset);
		/* What the place says counts: a message without a time has one there. */
		assert_int_equal(cursor.event.time_raw, places[i].time_raw);
		assert_int_equal(etw_etl_cursor_next(&cursor), i + 1 < EVENTS);
	}
}

static void test_cursor__block_without_events(void **state)
{
	struct etw_etl_block block = {.is_stepped = true};
	struct etw_etl_cursor cursor;

	(void)state;
	assert_false(etw_etl_cursor_start(&cursor, &block));
	assert_ptr_equal(cursor.block, &block);
	assert_false(etw_etl_cursor_next(&cursor));
	block.is_stepped = false;
	assert_false(etw_etl_cursor_start(&cursor, &block));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cursor__steps_by_size),
		cmocka_unit_test(test_cursor__follows_places),
		cmocka_unit_test(test_cursor__block_without_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
