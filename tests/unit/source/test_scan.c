/* SPDX-License-Identifier: MIT */
/* Who was there, against the records that came meanwhile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "fake_procfs.h"
#include "fake_source_host.h"
#include "source/kernel/tracker/scan.h"

#define TICK_NS UINT64_C(10000000)

static char root[] = "/tmp/etw-scan-XXXXXX";

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_out out;
	struct etw_kernel_tracker *tracker;
	struct etw_kernel_heap heap;
	struct etw_kernel_stream stream;
	uint64_t until_ns; /* 0: everything */
};

static void put_process(unsigned pid, const char *state, unsigned start_ticks)
{
	fake_process(root, pid, state, start_ticks);
}

static void put_thread(unsigned pid, unsigned tid, unsigned start_ticks)
{
	fake_thread(root, pid, tid, "S", start_ticks);
}

/* A record that says that a task has started. */
static struct etw_kernel_item *put_record(struct fixture *fixture, uint32_t pid, uint32_t tid,
					  uint64_t start_ticks)
{
	struct etw_kernel_item *item = calloc(1,
					      sizeof(*item) + sizeof(struct etw_kernel_new_task));
	struct etw_kernel_new_task *record = (void *)item->bytes;

	record->head.kind = ETW_KERNEL_NEW_TASK;
	record->task.pid = pid;
	record->task.tid = tid;
	record->task.start_ns = start_ticks * TICK_NS + 12345;
	item->record = record;
	item->byte_count = sizeof(*record);
	assert_int_equal(etw_kernel_heap_add(&fixture->heap, &fixture->stream, item), 0);
	return item;
}

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	fake_source_host_init(&fixture.fake);
	assert_int_equal(etw_kernel_out_init(&fixture.out, &fixture.fake.host, NULL), 0);
	fixture.tracker = etw_kernel_tracker_new(&fixture.out);
	fixture.tracker->ns_per_tick = TICK_NS;
	fixture.tracker->flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD |
				 EVENT_TRACE_FLAG_IMAGE_LOAD;
	etw_kernel_out_begin(&fixture.out, 100, 0, NULL);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_tracker_free(fixture->tracker);
	etw_kernel_heap_done(&fixture->heap);
	etw_kernel_stream_done(&fixture->stream);
	etw_kernel_out_done(&fixture->out);
	fake_end(root);
	return 0;
}

/* Walks, applies, and counts events by hook into @counts; index 0 is everything. */
static void run(struct fixture *fixture, bool want_images, bool describe, unsigned counts[8])
{
	struct etw_kernel_scan_wish wish = {.describe = describe, .until_ns = UINT64_MAX};
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct etw_kernel_scan *scan;

	if (fixture->until_ns)
		wish.until_ns = fixture->until_ns;
	memset(counts, 0, 8 * sizeof(counts[0]));
	assert_int_equal(etw_kernel_scan_take(root, want_images, &scan), 0);
	assert_int_equal(etw_kernel_scan_apply(scan, fixture->tracker, &fixture->heap, &wish), 0);
	etw_kernel_scan_free(scan);
	while (etw_kernel_out_peek(&fixture->out, 0, &event)) {
		unsigned group = etw_load16(event.bytes + 6) >> 8;

		counts[0]++;
		if (group == 3)
			counts[3]++;
		else if (group == 5)
			counts[5]++;
		else
			counts[7]++;
		etw_kernel_out_pop(&fixture->out, 0, &mark);
	}
}

static void test_scan__describes_who_is_there(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_process *process;
	unsigned counts[8];

	put_process(20, "S", 500);
	put_thread(20, 21, 501);
	put_process(30, "S", 600);
	run(fixture, true, true, counts);
	assert_int_equal(counts[3], 2);
	assert_int_equal(counts[5], 3);
	assert_int_equal(counts[7], 2);
	process = etw_kernel_tasks_find(&fixture->tracker->tasks, 20);
	assert_non_null(process);
	assert_int_equal(process->uid, 2);
	assert_int_equal(process->start_ticks, 500);
	assert_string_equal(etw_kernel_text_string(process->name), "task-20");
	assert_memory_equal(process->command_line->at, "a\0 \0b\0\0", 8);
	assert_int_equal(process->images->at[0].base, 0x1000);
	assert_int_equal(process->images->at[0].end, 0x3000);
}

static void test_scan__the_dead_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "Z", 500);
	put_process(30, "Z", 600); /* its main thread ended, another goes on */
	put_thread(30, 31, 601);
	fake_text(root, "40/status", "gone\n");
	run(fixture, false, true, counts);
	assert_int_equal(counts[3], 1);
	assert_int_equal(counts[5], 1);
	assert_int_equal(counts[7], 0);
	assert_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 20));
	assert_non_null(etw_kernel_tasks_find_thread(&fixture->tracker->tasks, 31));
}

