/* SPDX-License-Identifier: MIT */
/* The table of processes and threads by itself. What records do to it: test_tracker.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel/processes/tasks.h"

/* More than there are buckets, so that some share one. */
#define MANY (3 * ETW_KERNEL_BUCKETS)

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct etw_kernel_tasks));
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	etw_kernel_tasks_clear(*state);
	free(*state);
	return 0;
}

static void test_tasks__are_found_by_their_numbers(void **state)
{
	struct etw_kernel_tasks *tasks = *state;
	struct etw_kernel_process *process = etw_kernel_tasks_add(tasks, 10);
	struct etw_kernel_thread *thread;

	assert_non_null(process);
	thread = etw_kernel_tasks_add_thread(tasks, process, 11, "worker");
	assert_non_null(thread);
	assert_ptr_equal(etw_kernel_tasks_find(tasks, 10), process);
	assert_ptr_equal(etw_kernel_tasks_find_thread(tasks, 11), thread);
	assert_ptr_equal(thread->process, process);
	assert_string_equal(thread->name, "worker");
	/* One number is not looked for among the others. */
	assert_null(etw_kernel_tasks_find(tasks, 11));
	assert_null(etw_kernel_tasks_find_thread(tasks, 10));
}

static void test_tasks__a_long_name_is_cut(void **state)
{
	struct etw_kernel_tasks *tasks = *state;
	struct etw_kernel_process *process = etw_kernel_tasks_add(tasks, 10);
	char name[2 * ETW_KERNEL_NAME_BYTES];
	struct etw_kernel_thread *thread;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	thread = etw_kernel_tasks_add_thread(tasks, process, 11, name);
	assert_int_equal(strlen(thread->name), ETW_KERNEL_NAME_BYTES - 1);
}

static void test_tasks__a_process_takes_its_threads_along(void **state)
{
	struct etw_kernel_tasks *tasks = *state;
	struct etw_kernel_process *process = etw_kernel_tasks_add(tasks, 10);
	struct etw_kernel_process *other = etw_kernel_tasks_add(tasks, 20);

	(void)etw_kernel_tasks_add_thread(tasks, process, 10, "a");
	(void)etw_kernel_tasks_add_thread(tasks, process, 11, "b");
	(void)etw_kernel_tasks_add_thread(tasks, other, 20, "c");
	process->name = etw_kernel_text_new("x", 1);
	etw_kernel_tasks_remove_thread(tasks, etw_kernel_tasks_find_thread(tasks, 10));
	assert_null(etw_kernel_tasks_find_thread(tasks, 10));
	assert_int_equal(tasks->thread_count, 2);
	etw_kernel_tasks_remove(tasks, process);
	assert_null(etw_kernel_tasks_find(tasks, 10));
	assert_null(etw_kernel_tasks_find_thread(tasks, 11));
	assert_non_null(etw_kernel_tasks_find_thread(tasks, 20));
	assert_int_equal(tasks->process_count, 1);
	assert_int_equal(tasks->thread_count, 1);
}

static void test_tasks__many_share_the_buckets(void **state)
{
	struct etw_kernel_tasks *tasks = *state;

	for (uint32_t i = 1; i <= MANY; i++)
		assert_non_null(etw_kernel_tasks_add(tasks, i));
	for (uint32_t i = 1; i <= MANY; i += 2)
		etw_kernel_tasks_remove(tasks, etw_kernel_tasks_find(tasks, i));
	for (uint32_t i = 1; i <= MANY; i++)
		assert_int_equal(etw_kernel_tasks_find(tasks, i) != NULL, i % 2 == 0);
	assert_int_equal(tasks->process_count, MANY / 2);
	etw_kernel_tasks_clear(tasks);
	assert_int_equal(tasks->process_count, 0);
	assert_null(etw_kernel_tasks_find(tasks, 2));
	assert_non_null(etw_kernel_tasks_add(tasks, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks__are_found_by_their_numbers, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_tasks__a_long_name_is_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks__a_process_takes_its_threads_along,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks__many_share_the_buckets, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
