/* SPDX-License-Identifier: MIT */
/* Priorities of I/O, what a record says of a thread, and what the kernel says of this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "source/kernel/processes/thread_facts.h"

#define CLASS(number, level) ((number) << 13 | (level))

static void test_thread_facts__io_priority(void **state)
{
	static const struct {
		uint16_t io_priority;
		int32_t nice;
		uint8_t wanted;
	} rows[] = {
		{0, 0, 2},           {0, 4, 2},           {0, 5, 1},           {0, 19, 1},
		{0, -1, 3},          {0, -20, 3},         {CLASS(1, 0), 0, 4}, {CLASS(1, 7), 19, 4},
		{CLASS(2, 0), 0, 3}, {CLASS(2, 4), 0, 2}, {CLASS(2, 7), 0, 1}, {CLASS(3, 0), 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(etw_kernel_io_priority_of(rows[i].io_priority, rows[i].nice),
				 rows[i].wanted);
}

static void test_thread_facts__of_a_record(void **state)
{
	const struct etw_kernel_task task = {
		.affinity = 3,
		.user_stack = 0x1000,
		.entry = 0x2000,
		.priority = 125,
	};
	const struct etw_kernel_task realtime = {.priority = 49, .policy = 1};
	struct etw_kernel_thread_facts facts = etw_kernel_thread_facts_of(&task);

	(void)state;
	assert_int_equal(facts.affinity, 3);
	assert_int_equal(facts.user_stack, 0x1000);
	assert_int_equal(facts.entry, 0x2000);
	assert_int_equal(facts.priority, 6);
	assert_int_equal(facts.io_priority, 1);
	facts = etw_kernel_thread_facts_of(&realtime);
	assert_int_equal(facts.priority, 23);
	assert_int_equal(facts.io_priority, 2);
}

static void test_thread_facts__asked(void **state)
{
	struct etw_kernel_thread_facts facts = {0};

	(void)state;
	etw_kernel_thread_facts_ask((uint32_t)gettid(), 0, &facts);
	assert_true(facts.io_priority <= 4);
	facts = (struct etw_kernel_thread_facts){0};
	etw_kernel_thread_facts_ask(INT32_MAX, 0, &facts);
	assert_int_equal(facts.affinity, 0);
	assert_int_equal(facts.io_priority, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_facts__io_priority),
		cmocka_unit_test(test_thread_facts__of_a_record),
		cmocka_unit_test(test_thread_facts__asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
