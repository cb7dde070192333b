/* SPDX-License-Identifier: MIT */
#include "process/processes.h"

#include "kernel_event.h"

#define KEY(n) (UINT64_C(0xFFFF800000000000) + (n))

static const char *name_at(const struct fixture *fixture, uint32_t pid, int64_t time_ft)
{
	return etw_processes_name(fixture->processes, pid, time_ft);
}

static void test_processes__threads_belong_to_processes_for_a_time(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_thread(&fixture, 10, ETW_OPCODE_DC_START, 40, 41, "worker");
	fixture_thread(&fixture, 20, ETW_OPCODE_END, 40, 41, "worker");
	fixture_thread(&fixture, 30, ETW_OPCODE_START, 50, 41, "");
	assert_int_equal(etw_processes_pid_of_thread(fixture.processes, 41, 5), 40);
	assert_int_equal(etw_processes_pid_of_thread(fixture.processes, 41, 29), 40);
	assert_int_equal(etw_processes_pid_of_thread(fixture.processes, 41, 30), 50);
	assert_int_equal(etw_processes_pid_of_thread(fixture.processes, 42, 30), ETW_PROCESS_NONE);
	assert_int_equal(etw_processes_pid_of_thread(fixture.processes, 0, 30), 0);
	assert_string_equal(etw_processes_thread_name(fixture.processes, 41, 5), "worker");
	assert_null(etw_processes_thread_name(fixture.processes, 41, 31));
	assert_int_equal(etw_processes_threads(fixture.processes), 2);
	fixture_done(&fixture);
}

static void test_processes__parents_are_those_of_the_time(UNUSED_STATE)
{
	const struct made_process old_parent = {30, 4, 0, KEY(1), "old.exe", ""};
	const struct made_process new_parent = {30, 4, 0, KEY(2), "new.exe", ""};
	const struct made_process child = {40, 30, 0, KEY(3), "child.exe", ""};
	const struct made_process orphan = {50, 99, 0, KEY(4), "orphan.exe", ""};
	const struct made_process own = {60, 60, 0, KEY(5), "own.exe", ""};
	const struct etw_process *parent;
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_process(&fixture, 10, ETW_OPCODE_DC_START, &old_parent);
	fixture_process(&fixture, 20, ETW_OPCODE_START, &child);
	fixture_process(&fixture, 30, ETW_OPCODE_END, &old_parent);
	fixture_process(&fixture, 40, ETW_OPCODE_START, &new_parent);
	fixture_process(&fixture, 50, ETW_OPCODE_START, &orphan);
	fixture_process(&fixture, 60, ETW_OPCODE_DC_END, &own);
	parent = etw_processes_parent(fixture.processes,
				      etw_processes_find(fixture.processes, 40, 45));
	assert_string_equal(parent->program->name, "old.exe");
	assert_null(etw_processes_parent(fixture.processes,
					 etw_processes_find(fixture.processes, 50, 55)));
	assert_null(etw_processes_parent(fixture.processes,
					 etw_processes_find(fixture.processes, 60, 65)));
	fixture_done(&fixture);
}

static void test_processes__windows_own_processes_have_names_without_events(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture);
	assert_string_equal(name_at(&fixture, 0, 1), "Idle");
	assert_string_equal(name_at(&fixture, 4, 1), "System");
	assert_null(name_at(&fixture, 8, 1));
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes__threads_belong_to_processes_for_a_time),
		cmocka_unit_test(test_processes__parents_are_those_of_the_time),
		cmocka_unit_test(test_processes__windows_own_processes_have_names_without_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
