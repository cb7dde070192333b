/* SPDX-License-Identifier: MIT */
/* Which stack becomes which event's: the rules of docs/format/stacks.md, one by one. */
#include <errno.h>

#include "stack_event.h"

static const uint64_t kernel[] = {KERNEL(1), KERNEL(2), 0};
static const uint64_t user[] = {USER(1), USER(2), 0};
static const uint64_t both[] = {KERNEL(1), KERNEL(2), USER(1), USER(2), 0};
static const uint64_t nothing[] = {0};

static void test_attach__whole_stack_at_once(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_walk(&fixture, 101, 100, 70, 7, both);
	assert_int_equal(fixture.count, 1);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, both);
	assert_int_equal(fixture.told[0].kernel_count, 2);
	assert_int_equal(fixture.told[0].pid, 70);
	assert_int_equal(fixture.told[0].tid, 7);
	fixture_end(&fixture);
	assert_int_equal(fixture.count, 1);
	fixture_done(&fixture);
}

/* As Linux' recordings have it: frames of a kernel thread, with the event's own time. */
static void test_attach__stack_of_the_same_time_is_whole(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_walk(&fixture, 100, 100, 70, 7, kernel);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, kernel);
	fixture_event(&fixture, 200, 7, 0, 2);
	fixture_walk(&fixture, 200, 200, 70, 7, user);
	assert_told(&fixture, 1, 2, ETW_STACK_WHOLE, user);
	fixture_done(&fixture);
}

static void test_attach__halves_are_joined_at_the_way_out(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_walk(&fixture, 101, 100, 70, 7, kernel);
	fixture_event(&fixture, 110, 7, 0, 2);
	fixture_walk(&fixture, 111, 110, 70, 7, kernel);
	fixture_event(&fixture, 115, 8, 1, 3);
	fixture_walk(&fixture, 116, 115, 70, 8, kernel);
	assert_int_equal(fixture.count, 0);
	/* One half for both events of the thread, and none for the other thread's. */
	fixture_walk(&fixture, 120, 110, 70, 7, user);
	assert_int_equal(fixture.count, 2);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, both);
	assert_told(&fixture, 1, 2, ETW_STACK_WHOLE, both);
	fixture_end(&fixture);
	assert_told(&fixture, 2, 3, ETW_STACK_KERNEL_ONLY, kernel);
	fixture_done(&fixture);
}

static void test_attach__system_threads_have_no_other_half(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_walk(&fixture, 101, 100, 4, 7, kernel);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, kernel);
	fixture_done(&fixture);
}

static void test_attach__definition_comes_behind(UNUSED_STATE)
{
	static const uint64_t other[] = {KERNEL(8), 0};
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 90, 7, 0, 1);
	fixture_key(&fixture, 90, 37, 70, 7, 0x500);
	fixture_key(&fixture, 90, 38, 70, 7, 0x500);
	/* The same key, of the other half: only the frames tell. */
	fixture_define(&fixture, 95, 0x500, user);
	assert_int_equal(fixture.count, 0);
	fixture_define(&fixture, 96, 0x500, kernel);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, both);
	/* The first definition behind a reference is the valid one. */
	fixture_event(&fixture, 100, 7, 0, 2);
	fixture_key(&fixture, 100, 37, 4, 7, 0x500);
	fixture_define(&fixture, 105, 0x500, other);
	fixture_define(&fixture, 106, 0x500, kernel);
	assert_told(&fixture, 1, 2, ETW_STACK_WHOLE, other);
	assert_int_equal(fixture.count, 2);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->definitions, 4);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->references, 3);
	fixture_done(&fixture);
}

static void test_attach__many_events_share_a_cached_half(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	for (int i = 0; i < 10; i++) {
		fixture_event(&fixture, 100 + i, 7, 0, (uint64_t)i + 1);
		fixture_key(&fixture, 100 + i, 38, 70, 7, 0x500);
	}
	fixture_define(&fixture, 200, 0x500, user);
	assert_int_equal(fixture.count, 10);
	for (size_t i = 0; i < 10; i++)
		assert_told(&fixture, i, i + 1, ETW_STACK_WHOLE, user);
	fixture_done(&fixture);
}

