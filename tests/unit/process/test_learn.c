/* SPDX-License-Identifier: MIT */
/* What starts, ends and rundowns make of ids. */
#include "process/processes.h"

#include "kernel_event.h"

#define KEY(n) (UINT64_C(0xFFFF800000000000) + (n))

static const char *name_at(const struct fixture *fixture, uint32_t pid, int64_t time_ft)
{
	return etw_processes_name(fixture->processes, pid, time_ft);
}

static void test_learn__a_rundown_at_the_end_counts_from_the_beginning(UNUSED_STATE)
{
	const struct made_process process = {40, 30, 259, KEY(1), "a.exe", "a -b"};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 1000, ETW_OPCODE_DC_END, &process);
	assert_string_equal(name_at(&fixture, 40, 1), "a.exe");

	const struct etw_process *found = etw_processes_find(fixture.processes, 40, 5);

	assert_string_equal(found->program->command_line, "a -b");
	assert_string_equal(found->user_sid, "S-1-5-18");
	assert_int_equal(found->session_id, 7);
	assert_true(found->is_seen_at_end);
	assert_false(found->has_start || found->has_end || found->has_exit_status);
	fixture_done(&fixture);
}

static void test_learn__an_id_that_is_used_again_has_two_lives(UNUSED_STATE)
{
	const struct made_process first = {40, 30, 3, KEY(1), "first.exe", "1"};
	const struct made_process second = {40, 30, 0, KEY(1), "second.exe", "2"};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 100, ETW_OPCODE_START, &first);
	fixture_process(&fixture, 200, ETW_OPCODE_END, &first);
	fixture_process(&fixture, 300, ETW_OPCODE_START, &second);
	assert_int_equal(etw_processes_count(fixture.processes), 2);
	assert_null(name_at(&fixture, 40, 99));
	assert_string_equal(name_at(&fixture, 40, 100), "first.exe");
	assert_string_equal(name_at(&fixture, 40, 299), "first.exe");
	assert_string_equal(name_at(&fixture, 40, 300), "second.exe");
	assert_int_equal(etw_processes_at(fixture.processes, 0)->exit_status, 3);
	assert_true(etw_processes_at(fixture.processes, 0)->has_exit_status);
	assert_false(etw_processes_at(fixture.processes, 1)->has_end);
	assert_null(etw_processes_at(fixture.processes, 2));
	fixture_done(&fixture);
}

static void test_learn__a_life_whose_start_was_lost_begins_with_the_end_before(UNUSED_STATE)
{
	const struct made_process first = {40, 30, 3, KEY(1), "first.exe", "1"};
	const struct made_process second = {40, 30, 0, KEY(2), "second.exe", "2"};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 50, ETW_OPCODE_DC_START, &first);
	fixture_process(&fixture, 200, ETW_OPCODE_END, &first);
	fixture_process(&fixture, 900, ETW_OPCODE_DC_END, &second);
	assert_string_equal(name_at(&fixture, 40, 199), "first.exe");
	assert_string_equal(name_at(&fixture, 40, 201), "second.exe");
	fixture_done(&fixture);
}

static void test_learn__a_missed_end_does_not_join_two_lives(UNUSED_STATE)
{
	const struct made_process first = {40, 30, 3, KEY(1), "first.exe", "1"};
	const struct made_process second = {40, 30, 0, KEY(2), "second.exe", "2"};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 50, ETW_OPCODE_DC_START, &first);
	fixture_process(&fixture, 200, ETW_OPCODE_START, &second);
	assert_int_equal(etw_processes_count(fixture.processes), 2);
	assert_string_equal(name_at(&fixture, 40, 199), "first.exe");
	assert_string_equal(name_at(&fixture, 40, 200), "second.exe");
	fixture_done(&fixture);
}

