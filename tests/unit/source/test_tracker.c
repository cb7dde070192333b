/* SPDX-License-Identifier: MIT */
/* What records do to processes and threads, and which events follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"
#include "fake_source_host.h"
#include "source/kernel/tracker/tracker.h"
#include "wire/etl_event.h"
#include "wire/image_symbols.h"

#define ALL     (EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD)
#define TICK_NS 10000000 /* of the start times in procfs and in keys, at 100 Hz */

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_out out;
	struct etw_kernel_tracker *tracker;
	uint64_t time_ns;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fake_source_host_init(&fixture.fake);
	assert_int_equal(etw_kernel_out_init(&fixture.out, &fixture.fake.host, NULL), 0);
	fixture.tracker = etw_kernel_tracker_new(&fixture.out);
	assert_non_null(fixture.tracker);
	fixture.tracker->flags = ALL;
	fixture.time_ns = 1000;
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_tracker_free(fixture->tracker);
	etw_kernel_out_done(&fixture->out);
	return 0;
}

static struct etw_kernel_task task_of(uint32_t pid, uint32_t tid, uint32_t parent, const char *name)
{
	struct etw_kernel_task task = {.start_ns = (uint64_t)tid * TICK_NS,
				       .process_start_ns = (uint64_t)pid * TICK_NS,
				       .tid = tid,
				       .pid = pid,
				       .parent_pid = parent,
				       .uid = 7,
				       .session_id = UINT32_MAX};

	snprintf(task.name, sizeof(task.name), "%s", name);
	return task;
}

static void apply(struct fixture *fixture, struct etw_kernel_record *head, uint32_t kind,
		  uint32_t pid, uint32_t tid, uint32_t bytes)
{
	fixture->time_ns += 10;
	*head = (struct etw_kernel_record){
		.time_ns = fixture->time_ns, .kind = kind, .tid = tid, .pid = pid};
	etw_kernel_out_begin(&fixture->out, fixture->time_ns, 0, NULL);
	etw_kernel_tracker_apply(fixture->tracker, head, bytes);
}

static void make(struct fixture *fixture, uint32_t maker, uint32_t pid, uint32_t tid,
		 uint32_t flags)
{
	struct etw_kernel_new_task record = {.task = task_of(pid, tid, maker, "made")};

	record.task.flags = flags;
	apply(fixture, &record.head, ETW_KERNEL_NEW_TASK, maker, maker, sizeof(record));
}

static void end(struct fixture *fixture, uint32_t pid, uint32_t tid, bool is_last, uint32_t status)
{
	struct etw_kernel_exit record = {
		.task = task_of(pid, tid, 1, "ended"), .is_last = is_last, .status = status};

	apply(fixture, &record.head, ETW_KERNEL_EXIT, pid, tid, sizeof(record));
}

static void take_program(struct fixture *fixture, uint32_t pid, uint32_t old_tid, const char *file,
			 const char *name, const char *arguments, uint32_t argument_bytes)
{
	struct etw_kernel_exec *record = calloc(1, sizeof(*record) + 256);

	assert_non_null(record);
	record->task = task_of(pid, pid, 1, name);
	record->old_tid = old_tid;
	record->file_bytes = (uint32_t)snprintf(record->file, sizeof(record->file), "%s", file) + 1;
	memcpy(record->arguments, arguments, argument_bytes);
	record->argument_bytes = argument_bytes;
	apply(fixture, &record->head, ETW_KERNEL_EXEC, pid, pid, (uint32_t)sizeof(*record) + 256);
	free(record);
}

static void map(struct fixture *fixture, uint32_t pid, uint64_t start, const char *path)
{
	struct etw_kernel_mapping mapping = {
		.start = start, .byte_count = 0x1000, .path = path, .is_executable = true};

	fixture->time_ns += 10;
	etw_kernel_out_begin(&fixture->out, fixture->time_ns, 0, NULL);
	etw_kernel_tracker_map(fixture->tracker, pid, pid, &mapping);
}

/* Of an event about symbols: whose, and how many they are or whose they are, too. */
static void append_symbols(char *text, size_t room, const uint8_t *event)
{
	const uint8_t *item = event + sizeof(struct wire_event_header);
	struct etw_image_symbols_cursor cursor;
	struct etw_image_symbols_part part;
	struct etw_image_symbols_heir heir;
	struct etw_bytes schema, payload;

	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	schema = (struct etw_bytes){item + 8, etw_load16(item + 6)};
	item += etw_load16(item);
	payload = (struct etw_bytes){item, etw_load16(event) - (size_t)(item - event)};
	if (etw_image_symbols_parse(schema, payload, &part, &cursor))
		snprintf(text, room, "S%u:%u ", part.process_id, part.count);
	else if (etw_image_symbols_heir_parse(schema, payload, &heir))
		snprintf(text, room, "H%u=%u ", heir.process_id, heir.of_process);
	else
		snprintf(text, room, "? ");
}