static void test_attach__definition_that_never_comes(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_key(&fixture, 100, 38, 70, 7, 0x500);
	fixture_event(&fixture, 110, 7, 0, 2);
	fixture_walk(&fixture, 111, 110, 70, 7, kernel);
	fixture_key(&fixture, 110, 38, 70, 7, 0x501);
	fixture_end(&fixture);
	assert_int_equal(fixture.count, 2);
	assert_told(&fixture, 0, 1, ETW_STACK_UNDEFINED, nothing);
	assert_told(&fixture, 1, 2, ETW_STACK_KERNEL_ONLY, kernel);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->undefined, 2);
	fixture_done(&fixture);
}

/* Of events of one time: that of the thread and the processor, and of two such the later one. */
static void test_attach__best_of_one_time(UNUSED_STATE)
{
	struct fixture fixture;
	struct made made;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 8, 0, 1);
	fixture_event(&fixture, 100, 7, 1, 2);
	fixture_event(&fixture, 100, 7, 0, 3);
	fixture_event(&fixture, 100, 7, 0, 4);
	/* What merging adds has the time and the thread of another event. */
	made_begin(&made, &made_image_id, 0, 7, 0);
	fixture_add(&fixture, &made, 100, 0);
	fixture_walk(&fixture, 105, 100, 70, 7, both);
	assert_told(&fixture, 0, 4, ETW_STACK_WHOLE, both);
	fixture_walk(&fixture, 105, 100, 70, 9, both);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->strays, 1);
	/* No event of the thread, but one of the processor that has none in its header. */
	made_begin(&made, &made_perf_info, 51, NO_ID, 0);
	made_number(&made, 1, 8);
	fixture_add(&fixture, &made, 100, 5);
	fixture_walk(&fixture, 106, 100, 70, 9, both);
	assert_told(&fixture, 1, 5, ETW_STACK_WHOLE, both);
	fixture_end(&fixture);
	assert_int_equal(fixture.count, 5);
	fixture_done(&fixture);
}

static void test_attach__thread_in_the_payload(UNUSED_STATE)
{
	struct fixture fixture;
	struct made made;

	fixture_init(&fixture, 8);
	made_begin(&made, &made_perf_info, 46, NO_ID, 3);
	made_number(&made, USER(1), 8);
	made_number(&made, 7, 4);
	fixture_add(&fixture, &made, 100, 1);
	fixture_walk(&fixture, 100, 100, 70, 7, user);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, user);
	/* A switch: the thread that runs from now on, whatever the header says. */
	made_begin(&made, &made_thread, 36, 8, 3);
	made_number(&made, 9, 4);
	made_number(&made, 8, 4);
	fixture_add(&fixture, &made, 110, 2);
	fixture_walk(&fixture, 110, 110, 70, 8, user);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->strays, 1);
	fixture_walk(&fixture, 110, 110, 70, 9, kernel);
	assert_told(&fixture, 1, 2, ETW_STACK_WHOLE, kernel);
	fixture_done(&fixture);
}

/* An event that nobody asks about takes its stack all the same, so that no other event gets it. */
static void test_attach__unwanted_events_are_never_told_of(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_event(&fixture, 100, 7, 0, 0);
	fixture_walk(&fixture, 101, 100, 70, 7, both);
	assert_int_equal(fixture.count, 0);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->strays, 0);
	fixture_end(&fixture);
	assert_int_equal(fixture.count, 1);
	assert_told(&fixture, 0, 1, ETW_STACK_NONE, nothing);
	fixture_done(&fixture);
}