static void test_learn__an_exec_on_linux_is_the_same_process(UNUSED_STATE)
{
	const uint64_t key = UINT64_C(40) << 32 | 5;
	const struct made_process fork = {40, 30, 0, key, "bash", "bash"};
	const struct made_process exec = {40, 30, 0, key, "ls", "ls -l"};
	const struct made_process end = {40, 30, 0x100, key, "ls", "ls -l"};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 100, ETW_OPCODE_START, &fork);
	fixture_process(&fixture, 110, ETW_OPCODE_END, &fork);
	fixture_process(&fixture, 110, ETW_OPCODE_START, &exec);
	fixture_process(&fixture, 120, ETW_OPCODE_END, &end);
	assert_int_equal(etw_processes_count(fixture.processes), 1);
	assert_string_equal(name_at(&fixture, 40, 105), "bash");
	assert_string_equal(name_at(&fixture, 40, 111), "ls");

	const struct etw_process *process = etw_processes_at(fixture.processes, 0);

	assert_true(process->is_linux && process->has_start && process->has_end);
	assert_int_equal(process->start_ft, 100);
	assert_int_equal(process->end_ft, 120);
	assert_int_equal(process->exit_status, 0x100);
	assert_string_equal(process->program->command_line, "ls -l");
	assert_null(name_at(&fixture, 4, 105));
	fixture_done(&fixture);
}

/* A slash is a part of the name of a Linux thread, unless a path begins with it. */
static void test_learn__threads_of_the_kernel_keep_their_names(UNUSED_STATE)
{
	const struct made_process worker = {40, 2, 0, KEY(1), "kworker/0:1-events", ""};
	const struct made_process program = {41, 1, 0, KEY(2), "/usr/bin/make", "make"};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 50, ETW_OPCODE_DC_START, &worker);
	fixture_process(&fixture, 50, ETW_OPCODE_DC_START, &program);
	assert_string_equal(name_at(&fixture, 40, 60), "kworker/0:1-events");
	assert_string_equal(name_at(&fixture, 41, 60), "make");
	fixture_done(&fixture);
}

static void test_learn__other_events_tell_nothing(UNUSED_STATE)
{
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	made_begin(&made, &etw_class_thread, ETW_OPCODE_SWITCH, 2);
	assert_false(etw_processes_is_lifecycle(&made.record));
	made_begin(&made, &etw_class_perfinfo, ETW_OPCODE_START, 2);
	assert_false(etw_processes_is_lifecycle(&made.record));
	made_begin(&made, &etw_class_process, ETW_OPCODE_START, 4);
	assert_true(etw_processes_is_lifecycle(&made.record));
	/* A payload that is cut names no process. */
	struct etw_decoding decoding;

	assert_int_equal(etw_decoder_run(fixture.decoder, &made.record, &decoding), 0);
	assert_int_equal(etw_processes_add(fixture.processes, &decoding, 1), 0);
	assert_int_equal(etw_processes_count(fixture.processes), 0);
	assert_int_equal(etw_processes_dropped(fixture.processes), 0);
	fixture_done(&fixture);
}

static void test_learn__a_defunct_process_had_ended(UNUSED_STATE)
{
	const struct made_process process = {40, 30, 5, KEY(1), "a.exe", ""};
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 100, ETW_OPCODE_DEFUNCT, &process);
	assert_true(etw_processes_at(fixture.processes, 0)->has_end);
	assert_int_equal(etw_processes_at(fixture.processes, 0)->end_ft, 0);
	assert_int_equal(etw_processes_at(fixture.processes, 0)->exit_status, 5);
	assert_string_equal(name_at(&fixture, 40, 1), "a.exe");
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learn__a_rundown_at_the_end_counts_from_the_beginning),
		cmocka_unit_test(test_learn__an_id_that_is_used_again_has_two_lives),
		cmocka_unit_test(
			test_learn__a_life_whose_start_was_lost_begins_with_the_end_before),
		cmocka_unit_test(test_learn__a_missed_end_does_not_join_two_lives),
		cmocka_unit_test(test_learn__an_exec_on_linux_is_the_same_process),
		cmocka_unit_test(test_learn__threads_of_the_kernel_keep_their_names),
		cmocka_unit_test(test_learn__other_events_tell_nothing),
		cmocka_unit_test(test_learn__a_defunct_process_had_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
