/* SPDX-License-Identifier: MIT */
#include "process/processes.h"

#include "told.h"

#define KEY(n) (UINT64_C(0xFFFF800000000000) + (n))

static const char *name_at(const struct listener *listener, uint32_t pid, int64_t time_ft)
{
	return etw_processes_name(listener->processes, pid, time_ft);
}

static void test_processes__threads_belong_to_processes_for_a_time(UNUSED_STATE)
{
	struct listener listener;

	listener_init(&listener);
	listener_thread(&listener, 10, ETW_OPCODE_DC_START, 40, 41, "worker");
	listener_thread(&listener, 20, ETW_OPCODE_END, 40, 41, "worker");
	listener_thread(&listener, 30, ETW_OPCODE_START, 50, 41, "");
	assert_int_equal(etw_processes_pid_of_thread(listener.processes, 41, 5), 40);
	assert_int_equal(etw_processes_pid_of_thread(listener.processes, 41, 29), 40);
	assert_int_equal(etw_processes_pid_of_thread(listener.processes, 41, 30), 50);
	assert_int_equal(etw_processes_pid_of_thread(listener.processes, 42, 30), ETW_PROCESS_NONE);
	assert_int_equal(etw_processes_pid_of_thread(listener.processes, 0, 30), 0);
	assert_string_equal(etw_processes_thread_name(listener.processes, 41, 5), "worker");
	assert_null(etw_processes_thread_name(listener.processes, 41, 31));
	assert_int_equal(etw_processes_threads(listener.processes), 2);
	listener_done(&listener);
}

static void test_processes__parents_are_those_of_the_time(UNUSED_STATE)
{
	const struct told_process old_parent = {30, 4, 0, KEY(1), "old.exe", ""};
	const struct told_process new_parent = {30, 4, 0, KEY(2), "new.exe", ""};
	const struct told_process child = {40, 30, 0, KEY(3), "child.exe", ""};
	const struct told_process orphan = {50, 99, 0, KEY(4), "orphan.exe", ""};
	const struct told_process own = {60, 60, 0, KEY(5), "own.exe", ""};
	const struct etw_process *parent;
	struct listener listener;

	listener_init(&listener);
	listener_process(&listener, 10, ETW_OPCODE_DC_START, &old_parent);
	listener_process(&listener, 20, ETW_OPCODE_START, &child);
	listener_process(&listener, 30, ETW_OPCODE_END, &old_parent);
	listener_process(&listener, 40, ETW_OPCODE_START, &new_parent);
	listener_process(&listener, 50, ETW_OPCODE_START, &orphan);
	listener_process(&listener, 60, ETW_OPCODE_DC_END, &own);
	parent = etw_processes_parent(listener.processes,
				      etw_processes_find(listener.processes, 40, 45));
	assert_string_equal(parent->program->name, "old.exe");
	assert_null(etw_processes_parent(listener.processes,
					 etw_processes_find(listener.processes, 50, 55)));
	assert_null(etw_processes_parent(listener.processes,
					 etw_processes_find(listener.processes, 60, 65)));
	listener_done(&listener);
}

static void test_processes__windows_own_processes_have_names_without_events(UNUSED_STATE)
{
	struct listener listener;

	listener_init(&listener);
	assert_string_equal(name_at(&listener, 0, 1), "Idle");
	assert_string_equal(name_at(&listener, 4, 1), "System");
	assert_null(name_at(&listener, 8, 1));
	listener_done(&listener);
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