/* An event as a word: class and opcode, pid, and what tells it from others. */
static void append_event(char *text, size_t room, const uint8_t *at)
{
	unsigned hook = etw_load16(at + 6);
	const uint8_t *payload = at + (at[2] == 17 ? 0x10 : 0x20);
	size_t used = strlen(text);
	const char *name;
	CLEANUP(freep) char *wide = NULL;

	if (at[2] == WIRE_HEADER_EVENT64) {
		append_symbols(text + used, room - used, at);
	} else if (hook >> 8 == 3 && (hook & 0xFF) == 32) {
		snprintf(text + used, room - used, "C%u:%u ", hook & 0xFF, etw_load32(payload));
	} else if (hook >> 8 == 3 && (hook & 0xFF) != 10) {
		name = (const char *)payload + 68;
		wide = etw_utf16_to_utf8((const uint8_t *)name + strlen(name) + 1, 200);
		if (wide)
			wide[strcspn(wide, "\n")] = '\0';
		snprintf(text + used, room - used, "P%u:%u<%u=%x(%s|%s) ", hook & 0xFF,
			 etw_load32(payload + 8), etw_load32(payload + 12),
			 etw_load32(payload + 20), name, wide ? wide : "?");
	} else if (hook >> 8 == 5) {
		snprintf(text + used, room - used, "T%u:%u.%u ", hook & 0xFF, etw_load32(payload),
			 etw_load32(payload + 4));
	} else {
		snprintf(text + used, room - used, "I%u:%u@%llx ", hook & 0xFF,
			 etw_load32(payload + 16), (unsigned long long)etw_load64(payload));
	}
}

static void expect(struct fixture *fixture, const char *text)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	char found[4096] = "";

	while (etw_kernel_out_peek(&fixture->out, 0, &event)) {
		uint8_t bytes[1024] = {0};

		memcpy(bytes, event.bytes,
		       event.byte_count < sizeof(bytes) ? event.byte_count : sizeof(bytes));
		append_event(found, sizeof(found), bytes);
		etw_kernel_out_pop(&fixture->out, 0, &mark);
	}
	assert_string_equal(found, text);
}

/* A process 10 that runs "sh -c", quietly. */
static void begin_shell(struct fixture *fixture)
{
	fixture->tracker->flags = 0;
	make(fixture, 1, 10, 10, 0);
	take_program(fixture, 10, 10, "/bin/sh", "sh", "sh\0-c", 6);
	map(fixture, 10, 0x1000, "/bin/sh");
	fixture->tracker->flags = ALL;
	expect(fixture, "");
	fixture->tracker->incomplete = 0;
}

static void test_tracker__a_fork_is_a_start(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	make(fixture, 10, 20, 20, 0);
	expect(fixture, "P1:20<10=0(sh|sh -c) T1:20.20 I10:20@1000 ");
	make(fixture, 20, 20, 21, ETW_KERNEL_TASK_SHARES_MEMORY);
	expect(fixture, "T1:20.21 ");
	end(fixture, 20, 21, false, 0);
	expect(fixture, "T2:20.21 ");
	end(fixture, 20, 20, true, 0x300);
	expect(fixture, "I2:20@1000 T2:20.20 P2:20<1=300(sh|sh -c) ");
	assert_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 20));
	assert_int_equal(fixture->tracker->incomplete, 0);
}