static void test_scan__who_has_started_is_not_there_before(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "S", 500);
	put_process(30, "S", 600);
	put_thread(30, 31, 700);
	put_record(fixture, 20, 20, 500); /* the same: it starts */
	put_record(fixture, 30, 30, 900); /* another one, later: this one was there */
	put_record(fixture, 30, 31, 700);
	run(fixture, false, true, counts);
	assert_int_equal(counts[3], 1);
	assert_int_equal(counts[5], 1);
	assert_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 20));
	assert_null(etw_kernel_tasks_find_thread(&fixture->tracker->tasks, 31));
}

/* Copies of stacks and records of mappings have other layouts, whose bytes may look as if a task had started. */
static void test_scan__other_records_start_nobody(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "S", 500);
	put_process(30, "S", 600);
	put_record(fixture, 20, 20, 500)->is_stack = true;
	put_record(fixture, 30, 30, 600)->is_mapping = true;
	run(fixture, false, true, counts);
	assert_int_equal(counts[3], 2);
	assert_int_equal(counts[5], 2);
	assert_non_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 20));
	assert_non_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 30));
}

/* A thread's end is the first that a host hears of a process: it was there, and is described. */
static void test_scan__who_is_guessed_is_described(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_exit record = {.task = {.pid = 20, .tid = 21, .start_ns = 501 * TICK_NS}};
	unsigned counts[8];

	record.head.kind = ETW_KERNEL_EXIT;
	record.task.process_start_ns = 500 * TICK_NS;
	etw_kernel_tracker_apply(fixture->tracker, &record.head, sizeof(record));
	assert_int_equal(etw_kernel_tasks_find(&fixture->tracker->tasks, 20)->start_ticks, 500);
	put_process(20, "S", 500);
	run(fixture, false, true, counts);
	assert_int_equal(counts[3], 1);
	assert_int_equal(counts[5], 2); /* with the end of the thread that was not known */
	assert_string_equal(
		etw_kernel_text_string(etw_kernel_tasks_find(&fixture->tracker->tasks, 20)->name),
		"task-20");
}

static void test_scan__who_is_known_is_not_described(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "S", 500);
	put_process(30, "S", 600);
	etw_kernel_tasks_add(&fixture->tracker->tasks, 20)->start_ticks = 500;
	etw_kernel_tasks_add(&fixture->tracker->tasks, 30)->start_ticks = 7; /* somebody before */
	run(fixture, false, true, counts);
	assert_int_equal(counts[3], 1);
	assert_int_equal(etw_kernel_tasks_find(&fixture->tracker->tasks, 30)->start_ticks, 600);
}

static void test_scan__fills_without_a_word(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "S", 500);
	run(fixture, true, false, counts);
	assert_int_equal(counts[0], 0);
	assert_non_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 20));
}

static void test_scan__images_that_are_wanted_later(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "S", 500);
	run(fixture, false, true, counts);
	assert_int_equal(counts[7], 0);
	run(fixture, true, true, counts);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[7], 1);
	run(fixture, true, true, counts);
	assert_int_equal(counts[0], 0);
}

static void test_scan__once_more_for_a_dead_host(void **state)
{
	struct fixture *fixture = *state;
	unsigned counts[8];

	put_process(20, "S", 500);
	put_process(30, "S", 501);
	fixture->until_ns = 500 * TICK_NS + 1;
	run(fixture, false, true, counts);
	assert_int_equal(counts[3], 1);
	assert_non_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 30));
}

static void test_scan__corrects_after_loss(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_scan *scan;

	put_process(20, "S", 500);
	etw_kernel_tasks_add(&fixture->tracker->tasks, 20)->start_ticks = 500;
	etw_kernel_tasks_add(&fixture->tracker->tasks, 30);
	assert_int_equal(etw_kernel_scan_take(root, false, &scan), 0);
	etw_kernel_scan_correct(scan, fixture->tracker);
	etw_kernel_scan_free(scan);
	assert_non_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 20));
	assert_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 30));
	assert_int_equal(fixture->tracker->tasks.process_count, 1);
}

static void test_scan__no_procfs(void **state)
{
	struct etw_kernel_scan *scan;

	(void)state;
	assert_int_equal(etw_kernel_scan_take("/nowhere", false, &scan), -ENOENT);
	etw_kernel_scan_free(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_scan__describes_who_is_there),
		TEST(test_scan__the_dead_are_left_out),
		TEST(test_scan__who_has_started_is_not_there_before),
		TEST(test_scan__other_records_start_nobody),
		TEST(test_scan__who_is_guessed_is_described),
		TEST(test_scan__who_is_known_is_not_described),
		TEST(test_scan__fills_without_a_word),
		TEST(test_scan__images_that_are_wanted_later),
		TEST(test_scan__once_more_for_a_dead_host),
		TEST(test_scan__corrects_after_loss),
		TEST(test_scan__no_procfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