static void add_item(struct made *made, unsigned type, uint64_t match, const uint64_t *frames,
		     size_t frame_bytes)
{
	size_t at = 8;

	memcpy(made->item_data, &match, 8);
	for (; *frames; frames++, at += frame_bytes)
		memcpy(made->item_data + at, frames, frame_bytes);
	made->item = (EVENT_HEADER_EXTENDED_DATA_ITEM){
		.ExtType = (uint16_t)type,
		.DataSize = (uint16_t)at,
		.DataPtr = (uintptr_t)made->item_data,
	};
	made->record.ExtendedData = &made->item;
	made->record.ExtendedDataCount = 1;
}

static void add_event_with_item(struct fixture *fixture, int64_t time, uint64_t token,
				unsigned type, uint64_t match, const uint64_t *frames)
{
	const bool is_narrow = type == EVENT_HEADER_EXT_TYPE_STACK_TRACE32;
	struct made made;

	made_begin(&made, &made_file_io, 1, 7, 0);
	add_item(&made, type, match, frames, is_narrow ? 4 : 8);
	fixture_add(fixture, &made, time, token);
}

static void test_attach__stacks_in_items(UNUSED_STATE)
{
	static const uint64_t narrow[] = {0x401000, 0x402000, 0};
	static const uint64_t key[] = {0x500, 0};
	struct fixture fixture;

	fixture_init(&fixture, 8);
	add_event_with_item(&fixture, 100, 1, EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 0, both);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, both);
	add_event_with_item(&fixture, 110, 2, EVENT_HEADER_EXT_TYPE_STACK_TRACE32, 0, narrow);
	assert_told(&fixture, 1, 2, ETW_STACK_WHOLE, narrow);
	add_event_with_item(&fixture, 120, 3, EVENT_HEADER_EXT_TYPE_STACK_KEY64, 0, key);
	assert_int_equal(fixture.count, 2);
	fixture_define(&fixture, 130, 0x500, user);
	assert_told(&fixture, 2, 3, ETW_STACK_WHOLE, user);
	/* Damaged: too short for what it is. */
	add_event_with_item(&fixture, 150, 4, EVENT_HEADER_EXT_TYPE_STACK_KEY64, 0, nothing);
	fixture_end(&fixture);
	assert_told(&fixture, 3, 4, ETW_STACK_NONE, nothing);
	fixture_done(&fixture);
}

/* Halves of two events with one number; the stack of the third has another. */
static void test_attach__halves_in_items(UNUSED_STATE)
{
	static const GUID event_tracing = {
		0xb675ec37, 0xbdb6, 0x4648, {0xbc, 0x92, 0xf3, 0xfd, 0xc7, 0x4d, 0x3c, 0xa2}};
	struct fixture fixture;
	struct made made;

	fixture_init(&fixture, 8);
	add_event_with_item(&fixture, 140, 4, EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 5, kernel);
	add_event_with_item(&fixture, 141, 5, EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 6, kernel);
	assert_int_equal(fixture.count, 0);
	made_begin(&made, &event_tracing, 24, 7, 0);
	made.record.EventHeader.EventDescriptor.Id = 18;
	add_item(&made, EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 6, user, 8);
	fixture_add(&fixture, &made, 142, 0);
	assert_int_equal(fixture.count, 1);
	assert_told(&fixture, 0, 5, ETW_STACK_WHOLE, both);
	fixture_end(&fixture);
	assert_told(&fixture, 1, 4, ETW_STACK_KERNEL_ONLY, kernel);
	fixture_done(&fixture);
}

static void test_attach__narrow_trace(UNUSED_STATE)
{
	static const uint64_t frames[] = {0x80001000, 0x401000, 0};
	struct fixture fixture;

	fixture_init(&fixture, 4);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_walk(&fixture, 101, 100, 70, 7, frames);
	assert_told(&fixture, 0, 1, ETW_STACK_WHOLE, frames);
	assert_int_equal(fixture.told[0].kernel_count, 1);
	fixture_done(&fixture);
}

