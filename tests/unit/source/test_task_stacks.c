/* SPDX-License-Identifier: MIT */
/* Stacks of what tasks do: off their records, behind their events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "fake_source_host.h"
#include "source/kernel/events/task_stacks.h"
#include "source/kernel/out/stack_account.h"
#include "source/kernel/tracker/tracker.h"

#define STACK_HOOK    0x1820
#define PROCESS_START 0x0301
#define THREAD_START  0x0501
#define MAKER         10
#define MADE          11
#define CODE          UINT64_C(0x401000)
#define KERNEL_CODE   UINT64_C(0xFFFFFFFF81000000)
#define ALL_EVENTS    0x3F

struct framed_record {
	struct etw_kernel_unmap head;
	struct etw_kernel_framed_stack stack;
};

struct copied_record {
	struct etw_kernel_unmap head;
	struct etw_kernel_copied_stack stack;
};

static struct framed_record framed_record(uint32_t kernel_frames, uint32_t user_frames)
{
	struct framed_record record = {
		.head.head = {.tid = MAKER,
			      .pid = MAKER,
			      .stack_bytes = sizeof(record.stack),
			      .has_user = 1},
		.stack.head = {.kernel_frames = kernel_frames, .user_frames = user_frames},
	};

	for (uint32_t i = 0; i < ETW_KERNEL_KERNEL_FRAMES; i++)
		record.stack.head.kernel[i] = KERNEL_CODE + i;
	for (uint32_t i = 0; i < ETW_KERNEL_USER_FRAMES; i++)
		record.stack.user[i] = CODE + i;
	return record;
}

static void test_task_stacks__are_read_off_the_end_of_a_record(void **state)
{
	const struct etw_kernel_stack_reader reader = {0};
	struct framed_record record = framed_record(3, 2);
	struct etw_kernel_moment_stack stack;

	(void)state;
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, 5);
	assert_true(stack.is_whole);
	assert_int_equal(stack.frames[2], KERNEL_CODE + 2);
	assert_int_equal(stack.frames[3], CODE);
	/* A thread that has lost its memory. */
	record.head.head.has_user = 0;
	record.stack.head.user_frames = 0;
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, 3);
	assert_false(stack.is_whole);
	/* As many as there can be, and no more than Windows writes. */
	record = framed_record(ETW_KERNEL_KERNEL_FRAMES, ETW_KERNEL_USER_FRAMES);
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, ETW_KERNEL_KERNEL_FRAMES + ETW_KERNEL_USER_FRAMES);
	assert_true(stack.count <= ETW_KERNEL_FRAMES);
}

static void test_task_stacks__are_none_where_the_record_lies(void **state)
{
	const struct etw_kernel_stack_reader reader = {0};
	struct framed_record record = framed_record(3, 2);
	struct etw_kernel_moment_stack stack;

	(void)state;
	record.stack.head.kernel_frames = ETW_KERNEL_KERNEL_FRAMES + 1;
	assert_false(
		etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	record = framed_record(3, ETW_KERNEL_USER_FRAMES + 1);
	assert_false(
		etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	record = framed_record(0, 0);
	assert_false(
		etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	record = framed_record(3, 2);
	for (uint32_t bytes = 0; bytes <= 2 * sizeof(record); bytes += 8) {
		if (bytes == sizeof(record.stack))
			continue;
		record.head.head.stack_bytes = bytes;
		assert_false(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record),
							&stack));
	}
}

static void test_task_stacks__tell_that_a_copy_was_not_unwound(void **state)
{
	struct etw_kernel_stack_reader reader = {0};
	static struct copied_record record;
	struct etw_kernel_moment_stack stack;
	struct etw_kernel_tables tables;

	(void)state;
	record.head.head.stack_bytes = sizeof(record.stack);
	record.head.head.has_user = 1;
	record.stack.head.kernel_frames = 1;
	record.stack.head.kernel[0] = KERNEL_CODE;
	record.stack.copy.key_ns = 5;
	record.stack.copy.pc = CODE;
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, 1);
	assert_false(stack.is_whole);
	/* With nothing known of the process the innermost address is all. */
	assert_int_equal(etw_kernel_tables_init(&tables, "/nowhere"), 0);
	reader.tables = &tables;
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, 2);
	assert_int_equal(stack.frames[1], CODE);
	assert_true(stack.is_whole);
	/* One of the kernel's own threads. */
	record.stack.copy.key_ns = 0;
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, 1);
	assert_true(stack.is_whole);
	record.stack.copy.key_ns = 5;
	record.stack.copy.byte_count = ETW_KERNEL_TASK_COPY_BYTES + 1;
	assert_false(
		etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	etw_kernel_tables_done(&tables);
}

