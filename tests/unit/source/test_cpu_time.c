/* SPDX-License-Identifier: MIT */
/* What threads used of processors: what the scheduler has not seen, and how it is divided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/kernel/processes/cpu_time.h"

#define MS     UINT64_C(1000000)
#define BEHIND (7 * MS) /* of the scheduler's clock */
#define START  (UINT64_C(100000) * MS)

/* A record of an end at @at_ns; the scheduler looked at its clock @unseen_ns before. */
static struct etw_kernel_record end_at(uint64_t at_ns, uint64_t unseen_ns,
				       struct etw_kernel_task *task)
{
	task->clock_ns = at_ns - unseen_ns - BEHIND;
	return (struct etw_kernel_record){.time_ns = at_ns, .kind = ETW_KERNEL_EXIT};
}

static void note(struct etw_kernel_cpu_time *time, uint64_t at_ns, uint64_t unseen_ns)
{
	struct etw_kernel_task task = {0};
	struct etw_kernel_record head = end_at(at_ns, unseen_ns, &task);

	etw_kernel_cpu_time_note(time, &head, &task);
}

static uint64_t used(const struct etw_kernel_cpu_time *time, uint64_t at_ns, uint64_t unseen_ns)
{
	struct etw_kernel_task task = {.runtime_ns = 50 * MS};
	struct etw_kernel_record head = end_at(at_ns, unseen_ns, &task);

	return etw_kernel_cpu_time_used(time, &head, &task);
}

static void test_cpu_time__what_the_scheduler_has_not_seen_is_added(void **state)
{
	struct etw_kernel_cpu_time time;

	(void)state;
	etw_kernel_cpu_time_init(&time);
	assert_int_equal(used(&time, START, 3 * MS), 50 * MS); /* nothing is known of the clock */
	note(&time, START, 2 * MS);
	note(&time, START + MS, 0);
	note(&time, START + 2 * MS, 4 * MS);
	assert_int_equal(used(&time, START + 3 * MS, 3 * MS), 53 * MS);
	assert_int_equal(used(&time, START + 3 * MS, 0), 50 * MS);
	assert_int_equal(used(&time, START + 3 * MS, 500 * MS), 60 * MS); /* a tick at the most */
}

static void test_cpu_time__the_least_of_two_seconds_counts(void **state)
{
	struct etw_kernel_cpu_time time;

	(void)state;
	etw_kernel_cpu_time_init(&time);
	note(&time, START, 0);
	note(&time, START + 1500 * MS, 2 * MS);
	assert_int_equal(used(&time, START + 1500 * MS, 3 * MS), 53 * MS);
	note(&time, START + 2600 * MS, 2 * MS); /* the first is too old now */
	assert_int_equal(used(&time, START + 2600 * MS, 3 * MS), 51 * MS);
	note(&time, START + 9000 * MS, MS); /* and here both */
	assert_int_equal(used(&time, START + 9000 * MS, 3 * MS), 52 * MS);
}

static void test_cpu_time__a_new_task_has_no_time_of_its_maker(void **state)
{
	struct etw_kernel_task task = {.runtime_ns = 5 * MS};
	struct etw_kernel_cpu_time time;
	struct etw_kernel_record head;

	(void)state;
	etw_kernel_cpu_time_init(&time);
	note(&time, START, 0);
	head = end_at(START, 3 * MS, &task);
	head.kind = ETW_KERNEL_NEW_TASK;
	assert_int_equal(etw_kernel_cpu_time_used(&time, &head, &task), 5 * MS);
	task.clock_ns = 0; /* of a kernel that does not tell it */
	head.kind = ETW_KERNEL_EXIT;
	assert_int_equal(etw_kernel_cpu_time_used(&time, &head, &task), 5 * MS);
}

static void test_cpu_time__ticks_are_divided_as_they_were_found(void **state)
{
	struct etw_kernel_task task = {
		.runtime_ns = 100 * MS, .user_ns = 12 * MS, .system_ns = 4 * MS};
	struct etw_kernel_record head = {.time_ns = START, .kind = ETW_KERNEL_EXIT};
	struct etw_kernel_cpu_time time;
	uint32_t kernel, user;

	(void)state;
	etw_kernel_cpu_time_init(&time);
	assert_int_equal(time.tick_ns, MS);
	etw_kernel_cpu_time_ticks(&time, &head, &task, 0, &kernel, &user);
	assert_int_equal(kernel, 25);
	assert_int_equal(user, 75);
	etw_kernel_cpu_time_ticks(&time, &head, &task, 60 * MS, &kernel, &user);
	assert_int_equal(kernel, 10);
	assert_int_equal(user, 30);
	/* More was spent before than there is: the sum began anew. */
	etw_kernel_cpu_time_ticks(&time, &head, &task, 200 * MS, &kernel, &user);
	assert_int_equal(kernel + user, 100);
	task.user_ns = task.system_ns = 0;
	etw_kernel_cpu_time_ticks(&time, &head, &task, 0, &kernel, &user);
	assert_int_equal(kernel, 0);
	task.runtime_ns = UINT64_MAX - MS;
	etw_kernel_cpu_time_ticks(&time, &head, &task, 0, &kernel, &user);
	assert_int_equal(user, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_time__what_the_scheduler_has_not_seen_is_added),
		cmocka_unit_test(test_cpu_time__the_least_of_two_seconds_counts),
		cmocka_unit_test(test_cpu_time__a_new_task_has_no_time_of_its_maker),
		cmocka_unit_test(test_cpu_time__ticks_are_divided_as_they_were_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