static void test_tracker__an_exec_is_an_end_and_a_start(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	make(fixture, 10, 20, 20, ETW_KERNEL_TASK_SHARES_MEMORY);
	expect(fixture, "P1:20<10=0(sh|sh -c) T1:20.20 "); /* no images in another's memory */
	etw_kernel_tracker_begin_exec(fixture->tracker, 20);
	map(fixture, 20, 0x5000, "/bin/ls");
	expect(fixture, "");
	take_program(fixture, 20, 20, "/bin/ls", "ls", "ls\0a b", 7);
	expect(fixture, "T2:20.20 P2:20<10=0(sh|sh -c) P1:20<1=0(ls|ls \"a b\") T1:20.20 "
			"I10:20@5000 ");
	map(fixture, 20, 0x9000, "/lib/c.so");
	expect(fixture, "I10:20@9000 ");
	etw_kernel_tracker_begin_exec(fixture->tracker, 20);
	map(fixture, 20, 0x5000, "/bin/cat");
	take_program(fixture, 20, 20, "/bin/cat", "cat", "cat", 4);
	expect(fixture, "I2:20@5000 I2:20@9000 T2:20.20 P2:20<1=0(ls|ls \"a b\") "
			"P1:20<1=0(cat|cat) T1:20.20 I10:20@5000 ");
}

static void test_tracker__a_thread_execs(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	make(fixture, 10, 10, 11, ETW_KERNEL_TASK_SHARES_MEMORY);
	end(fixture, 10, 10, false, 0);
	expect(fixture, "T1:10.11 T2:10.10 ");
	take_program(fixture, 10, 11, "/x", "x", "x", 2);
	expect(fixture, "I2:10@1000 T2:10.11 P2:10<1=0(sh|sh -c) P1:10<1=0(x|x) T1:10.10 ");
	assert_null(etw_kernel_tasks_find_thread(&fixture->tracker->tasks, 11));
	assert_non_null(etw_kernel_tasks_find_thread(&fixture->tracker->tasks, 10));
}

static void test_tracker__the_last_thread_ends_the_group(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	make(fixture, 10, 10, 11, ETW_KERNEL_TASK_SHARES_MEMORY);
	end(fixture, 10, 10, false, 0); /* the main thread */
	expect(fixture, "T1:10.11 T2:10.10 ");
	end(fixture, 10, 11, true, 9);
	expect(fixture, "I2:10@1000 T2:10.11 P2:10<1=9(sh|sh -c) ");
}

/* Two threads end at once: the record of the group's end comes first. */
static void test_tracker__a_late_thread_ends_with_its_group(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	make(fixture, 10, 10, 11, ETW_KERNEL_TASK_SHARES_MEMORY);
	expect(fixture, "T1:10.11 ");
	end(fixture, 10, 11, true, 0);
	expect(fixture, "I2:10@1000 T2:10.11 T2:10.10 P2:10<1=0(sh|sh -c) ");
	assert_non_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 10));
	end(fixture, 10, 10, true,
	    0); /* before Linux 6.16 it may take itself for the last one too */
	expect(fixture, "");
	assert_null(etw_kernel_tasks_find(&fixture->tracker->tasks, 10));
	assert_int_equal(fixture->tracker->tasks.process_count, 0);
	assert_int_equal(fixture->tracker->tasks.thread_count, 0);
}

static void test_tracker__unknown_processes_are_incomplete(void **state)
{
	struct fixture *fixture = *state;

	end(fixture, 30, 30, true, 0);
	expect(fixture, "T2:30.30 P2:30<1=0(ended|) ");
	assert_int_equal(fixture->tracker->incomplete, 1);
	make(fixture, 40, 40, 41, ETW_KERNEL_TASK_SHARES_MEMORY);
	expect(fixture, "T1:40.41 ");
	assert_int_equal(fixture->tracker->incomplete, 2);
	take_program(fixture, 50, 50, "/x", "x", "x", 2);
	expect(fixture, "T2:50.50 P2:50<1=0(x|) P1:50<1=0(x|x) T1:50.50 ");
}

static void test_tracker__a_pid_is_used_again(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	make(fixture, 10, 20, 20, 0);
	make(fixture, 10, 20, 20, 0); /* the end between them is lost */
	expect(fixture, "P1:20<10=0(sh|sh -c) T1:20.20 I10:20@1000 "
			"P1:20<10=0(sh|sh -c) T1:20.20 I10:20@1000 ");
	assert_int_equal(fixture->tracker->tasks.process_count, 2);
}

/* The next process event's key: others are taken too. */
static uint64_t next_key(struct fixture *fixture)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	uint64_t key = 0;

	while (!key && etw_kernel_out_peek(&fixture->out, 0, &event)) {
		unsigned hook = etw_load16(event.bytes + 6);

		if (hook == 0x0301 || hook == 0x0302)
			key = etw_load64(event.bytes + 0x20);
		etw_kernel_out_pop(&fixture->out, 0, &mark);
	}
	return key;
}