static void test_task_stacks__leave_out_what_calls_the_program(void **state)
{
	static struct etw_kernel_routines routines;
	const struct etw_kernel_stack_reader reader = {.routines = &routines};
	struct framed_record record = framed_record(3, 0);
	struct etw_kernel_moment_stack stack;

	(void)state;
	routines.tracers[1].start = KERNEL_CODE;
	routines.tracers[1].end = KERNEL_CODE + 2;
	assert_true(etw_kernel_task_stack_read(&reader, &record.head.head, sizeof(record), &stack));
	assert_int_equal(stack.count, 1);
	assert_int_equal(stack.frames[0], KERNEL_CODE + 2);
}

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_out out;
	struct etw_kernel_tracker *tracker;
	struct etw_kernel_moment_stack stack;
	struct etw_kernel_stack_account account;
};

static uint64_t count_of(const struct fixture *fixture, uint16_t hook, enum wire_stack_fate fate)
{
	return etw_kernel_stack_account_of(&fixture->account, hook)->fates[fate];
}

static void open_fixture(struct fixture *fixture, const struct etw_source_mark *marks)
{
	memset(fixture, 0, sizeof(*fixture));
	fake_source_host_init(&fixture->fake);
	assert_int_equal(etw_kernel_out_init(&fixture->out, &fixture->fake.host, marks), 0);
	fixture->tracker = etw_kernel_tracker_new(&fixture->out);
	assert_non_null(fixture->tracker);
	fixture->tracker->flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD |
				  EVENT_TRACE_FLAG_IMAGE_LOAD;
	fixture->out.stack_events = ALL_EVENTS;
	fixture->out.account = &fixture->account;
	fixture->stack = (struct etw_kernel_moment_stack){
		.count = 2, .is_whole = true, .frames = {KERNEL_CODE, CODE}};
}

static void close_fixture(struct fixture *fixture)
{
	etw_kernel_tracker_free(fixture->tracker);
	etw_kernel_out_done(&fixture->out);
}

static void apply(struct fixture *fixture, uint64_t time_ns, bool has_stack,
		  struct etw_kernel_record *record, uint32_t byte_count)
{
	record->time_ns = time_ns;
	record->tid = record->pid = MAKER;
	etw_kernel_out_begin(&fixture->out, time_ns, 0, NULL);
	fixture->out.stack = has_stack ? &fixture->stack : NULL;
	etw_kernel_tracker_apply(fixture->tracker, record, byte_count);
}

static void apply_start(struct fixture *fixture, uint64_t time_ns, bool has_stack)
{
	struct etw_kernel_new_task record = {
		.head.kind = ETW_KERNEL_NEW_TASK,
		.task = {.tid = MADE, .pid = MADE, .parent_pid = MAKER},
	};

	apply(fixture, time_ns, has_stack, &record.head, sizeof(record));
}

/* Takes the next event. Returns its hook; 0: there is none. A stack must be that of the event before. */
static uint16_t pop(struct fixture *fixture, int64_t *time_raw, struct etw_source_mark *ret_mark)
{
	struct etw_source_event event;
	uint16_t hook;

	if (!etw_kernel_out_peek(&fixture->out, 0, &event))
		return 0;
	hook = etw_load16(event.bytes + 6);
	if (hook == STACK_HOOK) {
		assert_int_equal(event.byte_count, 16 + 16 + 2 * 8);
		assert_int_equal(event.time_raw, *time_raw);
		assert_int_equal(etw_load64(event.bytes + 8), *time_raw);
		assert_int_equal(etw_load64(event.bytes + 16), *time_raw);
		assert_int_equal(etw_load32(event.bytes + 24), MAKER);
		assert_int_equal(etw_load32(event.bytes + 28), MAKER);
		assert_int_equal(etw_load64(event.bytes + 32), KERNEL_CODE);
		assert_int_equal(etw_load64(event.bytes + 40), CODE);
	} else {
		/* Who made it, not what was made. */
		assert_int_equal(etw_load32(event.bytes + 8), MAKER);
	}
	*time_raw = event.time_raw;
	etw_kernel_out_pop(&fixture->out, 0, ret_mark);
	return hook;
}

