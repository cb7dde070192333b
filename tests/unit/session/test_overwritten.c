/* SPDX-License-Identifier: MIT */
/* Buffers of a history that a flush has still to write, while newer ones take their places. */
#include "session/overwritten.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 64

static void keep(struct etw_overwritten *overwritten, uint64_t sequence)
{
	uint8_t buffer[BYTES];

	memset(buffer, (int)sequence, sizeof(buffer));
	etw_overwritten_keep(overwritten, sequence, buffer);
}

static void assert_takes(struct etw_overwritten *overwritten, uint64_t sequence)
{
	uint8_t expected[BYTES], buffer[BYTES];

	memset(expected, (int)sequence, sizeof(expected));
	assert_int_equal(overwritten->next, sequence);
	assert_true(etw_overwritten_take(overwritten, buffer));
	assert_memory_equal(buffer, expected, BYTES);
}

static void test_overwritten__what_is_still_to_be_taken(void **state)
{
	struct etw_overwritten overwritten = {.buffer_bytes = BYTES, .next = 10, .end = 13};
	uint8_t buffer[BYTES];

	(void)state;
	assert_false(etw_overwritten_take(&overwritten, buffer));
	keep(&overwritten, 9); /* taken before */
	keep(&overwritten, 10);
	keep(&overwritten, 11);
	assert_takes(&overwritten, 10);
	keep(&overwritten, 12);
	keep(&overwritten, 13); /* came later */
	assert_takes(&overwritten, 11);
	assert_takes(&overwritten, 12);
	assert_false(etw_overwritten_take(&overwritten, buffer));
	assert_int_equal(overwritten.next, 13);
	assert_int_equal(overwritten.result, 0);
	etw_overwritten_done(&overwritten);
}

static void test_overwritten__budget(void **state)
{
	static const struct etw_budget_limits limits = {.uid = 2 * BYTES};
	struct etw_overwritten overwritten = {.buffer_bytes = BYTES, .next = 1, .end = 9};
	struct etw_budget *budget;

	(void)state;
	assert_int_equal(etw_budget_create(&limits, &budget), 0);
	overwritten.budget = budget;
	keep(&overwritten, 1);
	keep(&overwritten, 2);
	assert_takes(&overwritten, 1);
	keep(&overwritten, 3);
	assert_int_equal(overwritten.result, 0);
	keep(&overwritten, 4);
	assert_int_equal(overwritten.result, -ENOMEM);
	/* A flush that has failed needs no more. */
	assert_takes(&overwritten, 2);
	keep(&overwritten, 5);
	etw_overwritten_done(&overwritten);
	assert_int_equal(etw_budget_hold(budget, 2 * BYTES), 0);
	assert_int_equal(etw_budget_hold(budget, 1), -ENOMEM);
	etw_budget_let_go(budget, 2 * BYTES);
	etw_budget_free(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overwritten__what_is_still_to_be_taken),
		cmocka_unit_test(test_overwritten__budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