static void regress_9_another_key_when_the_main_thread_ends_first(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t key = UINT64_C(20) << 32 | 20;

	begin_shell(fixture);
	make(fixture, 10, 20, 20, 0);
	make(fixture, 20, 20, 25, ETW_KERNEL_TASK_SHARES_MEMORY);
	assert_int_equal(next_key(fixture), key);
	end(fixture, 20, 20, false, 0);
	end(fixture, 20, 25, true, 0x400);
	assert_int_equal(next_key(fixture), key);
	/* Of a process that nobody announced a thread's record is the first. */
	make(fixture, 30, 30, 33, ETW_KERNEL_TASK_SHARES_MEMORY);
	end(fixture, 30, 33, true, 0);
	assert_int_equal(next_key(fixture), UINT64_C(30) << 32 | 30);
}

static void test_tracker__flags_choose_the_classes(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	fixture->tracker->flags = EVENT_TRACE_FLAG_THREAD;
	make(fixture, 10, 20, 20, 0);
	expect(fixture, "T1:20.20 ");
	fixture->tracker->flags = EVENT_TRACE_FLAG_PROCESS;
	end(fixture, 20, 20, true, 0);
	expect(fixture, "P2:20<1=0(sh|sh -c) ");
}

static void test_tracker__kernel_threads_have_a_name_alone(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, 2, 60, 60, ETW_KERNEL_TASK_KTHREAD);
	expect(fixture, "P1:60<2=0(made|) T1:60.60 ");
}

static void test_tracker__long_names_come_from_the_file(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	fixture->tracker->flags = EVENT_TRACE_FLAG_PROCESS;
	take_program(fixture, 10, 10, "/usr/bin/a-name-of-twenty-ch", "a-name-of-twent", "x", 2);
	take_program(fixture, 10, 10, "/bin/other", "a-name-of-twent", "x", 2);
	expect(fixture, "P2:10<1=0(sh|sh -c) P1:10<1=0(a-name-of-twenty-ch|x) "
			"P2:10<1=0(a-name-of-twenty-ch|x) P1:10<1=0(a-name-of-twent|x) ");
}

static void test_tracker__unmaps_unload(void **state)
{
	struct etw_kernel_unmap record = {.start = 0x1000, .byte_count = 0x1000};
	struct fixture *fixture = *state;

	begin_shell(fixture);
	apply(fixture, &record.head, ETW_KERNEL_UNMAP, 10, 10, sizeof(record));
	expect(fixture, "I2:10@1000 ");
	apply(fixture, &record.head, ETW_KERNEL_UNMAP, 10, 10, sizeof(record));
	apply(fixture, &record.head, ETW_KERNEL_UNMAP, 99, 99, sizeof(record));
	expect(fixture, "");
}

static void test_tracker__short_and_unknown_records_are_ignored(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_exec record = {.old_tid = 5, .argument_bytes = 4096};

	for (uint32_t kind = 0; kind < 8; kind++)
		for (uint32_t bytes = 0; bytes < sizeof(struct etw_kernel_unmap); bytes += 4)
			apply(fixture, &record.head, kind, 1, 1, bytes);
	expect(fixture, "");
	/* Says that it has more arguments than it has bytes. */
	record.task = task_of(5, 5, 1, "x");
	apply(fixture, &record.head, ETW_KERNEL_EXEC, 5, 5, sizeof(record));
	expect(fixture, "T2:5.5 P2:5<1=0(x|) P1:5<1=0(x|) T1:5.5 ");
}

/* Ticks in the header of the next event of this hook; others are taken too. */
static void expect_ticks(struct fixture *fixture, uint16_t hook, uint32_t kernel, uint32_t user)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	bool is_found = false;

	while (!is_found && etw_kernel_out_peek(&fixture->out, 0, &event)) {
		is_found = etw_load16(event.bytes + 6) == hook;
		if (is_found) {
			assert_int_equal(etw_load32(event.bytes + 24), kernel);
			assert_int_equal(etw_load32(event.bytes + 28), user);
		}
		etw_kernel_out_pop(&fixture->out, 0, &mark);
	}
	assert_true(is_found);
}

