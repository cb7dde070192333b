/* SPDX-License-Identifier: MIT */
/*
 * Traces that no sound machine writes: parents in circles, ids that are used again and again, ends before starts, times
 * that run back, and none of the events that tell names. Whatever comes, answers keep their promises.
 */
#include <stdio.h>

#include "kernel_event.h"

#define KEY(n)  (UINT64_C(0xFFFF800000000000) + (n))
#define IDS     12 /* few, so that they meet */
#define EVENTS  4000
#define TIMES   500
#define SEEDS   6
#define STEPS   64 /* more than any row of parents here can have without a circle */
#define DEEP    20000
#define CIRCLES 5

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A process whose start an event tells cannot be older than itself: circles have one that was not. */
static void assert_parents_end(const struct etw_processes *processes,
			       const struct etw_process *process)
{
	const struct etw_process *at = process;
	bool all_have_start = true;

	for (unsigned i = 0; i < STEPS && at; i++) {
		const struct etw_process *parent = etw_processes_parent(processes, at);

		assert_ptr_not_equal(parent, at);
		all_have_start = all_have_start && at->has_start;
		at = parent;
	}
	assert_true(!at || !all_have_start);
}

static void assert_promises(const struct etw_processes *processes)
{
	const size_t count = etw_processes_count(processes);

	for (size_t i = 0; i < count; i++) {
		const struct etw_process *process = etw_processes_at(processes, i);

		assert_int_equal(process->number, i);
		assert_non_null(process->program);
		assert_ptr_equal(process->program->process, process);
		assert_true(!process->has_end || process->end_ft >= process->from_ft);
		assert_parents_end(processes, process);
	}
	for (uint32_t pid = 0; pid < IDS; pid++) {
		for (int64_t time = 0; time <= TIMES; time += 7) {
			const struct etw_process *found = etw_processes_find(processes, pid, time);

			assert_true(!found || found->pid == pid);
			assert_true(!found || found->from_ft <= time);
			(void)etw_processes_name(processes, pid, time);
			(void)etw_processes_program(processes, pid, time);
			(void)etw_processes_pid_of_thread(processes, pid, time);
			(void)etw_processes_thread_name(processes, pid, time);
		}
	}
}

static void test_hostile__events_in_any_order(UNUSED_STATE)
{
	static const unsigned opcodes[] = {ETW_OPCODE_START, ETW_OPCODE_END, ETW_OPCODE_DC_START,
					   ETW_OPCODE_DC_END};
	static const char *const names[] = {"", "a.exe", "b.exe", "C:\\x\\c.exe", "\x01\x02"};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
		struct fixture fixture;

		fixture_init(&fixture);
		for (int i = 0; i < EVENTS; i++) {
			const unsigned opcode = opcodes[next_random(&random) % 4];
			const int64_t time = (int64_t)(next_random(&random) % TIMES);
			const struct made_process process = {
				.pid = (uint32_t)(next_random(&random) % IDS),
				.parent = (uint32_t)(next_random(&random) % IDS),
				.status = (uint32_t)next_random(&random),
				.key = next_random(&random) % 3 ? KEY(next_random(&random) % IDS)
								: 0,
				.name = names[next_random(&random) % 5],
				.command_line = names[next_random(&random) % 4]};

			if (next_random(&random) % 3)
				fixture_process(&fixture, time, opcode, &process);
			else
				fixture_thread(&fixture, time, opcode, process.pid, process.parent,
					       process.command_line);
		}
		assert_promises(fixture.processes);
		fixture_done(&fixture);
	}
}

/* Rundowns that make each process the child of the next, in circles of one and more. */
static void test_hostile__parents_in_circles(UNUSED_STATE)
{
	for (uint32_t length = 1; length <= CIRCLES; length++) {
		struct fixture fixture;

		fixture_init(&fixture);
		for (uint32_t i = 0; i < length; i++) {
			const struct made_process process = {
				8 + i, 8 + (i + 1) % length, 259, KEY(i + 1), "a", "a"};

			fixture_process(&fixture, 100, ETW_OPCODE_DC_START, &process);
		}
		assert_int_equal(etw_processes_count(fixture.processes), length);
		assert_promises(fixture.processes);
		if (length == 1)
			assert_null(etw_processes_parent(fixture.processes,
							 etw_processes_at(fixture.processes, 0)));
		fixture_done(&fixture);
	}
}

