/* SPDX-License-Identifier: MIT */
/* The mapping of priorities: the table of docs/kernel-events/thread.md, and that it keeps order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "source/kernel/processes/priority.h"

#define OTHER ETW_KERNEL_POLICY_OTHER

static void test_priority__is_that_of_the_table(void **state)
{
	static const struct {
		int32_t prio;
		uint32_t policy;
		uint8_t wanted;
	} rows[] = {
		{-1, ETW_KERNEL_POLICY_DEADLINE, 31},
		{0, ETW_KERNEL_POLICY_FIFO, 30},
		{49, ETW_KERNEL_POLICY_FIFO, 23}, /* 50, a threaded interrupt */
		{98, ETW_KERNEL_POLICY_RR, 16},
		{99, ETW_KERNEL_POLICY_FIFO, 16},
		{100, OTHER, 15}, /* nice -20 */
		{108, OTHER, 13}, /* -12 */
		{115, OTHER, 10}, /* -5 */
		{119, OTHER, 9},
		{120, OTHER, 8},
		{121, OTHER, 7},
		{125, OTHER, 6},
		{130, OTHER, 4},
		{139, OTHER, 1},
		{120, ETW_KERNEL_POLICY_IDLE, 1},
		{49, ETW_KERNEL_POLICY_IDLE, 23}, /* lent by a waiting real-time task */
		{1000, OTHER, 1},
		{INT32_MIN, OTHER, 31},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(etw_kernel_priority_of(rows[i].prio, rows[i].policy),
				 rows[i].wanted);
}

static void test_priority__keeps_order(void **state)
{
	uint8_t before = ETW_KERNEL_PRIORITY_HIGHEST;

	(void)state;
	for (int32_t prio = -1; prio < 140; prio++) {
		uint8_t now = etw_kernel_priority_of(prio, OTHER);

		assert_true(now <= before);
		assert_true(now >= 1);
		before = now;
	}
}

static void test_priority__of_stat_is_the_same(void **state)
{
	(void)state;
	for (int32_t nice = -20; nice < 20; nice++) {
		assert_int_equal(etw_kernel_priority_of_stat(nice, 0, OTHER),
				 etw_kernel_priority_of(120 + nice, OTHER));
		assert_int_equal(etw_kernel_priority_of_stat(nice, 0, ETW_KERNEL_POLICY_IDLE), 1);
	}
	for (uint32_t realtime = 1; realtime < 100; realtime++) {
		int32_t prio = 99 - (int32_t)realtime;

		assert_int_equal(etw_kernel_priority_of_stat(0, realtime, ETW_KERNEL_POLICY_FIFO),
				 etw_kernel_priority_of(prio, ETW_KERNEL_POLICY_FIFO));
		assert_int_equal(etw_kernel_priority_of_stat(0, realtime, ETW_KERNEL_POLICY_RR),
				 etw_kernel_priority_of(prio, ETW_KERNEL_POLICY_RR));
	}
	assert_int_equal(etw_kernel_priority_of_stat(0, 0, ETW_KERNEL_POLICY_DEADLINE), 31);
	assert_int_equal(etw_kernel_priority_of_stat(0, 1000, ETW_KERNEL_POLICY_FIFO), 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_priority__is_that_of_the_table),
		cmocka_unit_test(test_priority__keeps_order),
		cmocka_unit_test(test_priority__of_stat_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