static void test_tracker__ends_have_the_cpu_time(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_exec exec = {.task = task_of(10, 10, 1, "x"), .old_tid = 10};
	struct etw_kernel_exit exit = {.task = task_of(10, 10, 1, "x"), .is_last = 1};

	begin_shell(fixture);
	assert_int_equal(fixture->tracker->cpu_time.tick_ns, 1000000);
	exec.task.runtime_ns = 8400000;
	exec.task.user_ns = 3;
	exec.task.system_ns = 1;
	apply(fixture, &exec.head, ETW_KERNEL_EXEC, 10, 10, sizeof(exec));
	expect_ticks(fixture, 0x0502, 2, 6);
	expect_ticks(fixture, 0x0501, 0, 0);
	exit.task.runtime_ns = 108400000; /* since the thread's start: the program has the rest */
	exit.task.user_ns = 1;
	apply(fixture, &exit.head, ETW_KERNEL_EXIT, 10, 10, sizeof(exit));
	expect_ticks(fixture, 0x0502, 0, 100);
}

/* Whole milliseconds at once since the scheduler's last look at its clock, which is 500 ns behind. */
static void test_tracker__what_the_scheduler_has_not_seen_counts(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_new_task made = {.task = task_of(11, 11, 10, "y")};
	struct etw_kernel_exit exit = {.task = task_of(11, 11, 10, "y"), .is_last = 1};

	begin_shell(fixture);
	fixture->time_ns = 2000000000;
	made.task.clock_ns = fixture->time_ns + 10 - 500; /* of apply()'s next record */
	apply(fixture, &made.head, ETW_KERNEL_NEW_TASK, 10, 10, sizeof(made));
	fixture->time_ns += 3000000;
	exit.task.runtime_ns = 4000000;
	exit.task.clock_ns = made.task.clock_ns;
	apply(fixture, &exit.head, ETW_KERNEL_EXIT, 11, 11, sizeof(exit));
	expect_ticks(fixture, 0x0502, 0, 7);
}

static void test_tracker__counters_come_before_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_exit exit = {
		.task = task_of(10, 10, 1, "x"), .is_last = 1, .counters = {.is_known = 1}};

	begin_shell(fixture);
	fixture->tracker->flags |= EVENT_TRACE_FLAG_PROCESS_COUNTERS;
	apply(fixture, &exit.head, ETW_KERNEL_EXIT, 10, 10, sizeof(exit));
	expect(fixture, "C32:10 I2:10@1000 T2:10.10 P2:10<1=0(sh|sh -c) ");
	/* Those that nobody asked for were not counted. */
	begin_shell(fixture);
	exit.counters.is_known = 0;
	apply(fixture, &exit.head, ETW_KERNEL_EXIT, 10, 10, sizeof(exit));
	expect(fixture, "I2:10@1000 T2:10.10 P2:10<1=0(sh|sh -c) ");
}

static void test_tracker__a_name_that_a_thread_gets_stays(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_rename rename = {.tid = 10, .pid = 10, .name = "0123456789abcdef"};
	const struct etw_kernel_thread *thread;

	begin_shell(fixture);
	apply(fixture, &rename.head, ETW_KERNEL_RENAME, 10, 10, sizeof(rename));
	expect(fixture, "T72:10.10 ");
	thread = etw_kernel_tasks_find_thread(&fixture->tracker->tasks, 10);
	assert_string_equal(thread->name, "0123456789abcde");
	fixture->tracker->flags &= ~(uint32_t)EVENT_TRACE_FLAG_THREAD;
	apply(fixture, &rename.head, ETW_KERNEL_RENAME, 10, 10, sizeof(rename));
	expect(fixture, "");
}

static void test_tracker__what_a_thread_had_is_told_at_its_end(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_new_task made = {.task = task_of(10, 11, 1, "made")};
	const struct etw_kernel_thread *thread;
	struct etw_source_event event;
	struct etw_source_mark mark;

	begin_shell(fixture);
	made.task.user_stack = 0x1000;
	made.task.priority = 120;
	apply(fixture, &made.head, ETW_KERNEL_NEW_TASK, 10, 10, sizeof(made));
	expect(fixture, "T1:10.11 ");
	thread = etw_kernel_tasks_find_thread(&fixture->tracker->tasks, 11);
	assert_int_equal(thread->facts.priority, 8);
	end(fixture, 10, 11, false, 0); /* without a stack */
	assert_true(etw_kernel_out_peek(&fixture->out, 0, &event));
	assert_int_equal(etw_load64(event.bytes + 0x38), 0x1000);
	etw_kernel_out_pop(&fixture->out, 0, &mark);
}

