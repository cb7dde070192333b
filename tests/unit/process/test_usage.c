/* SPDX-License-Identifier: MIT */
#include "process/usage.h"

#include "kernel_event.h"

static void add(struct etw_process_usage *usage, struct fixture *fixture, struct made_event *made,
		int64_t time_ft)
{
	struct etw_decoding decoding;

	made->record.EventHeader.TimeStamp.QuadPart = time_ft;
	assert_int_equal(etw_decoder_run(fixture->decoder, &made->record, &decoding), 0);
	assert_int_equal(etw_process_usage_add(usage, fixture->processes, &decoding, 0, 10000), 0);
}

static void made_switch(struct made_event *made, uint32_t new_tid, uint32_t old_tid)
{
	made_begin(made, &etw_class_thread, ETW_OPCODE_SWITCH, 2);
	made_number(made, new_tid, 4);
	made_number(made, old_tid, 4);
	made_number(made, 0, 8);
	made_number(made, 0, 8);
}

/* Of one process tree recorded alone, the switches between others are not there. */
static void test_usage__charges_nobody_where_switches_are_missing(UNUSED_STATE)
{
	const struct made_process process = {40, 4, 0, 1, "inside", ""};
	struct etw_process_usage usage = {0};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	fixture_process(&fixture, 10, ETW_OPCODE_START, &process);
	fixture_thread(&fixture, 10, ETW_OPCODE_DC_START, 40, 41, "");
	made_switch(&made, 41, 77);
	add(&usage, &fixture, &made, 100);
	made_switch(&made, 77, 41);
	add(&usage, &fixture, &made, 150);
	made_switch(&made, 41, 78); /* who took 77's place is not told */
	add(&usage, &fixture, &made, 5000);
	made_switch(&made, 77, 41);
	add(&usage, &fixture, &made, 5020);
	assert_int_equal(etw_process_usage_sort(&usage), 0);
	assert_int_equal(usage.shares.count, 1);
	assert_int_equal(usage.sorted[0]->pid, 40);
	assert_int_equal(etw_process_usage_time(&usage, usage.sorted[0]), 70);
	etw_process_usage_done(&usage);
	fixture_done(&fixture);
}

static void test_usage__charges_switches_to_the_process_of_the_time(UNUSED_STATE)
{
	const struct made_process first = {40, 4, 0, 1, "first", ""};
	const struct made_process second = {40, 4, 0, 2, "second", ""};
	struct etw_process_usage usage = {0};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	fixture_process(&fixture, 10, ETW_OPCODE_START, &first);
	fixture_thread(&fixture, 10, ETW_OPCODE_DC_START, 40, 41, "");
	fixture_process(&fixture, 1000, ETW_OPCODE_END, &first);
	fixture_process(&fixture, 2000, ETW_OPCODE_START, &second);
	made_switch(&made, 41, 0);
	add(&usage, &fixture, &made, 100);
	made_switch(&made, 0, 41);
	add(&usage, &fixture, &made, 150);
	made_switch(&made, 41, 0);
	add(&usage, &fixture, &made, 2100);
	made_switch(&made, 0, 41);
	add(&usage, &fixture, &made, 2800);
	assert_int_equal(etw_process_usage_sort(&usage), 0);
	assert_int_equal(usage.measure, ETW_PROCESS_BY_SWITCHES);
	assert_int_equal(usage.shares.count, 3);
	assert_int_equal(usage.sorted[0]->pid, 0);
	assert_int_equal(etw_process_usage_time(&usage, usage.sorted[0]), 1950);
	assert_string_equal(usage.sorted[1]->process->program->name, "second");
	assert_int_equal(etw_process_usage_time(&usage, usage.sorted[1]), 700);
	assert_int_equal(etw_process_usage_time(&usage, usage.sorted[2]), 50);
	assert_ptr_equal(etw_process_usage_find(&usage, fixture.processes,
						etw_processes_at(fixture.processes, 0)),
			 usage.sorted[2]);
	etw_process_usage_done(&usage);
	fixture_done(&fixture);
}

static void test_usage__counts_samples_and_their_distance(UNUSED_STATE)
{
	struct etw_process_usage usage = {0};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	fixture_thread(&fixture, 10, ETW_OPCODE_DC_END, 40, 41, "");
	made_begin(&made, &etw_class_perfinfo, 46, 2);
	made_number(&made, 0x1000, 8);
	made_number(&made, 41, 4);
	made_number(&made, 1, 4);
	add(&usage, &fixture, &made, 5);
	assert_int_equal(etw_process_usage_sort(&usage), 0);
	assert_int_equal(usage.measure, ETW_PROCESS_BY_SAMPLES);
	assert_int_equal(usage.sorted[0]->pid, 40);
	assert_int_equal(usage.sorted[0]->events, 1);
	assert_null(usage.sorted[0]->process);
	assert_int_equal(etw_process_usage_time(&usage, usage.sorted[0]), 10000);
	etw_process_usage_done(&usage);
	fixture_done(&fixture);
}

static void test_usage__takes_what_ended_threads_of_linux_had_used(UNUSED_STATE)
{
	const struct made_process process = {40, 4, 0, UINT64_C(40) << 32 | 1, "sh", ""};
	struct etw_process_usage usage = {0};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	fixture_process(&fixture, 10, ETW_OPCODE_DC_START, &process);
	for (unsigned ticks = 3; ticks <= 5; ticks += 2) {
		made_thread(&made, ETW_OPCODE_END, 40, 40, "");
		made.record.EventHeader.ProcessId = made.record.EventHeader.ThreadId = 40;
		made.record.EventHeader.KernelTime = ticks - 1;
		made.record.EventHeader.UserTime = 1;
		add(&usage, &fixture, &made, 20 + ticks);
	}
	assert_int_equal(etw_process_usage_sort(&usage), 0);
	assert_int_equal(usage.measure, ETW_PROCESS_BY_TICKS);
	/* The second end, after an exec, has all that the first one had. */
	assert_int_equal(etw_process_usage_time(&usage, usage.sorted[0]), 50000);
	etw_process_usage_done(&usage);
	fixture_done(&fixture);
}

static void test_usage__without_time_is_by_events(UNUSED_STATE)
{
	static const GUID some = {0x12345678, 1, 2, {3}};
	struct etw_process_usage usage = {0};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	for (uint32_t pid = 1; pid <= 3; pid++) {
		made_begin(&made, &some, 1, 0);
		made.record.EventHeader.ProcessId = pid;
		for (uint32_t i = 0; i < pid; i++)
			add(&usage, &fixture, &made, 1);
	}
	assert_int_equal(etw_process_usage_sort(&usage), 0);
	assert_int_equal(usage.measure, ETW_PROCESS_BY_EVENTS);
	assert_int_equal(usage.sorted[0]->pid, 3);
	assert_int_equal(usage.sorted[2]->pid, 1);
	etw_process_usage_done(&usage);
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage__charges_switches_to_the_process_of_the_time),
		cmocka_unit_test(test_usage__charges_nobody_where_switches_are_missing),
		cmocka_unit_test(test_usage__counts_samples_and_their_distance),
		cmocka_unit_test(test_usage__takes_what_ended_threads_of_linux_had_used),
		cmocka_unit_test(test_usage__without_time_is_by_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