static void test_task_stacks__of_others_are_not_missing(void **state)
{
	struct etw_source_mark mark;
	struct fixture fixture;
	int64_t time_raw = 0;

	(void)state;
	open_fixture(&fixture, NULL);
	fixture.tracker->only_pid = MAKER + 1000;
	apply_start(&fixture, 100, /* has_stack= */ false);
	while (pop(&fixture, &time_raw, &mark))
		continue;
	assert_int_equal(etw_kernel_stack_account_missing(&fixture.account), 0);
	assert_int_equal(count_of(&fixture, PROCESS_START, WIRE_STACK_OF_OTHERS), 1);
	assert_int_equal(count_of(&fixture, THREAD_START, WIRE_STACK_OF_OTHERS), 1);
	/* Those of the tree are. */
	fixture.tracker->only_pid = MAKER;
	apply_start(&fixture, 200, /* has_stack= */ false);
	while (pop(&fixture, &time_raw, &mark))
		continue;
	assert_int_equal(etw_kernel_stack_account_missing(&fixture.account), 2);
	close_fixture(&fixture);
}

static void test_task_stacks__come_behind_each_event_that_is_to_have_one(void **state)
{
	struct etw_source_mark mark;
	struct fixture fixture;
	int64_t time_raw = 0;

	(void)state;
	open_fixture(&fixture, NULL);
	apply_start(&fixture, 100, /* has_stack= */ true);
	assert_int_equal(pop(&fixture, &time_raw, &mark), PROCESS_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), STACK_HOOK);
	assert_int_equal(pop(&fixture, &time_raw, &mark), THREAD_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), STACK_HOOK);
	assert_int_equal(pop(&fixture, &time_raw, &mark), 0);
	fixture.out.stack_events = ETW_KERNEL_STACK_THREAD_START;
	apply_start(&fixture, 200, /* has_stack= */ true);
	assert_int_equal(pop(&fixture, &time_raw, &mark), PROCESS_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), THREAD_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), STACK_HOOK);
	assert_int_equal(pop(&fixture, &time_raw, &mark), 0);
	assert_int_equal(etw_kernel_stack_account_missing(&fixture.account), 0);
	assert_int_equal(count_of(&fixture, PROCESS_START, WIRE_STACK_IS_THERE), 1);
	assert_int_equal(count_of(&fixture, THREAD_START, WIRE_STACK_IS_THERE), 2);
	/* What describes who is there has none, and lacks none. */
	fixture.out.stack_events = ALL_EVENTS;
	etw_kernel_out_begin(&fixture.out, 300, 0, NULL);
	etw_kernel_tracker_describe(fixture.tracker,
				    etw_kernel_tasks_find(&fixture.tracker->tasks, MADE), true);
	while (etw_kernel_out_next_ns(&fixture.out, 0) != UINT64_MAX) {
		struct etw_source_event event;

		assert_true(etw_kernel_out_peek(&fixture.out, 0, &event));
		assert_int_not_equal(etw_load16(event.bytes + 6), STACK_HOOK);
		etw_kernel_out_pop(&fixture.out, 0, &mark);
	}
	assert_int_equal(etw_kernel_stack_account_missing(&fixture.account), 0);
	close_fixture(&fixture);
}

static void test_task_stacks__that_are_missing_are_counted(void **state)
{
	struct etw_source_mark mark;
	struct fixture fixture;
	int64_t time_raw = 0;

	(void)state;
	open_fixture(&fixture, NULL);
	apply_start(&fixture, 100, /* has_stack= */ false);
	assert_int_equal(pop(&fixture, &time_raw, &mark), PROCESS_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), THREAD_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), 0);
	assert_int_equal(etw_kernel_stack_account_missing(&fixture.account), 2);
	assert_int_equal(count_of(&fixture, PROCESS_START, WIRE_STACK_NO_FRAMES), 1);
	assert_int_equal(count_of(&fixture, THREAD_START, WIRE_STACK_NO_FRAMES), 1);
	/* A part of it is told, and counted as well. */
	fixture.stack.is_whole = false;
	apply_start(&fixture, 200, /* has_stack= */ true);
	assert_int_equal(pop(&fixture, &time_raw, &mark), PROCESS_START);
	assert_int_equal(pop(&fixture, &time_raw, &mark), STACK_HOOK);
	assert_int_equal(etw_kernel_stack_account_of(&fixture.account, PROCESS_START)->without_user,
			 1);
	close_fixture(&fixture);
}

