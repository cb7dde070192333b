/* SPDX-License-Identifier: MIT */
/* The set of the kernel's addresses that a session's events name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "source/kernel/code/seen.h"

#define KERNEL UINT64_C(0xffffffff81000000)

static void test_seen__each_once_in_order(void **state)
{
	struct etw_kernel_seen seen = {0};
	uint64_t *sorted;
	uint32_t count;

	(void)state;
	assert_int_equal(etw_kernel_seen_sort(&seen, &sorted, &count), 0);
	assert_null(sorted);
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 5000; i++)
			etw_kernel_seen_add(&seen, KERNEL + i * 7919 % 5000 * 16);
	assert_int_equal(seen.count, 5000);
	assert_true(seen.is_used && !seen.is_all);
	assert_int_equal(etw_kernel_seen_sort(&seen, &sorted, &count), 0);
	assert_int_equal(count, 5000);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(sorted[i], KERNEL + i * 16);
	free(sorted);
	etw_kernel_seen_done(&seen);
}

static void test_seen__addresses_of_processes_are_none_of_it(void **state)
{
	struct etw_kernel_seen seen = {0};

	(void)state;
	etw_kernel_seen_add(&seen, 0);
	etw_kernel_seen_add(&seen, 0x7fffffffffff);
	assert_false(seen.is_used);
	assert_null(seen.slots);
	etw_kernel_seen_done(&seen);
}

static void test_seen__more_than_there_is_room_for(void **state)
{
	struct etw_kernel_seen seen = {0};

	(void)state;
	for (uint64_t i = 0; i < ETW_KERNEL_SEEN_MAX; i++)
		etw_kernel_seen_add(&seen, KERNEL + i);
	assert_int_equal(seen.count, ETW_KERNEL_SEEN_MAX);
	assert_false(seen.is_all);
	etw_kernel_seen_add(&seen, KERNEL); /* is there already */
	for (uint64_t i = 0; i < 100; i++)
		etw_kernel_seen_add(&seen, KERNEL + ETW_KERNEL_SEEN_MAX + i);
	assert_true(seen.is_all);
	assert_int_equal(seen.count, ETW_KERNEL_SEEN_MAX);
	etw_kernel_seen_done(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen__each_once_in_order),
		cmocka_unit_test(test_seen__addresses_of_processes_are_none_of_it),
		cmocka_unit_test(test_seen__more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