static void test_attach__window_moves_on(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture, 8);
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_event(&fixture, 100, 8, 0, 2);
	fixture_walk(&fixture, 101, 100, 70, 8, kernel);
	for (uint32_t i = 0; i < ETW_STACK_WINDOW_EVENTS; i++)
		fixture_event(&fixture, 200 + i, 9, 0, 0);
	assert_int_equal(fixture.count, 1);
	assert_told(&fixture, 0, 1, ETW_STACK_NONE, nothing);
	/* Too late for the first; the second still waits for the way out. */
	fixture_walk(&fixture, 300000, 100, 70, 7, user);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->strays, 1);
	fixture_walk(&fixture, 300001, 150, 70, 8, user);
	assert_told(&fixture, 1, 2, ETW_STACK_WHOLE, both);
	fixture_done(&fixture);
}

static void test_attach__gives_up_the_oldest(UNUSED_STATE)
{
	const uint64_t events = ETW_STACK_PENDING_MAX + 10;
	struct fixture fixture;

	fixture_init(&fixture, 8);
	for (uint64_t i = 1; i <= events; i++) {
		fixture_event(&fixture, (int64_t)i, 7, 0, i);
		fixture_key(&fixture, (int64_t)i, 38, 70, 7, 0x500);
	}
	assert_int_equal(fixture.count, 10);
	assert_told(&fixture, 0, 1, ETW_STACK_UNDEFINED, nothing);
	assert_int_equal(etw_stacks_counts(fixture.stacks)->given_up, 10);
	fixture_end(&fixture);
	assert_int_equal(fixture.count, events);
	fixture_done(&fixture);
}

static void test_attach__callback_ends_the_pass(UNUSED_STATE)
{
	struct fixture fixture;
	struct made made;

	fixture_init(&fixture, 8);
	fixture.result = -ECANCELED;
	fixture_event(&fixture, 100, 7, 0, 1);
	fixture_event(&fixture, 102, 7, 0, 2);
	fixture_key(&fixture, 100, 38, 70, 7, 0x500);
	fixture_key(&fixture, 102, 38, 70, 7, 0x500);
	made_begin(&made, &made_stack_walk, 35, NO_ID, 0);
	made_number(&made, 0x500, 8);
	made_frames(&made, user);
	assert_int_equal(etw_stacks_add(fixture.stacks, &made.record, 110, false, 0), -ECANCELED);
	assert_int_equal(fixture.count, 1);
	fixture_done(&fixture);
}

static void test_attach__damaged_events_are_counted(UNUSED_STATE)
{
	struct fixture fixture;
	struct made made;

	fixture_init(&fixture, 8);
	for (unsigned opcode = 32; opcode <= 40; opcode++) {
		made_begin(&made, &made_stack_walk, opcode, NO_ID, 0);
		made_number(&made, 0, 4);
		fixture_add(&fixture, &made, 100, 0);
	}
	assert_int_equal(etw_stacks_counts(fixture.stacks)->damaged, 9);
	/* A stack cannot have one itself. */
	fixture_add(&fixture, &made, 101, 1);
	assert_told(&fixture, 0, 1, ETW_STACK_NONE, nothing);
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attach__whole_stack_at_once),
		cmocka_unit_test(test_attach__stack_of_the_same_time_is_whole),
		cmocka_unit_test(test_attach__halves_are_joined_at_the_way_out),
		cmocka_unit_test(test_attach__system_threads_have_no_other_half),
		cmocka_unit_test(test_attach__definition_comes_behind),
		cmocka_unit_test(test_attach__many_events_share_a_cached_half),
		cmocka_unit_test(test_attach__definition_that_never_comes),
		cmocka_unit_test(test_attach__best_of_one_time),
		cmocka_unit_test(test_attach__thread_in_the_payload),
		cmocka_unit_test(test_attach__unwanted_events_are_never_told_of),
		cmocka_unit_test(test_attach__stacks_in_items),
		cmocka_unit_test(test_attach__halves_in_items),
		cmocka_unit_test(test_attach__narrow_trace),
		cmocka_unit_test(test_attach__window_moves_on),
		cmocka_unit_test(test_attach__gives_up_the_oldest),
		cmocka_unit_test(test_attach__callback_ends_the_pass),
		cmocka_unit_test(test_attach__damaged_events_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