/* What follows the first @done events when another host takes over, which knows the stack. */
static void check_takeover(const uint16_t *hooks, size_t count, size_t done, bool had_stack)
{
	struct etw_source_mark marks[FAKE_CPUS] = {{0}}, mark;
	struct fixture fixture;
	int64_t time_raw = 0;

	open_fixture(&fixture, NULL);
	apply_start(&fixture, 100, had_stack);
	for (size_t i = 0; i < done; i++)
		if (had_stack || hooks[i] != STACK_HOOK)
			assert_int_equal(pop(&fixture, &time_raw, &marks[0]), hooks[i]);
	close_fixture(&fixture);

	open_fixture(&fixture, marks);
	apply_start(&fixture, 100, /* has_stack= */ true);
	time_raw = 100 * FAKE_TICKS_PER_NS;
	for (size_t i = done; i < count; i++)
		assert_int_equal(pop(&fixture, &time_raw, &mark), hooks[i]);
	assert_int_equal(pop(&fixture, &time_raw, &mark), 0);
	close_fixture(&fixture);
}

/* Wherever the first host died, and whether it knew the stack or not: no event comes twice, none is lost. */
static void test_task_stacks__are_taken_over_one_by_one(void **state)
{
	static const uint16_t hooks[] = {PROCESS_START, STACK_HOOK, THREAD_START, STACK_HOOK};

	(void)state;
	for (size_t done = 0; done <= ARRAY_SIZE(hooks); done++)
		check_takeover(hooks, ARRAY_SIZE(hooks), done, /* had_stack= */ true);
	check_takeover(hooks, ARRAY_SIZE(hooks), 1, /* had_stack= */ false);
	check_takeover(hooks, ARRAY_SIZE(hooks), 3, /* had_stack= */ false);
}

static void test_task_stacks__of_mappings_wait_for_them(void **state)
{
	const struct etw_kernel_map call = {
		.head.time_ns = 100, .byte_count = 0x1800, .file_offset = 0x1000};
	const struct etw_kernel_map rights = {
		.head.time_ns = 100, .start = CODE, .byte_count = 0x1000};
	struct etw_kernel_mapping mapping = {
		.start = CODE, .byte_count = 0x2000, .file_offset = 0x1000, .is_executable = true};
	const struct etw_kernel_moment_stack stack = {.count = 1, .frames = {CODE}};
	struct etw_kernel_map_stack *kept = NULL;
	const struct etw_kernel_moment_stack *found;

	(void)state;
	assert_null(etw_kernel_map_stack_of(kept, &mapping, 200));
	etw_kernel_map_stack_set(&kept, &call, &stack);
	found = etw_kernel_map_stack_of(kept, &mapping, 200);
	assert_non_null(found);
	assert_int_equal(found->count, 1);
	assert_int_equal(found->frames[0], CODE);
	/* A mapping from before the call, and one that the call did not make. */
	assert_null(etw_kernel_map_stack_of(kept, &mapping, 99));
	mapping.file_offset = 0;
	assert_null(etw_kernel_map_stack_of(kept, &mapping, 200));
	mapping.file_offset = 0x1000;
	mapping.byte_count = 0x3000;
	assert_null(etw_kernel_map_stack_of(kept, &mapping, 200));
	etw_kernel_map_stack_set(&kept, &rights, &stack);
	assert_non_null(etw_kernel_map_stack_of(kept, &mapping, 200));
	mapping.start = CODE + 0x1000;
	assert_null(etw_kernel_map_stack_of(kept, &mapping, 200));
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_stacks__are_read_off_the_end_of_a_record),
		cmocka_unit_test(test_task_stacks__are_none_where_the_record_lies),
		cmocka_unit_test(test_task_stacks__tell_that_a_copy_was_not_unwound),
		cmocka_unit_test(test_task_stacks__leave_out_what_calls_the_program),
		cmocka_unit_test(test_task_stacks__of_others_are_not_missing),
		cmocka_unit_test(test_task_stacks__come_behind_each_event_that_is_to_have_one),
		cmocka_unit_test(test_task_stacks__that_are_missing_are_counted),
		cmocka_unit_test(test_task_stacks__are_taken_over_one_by_one),
		cmocka_unit_test(test_task_stacks__of_mappings_wait_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