static void test_tracker__rundown_describes(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	etw_kernel_tracker_describe(fixture->tracker,
				    etw_kernel_tasks_find(&fixture->tracker->tasks, 10), false);
	expect(fixture, "P3:10<1=0(sh|sh -c) T3:10.10 I3:10@1000 ");
	etw_kernel_tracker_describe(fixture->tracker,
				    etw_kernel_tasks_find(&fixture->tracker->tasks, 10), true);
	expect(fixture, "P4:10<1=0(sh|sh -c) T4:10.10 I4:10@1000 ");
}

static void announce(struct fixture *fixture, uint32_t pid, enum etw_announced_act act)
{
	static const uint8_t symbols[] = "\x10\0\0\0\0\0\0\0\x08\0\0\0greet";
	const struct etw_announced_image head = {.pid = pid,
						 .base = 0x9000,
						 .byte_count = 0x1000,
						 .path_bytes = 4,
						 .symbol_bytes = sizeof(symbols)};
	struct etw_announced_news news = {.act = act};

	news.image = etw_announced_image_new(&head, "code", symbols);
	assert_non_null(news.image);
	fixture->time_ns += 10;
	etw_kernel_out_begin(&fixture->out, fixture->time_ns, 0, NULL);
	etw_kernel_tracker_announced(fixture->tracker, &news);
	etw_announced_image_unref(news.image);
}

/* However many have inherited them: in the trace and in each description of the machine. */
static void test_tracker__names_are_told_once(void **state)
{
	struct fixture *fixture = *state;
	const struct etw_kernel_process *process;

	begin_shell(fixture);
	fixture->tracker->flags = EVENT_TRACE_FLAG_IMAGE_LOAD;
	announce(fixture, 10, ETW_ANNOUNCED_LOADED);
	expect(fixture, "I10:10@9000 S10:1 ");
	announce(fixture, 10, ETW_ANNOUNCED_MORE);
	expect(fixture, "S10:1 ");
	make(fixture, 10, 20, 20, 0);
	expect(fixture, "I10:20@1000 I10:20@9000 H20=10 ");
	make(fixture, 20, 30, 30, 0);
	expect(fixture, "I10:30@1000 I10:30@9000 H30=20 ");
	for (int i = 0; i < 2; i++) {
		etw_kernel_tracker_begin_description(fixture->tracker);
		for (uint32_t pid = 20; pid <= 30; pid += 10) {
			process = etw_kernel_tasks_find(&fixture->tracker->tasks, pid);
			etw_kernel_tracker_describe_images(fixture->tracker, process);
		}
		expect(fixture, "I3:20@1000 I3:20@9000 S20:1 S20:1 I3:30@1000 I3:30@9000 H30=20 ");
	}
}

/* The trace has no names of a process whose images are left out. */
static void test_tracker__names_of_a_tree_are_its_own(void **state)
{
	struct fixture *fixture = *state;

	begin_shell(fixture);
	fixture->tracker->flags = EVENT_TRACE_FLAG_IMAGE_LOAD;
	fixture->tracker->only_pid = 20;
	announce(fixture, 10, ETW_ANNOUNCED_LOADED);
	expect(fixture, "");
	make(fixture, 10, 20, 20, 0);
	expect(fixture, "I10:20@1000 I10:20@9000 S20:1 ");
	make(fixture, 20, 30, 30, 0);
	expect(fixture, "I10:30@1000 I10:30@9000 H30=20 ");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tracker__a_fork_is_a_start),
		TEST(test_tracker__an_exec_is_an_end_and_a_start),
		TEST(test_tracker__a_thread_execs),
		TEST(test_tracker__the_last_thread_ends_the_group),
		TEST(test_tracker__a_late_thread_ends_with_its_group),
		TEST(test_tracker__unknown_processes_are_incomplete),
		TEST(test_tracker__a_pid_is_used_again),
		TEST(regress_9_another_key_when_the_main_thread_ends_first),
		TEST(test_tracker__flags_choose_the_classes),
		TEST(test_tracker__kernel_threads_have_a_name_alone),
		TEST(test_tracker__long_names_come_from_the_file),
		TEST(test_tracker__unmaps_unload),
		TEST(test_tracker__short_and_unknown_records_are_ignored),
		TEST(test_tracker__ends_have_the_cpu_time),
		TEST(test_tracker__what_the_scheduler_has_not_seen_counts),
		TEST(test_tracker__counters_come_before_the_end),
		TEST(test_tracker__a_name_that_a_thread_gets_stays),
		TEST(test_tracker__what_a_thread_had_is_told_at_its_end),
		TEST(test_tracker__rundown_describes),
		TEST(test_tracker__names_are_told_once),
		TEST(test_tracker__names_of_a_tree_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
