/* SPDX-License-Identifier: MIT */
/* Taking events in runs: where a run ends, and that taking one is taking its events one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "unit/ring/read_ring.h"
#include "wire/event_shape.h"

static struct etw_ring_run run_of(struct made_ring *made, uint32_t room, int64_t bound_raw)
{
	struct etw_ring_event event;

	assert_int_equal(etw_ring_reader_peek(made->reader, 1, &event), 0);
	return etw_ring_reader_peek_run(made->reader, room, bound_raw);
}

static void expect_run(struct made_ring *made, uint32_t room, int64_t bound_raw, uint32_t count)
{
	struct etw_ring_run run = run_of(made, room, bound_raw);

	assert_int_equal(run.count, count);
	assert_int_equal(run.bytes, count * MADE_EVENT_BYTES);
}

static void open_with(struct made_ring *made, uint32_t count)
{
	assert_int_equal(made_ring_open(made, 3, BUFFER_BYTES), 0);
	for (uint64_t i = 1; i <= count; i++)
		assert_int_equal(made_event_write(made, i), 0);
	look(made, ETW_RING_LOOK_BUMP);
}

static void test_reader_run__a_run_ends_with_its_buffer(void **state)
{
	struct etw_ring_position position;
	struct made_ring made;

	(void)state;
	open_with(&made, PER_BUFFER + 2);
	expect_run(&made, UINT32_MAX, INT64_MAX, PER_BUFFER);
	etw_ring_reader_take_run(made.reader, PER_BUFFER * MADE_EVENT_BYTES, PER_BUFFER);
	position = etw_ring_reader_position(made.reader);
	assert_int_equal(position.offset, BUFFER_BYTES);
	expect_run(&made, UINT32_MAX, INT64_MAX, 2);
	etw_ring_reader_take_run(made.reader, MADE_EVENT_BYTES, 1);
	expect_events(&made, PER_BUFFER + 2, PER_BUFFER + 2);
	made_ring_close(&made);
}

static void test_reader_run__room_and_time_bound_it(void **state)
{
	struct etw_ring_event event;
	struct made_ring made;
	int64_t second_raw;

	(void)state;
	open_with(&made, 3);
	expect_run(&made, MADE_EVENT_BYTES * 2 + 8, INT64_MAX, 2);
	expect_run(&made, MADE_EVENT_BYTES - 8, INT64_MAX, 0);
	expect_run(&made, 0, INT64_MAX, 0);
	assert_int_equal(etw_ring_reader_peek(made.reader, 1, &event), 0);
	second_raw = wire_event_ring_time(event.at + MADE_EVENT_BYTES, MADE_EVENT_BYTES);
	expect_run(&made, UINT32_MAX, second_raw - 1, 1);
	expect_run(&made, UINT32_MAX, second_raw, 2);
	made_ring_close(&made);
}

/* Without a peek that found one there is no first event, and nothing is looked at. */
static void test_reader_run__there_is_none_without_a_peek(void **state)
{
	struct made_ring made;

	(void)state;
	open_with(&made, 1);
	assert_int_equal(etw_ring_reader_peek_run(made.reader, UINT32_MAX, INT64_MAX).bytes, 0);
	assert_int_equal(made_event_take(&made, 1, NULL), 1);
	assert_int_equal(etw_ring_reader_peek_run(made.reader, UINT32_MAX, INT64_MAX).bytes, 0);
	made_ring_close(&made);
}

static void test_reader_run__gaps_and_abandoned_places_end_it(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span gap, abandoned;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES * 2), 0);
	assert_int_equal(made_event_write(&made, 1), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 9, &abandoned), 0);
	etw_ring_abandon(&abandoned);
	assert_int_equal(made_event_write(&made, 2), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 3, &gap), 0);
	assert_int_equal(made_event_write(&made, 4), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	expect_run(&made, UINT32_MAX, INT64_MAX, 1);
	etw_ring_reader_take_run(made.reader, MADE_EVENT_BYTES, 1);
	expect_run(&made, UINT32_MAX, INT64_MAX, 1);
	etw_ring_reader_take_run(made.reader, MADE_EVENT_BYTES, 1);
	assert_int_equal(made_event_take(&made, 1, NULL), 0);
	etw_ring_commit(&gap);
	expect_run(&made, UINT32_MAX, INT64_MAX, 2);
	etw_ring_reader_take_run(made.reader, 2 * MADE_EVENT_BYTES, 2);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 0);
	assert_int_equal(counts.rejected, 0);
	made_ring_close(&made);
}

/* An event may be larger than what a run usually has; a run of small ones ends in time. */
static void test_reader_run__runs_have_a_length(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;
	struct etw_ring_run run;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, 128 * 1024), 0);
	assert_int_equal(made_event_reserve(&made, 65528, 1, &span), 0);
	etw_ring_commit(&span);
	for (uint64_t i = 2; i <= 600; i++)
		assert_int_equal(made_event_write(&made, i), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	run = run_of(&made, UINT32_MAX, INT64_MAX);
	assert_int_equal(run.count, 1);
	assert_int_equal(run.bytes, 65528);
	etw_ring_reader_take_run(made.reader, run.bytes, run.count);
	for (uint32_t i = 2; i <= 600; i += run.count) {
		run = run_of(&made, UINT32_MAX, INT64_MAX);
		assert_in_range(run.count, 1, 32 * 1024 / MADE_EVENT_BYTES);
		etw_ring_reader_take_run(made.reader, run.bytes, run.count);
	}
	made_ring_close(&made);
}

/* Sizes that lie end a run: peek and take say what becomes of them. */
static void test_reader_run__sizes_that_lie_end_it(void **state)
{
	static const uint16_t sizes[] = {0, 7, MADE_EVENT_BYTES * 3 + 1, UINT16_MAX};
	struct etw_ring_event event;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct made_ring made;
		uint8_t *second;

		open_with(&made, 3);
		assert_int_equal(etw_ring_reader_peek(made.reader, 1, &event), 0);
		second = made.set.memory + (event.at - made.set.memory) + MADE_EVENT_BYTES;
		etw_store16(second, sizes[i]);
		expect_run(&made, UINT32_MAX, INT64_MAX, 1);
		made_ring_close(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_run__a_run_ends_with_its_buffer),
		cmocka_unit_test(test_reader_run__room_and_time_bound_it),
		cmocka_unit_test(test_reader_run__there_is_none_without_a_peek),
		cmocka_unit_test(test_reader_run__gaps_and_abandoned_places_end_it),
		cmocka_unit_test(test_reader_run__runs_have_a_length),
		cmocka_unit_test(test_reader_run__sizes_that_lie_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