/* Of starts no circle can come: who is started again with its child as parent is another process. */
static void test_hostile__circles_of_starts_are_none(UNUSED_STATE)
{
	const struct made_process a = {8, 9, 0, KEY(1), "a", "a"}, b = {9, 8, 0, KEY(2), "b", "b"};
	struct fixture fixture;

	fixture_init(&fixture);
	for (int64_t time = 100; time < 100 + 40; time += 20) {
		fixture_process(&fixture, time, ETW_OPCODE_START, &a);
		fixture_process(&fixture, time + 10, ETW_OPCODE_START, &b);
	}
	for (size_t i = 0; i < etw_processes_count(fixture.processes); i++) {
		const struct etw_process *at = etw_processes_at(fixture.processes, i);

		for (int steps = 0; at; at = etw_processes_parent(fixture.processes, at))
			assert_true(steps++ < 4);
	}
	fixture_done(&fixture);
}

/* An id that is used again for every process of a busy machine: each time has its own answer. */
static void test_hostile__one_id_for_all(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture);
	for (uint32_t i = 0; i < 2000; i++) {
		char name[16];
		const struct made_process process = {40, 4, i, KEY(i % 2), name, name};

		(void)snprintf(name, sizeof(name), "p%u.exe", i);
		fixture_process(&fixture, 100 + 10 * (int64_t)i, ETW_OPCODE_START, &process);
		fixture_process(&fixture, 105 + 10 * (int64_t)i, ETW_OPCODE_END, &process);
	}
	assert_int_equal(etw_processes_count(fixture.processes), 2000);
	for (uint32_t i = 0; i < 2000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "p%u.exe", i);
		for (int64_t time = 0; time < 10; time += 3)
			assert_string_equal(etw_processes_name(fixture.processes, 40,
							       100 + 10 * (int64_t)i + time),
					    name);
		assert_int_equal(etw_processes_at(fixture.processes, i)->exit_status, i);
	}
	assert_null(etw_processes_find(fixture.processes, 40, 99));
	fixture_done(&fixture);
}

/* A row of children as long as a trace can make it. */
static void test_hostile__a_deep_row_of_parents(UNUSED_STATE)
{
	const struct etw_process *at;
	struct fixture fixture;
	uint32_t depth = 0;

	fixture_init(&fixture);
	for (uint32_t i = 0; i < DEEP; i++) {
		const struct made_process process = {100 + i, 99 + i, 0, KEY(i), "a", "a"};

		fixture_process(&fixture, 100 + (int64_t)i, ETW_OPCODE_START, &process);
	}
	at = etw_processes_find(fixture.processes, 100 + DEEP - 1, INT64_MAX);
	for (; at; at = etw_processes_parent(fixture.processes, at))
		depth++;
	assert_int_equal(depth, DEEP);
	fixture_done(&fixture);
}

/* Without rundown and starts nothing is known, and nothing is made up but for the two that every Windows has. */
static void test_hostile__a_trace_that_tells_nothing(UNUSED_STATE)
{
	struct fixture fixture;

	fixture_init(&fixture);
	for (uint32_t pid = 0; pid < 100; pid++) {
		const char *name = etw_processes_name(fixture.processes, pid, 1000);

		assert_true(!name || pid == 0 || pid == 4);
		assert_null(etw_processes_find(fixture.processes, pid, 1000));
		assert_null(etw_processes_program(fixture.processes, pid, 1000));
		assert_int_equal(etw_processes_pid_of_thread(fixture.processes, pid, 1000),
				 pid ? ETW_PROCESS_NONE : 0);
	}
	assert_null(etw_processes_at(fixture.processes, 0));
	assert_int_equal(etw_processes_threads(fixture.processes), 0);
	fixture_done(&fixture);
}

/* Times at both ends of 64 bits, and an end alone. */
static void test_hostile__wild_times(UNUSED_STATE)
{
	static const int64_t times[] = {INT64_MIN, -1, 0, INT64_MAX, INT64_MAX - 1, INT64_MIN + 1};
	const struct made_process process = {40, 41, 1, KEY(1), "a", "a"};
	struct fixture fixture;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		for (size_t j = 0; j < sizeof(times) / sizeof(times[0]); j++) {
			fixture_init(&fixture);
			fixture_process(&fixture, times[i], ETW_OPCODE_END, &process);
			fixture_process(&fixture, times[j], ETW_OPCODE_START, &process);
			fixture_process(&fixture, times[i], ETW_OPCODE_END, &process);
			for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
				(void)etw_processes_name(fixture.processes, 40, times[k]);
			assert_promises(fixture.processes);
			fixture_done(&fixture);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile__events_in_any_order),
		cmocka_unit_test(test_hostile__parents_in_circles),
		cmocka_unit_test(test_hostile__circles_of_starts_are_none),
		cmocka_unit_test(test_hostile__one_id_for_all),
		cmocka_unit_test(test_hostile__a_deep_row_of_parents),
		cmocka_unit_test(test_hostile__a_trace_that_tells_nothing),
		cmocka_unit_test(test_hostile__wild_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
