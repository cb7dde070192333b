/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/patience.h"

#define MS ETW_NS_PER_MS

static void test_patience__ends_after_the_limit(void **state)
{
	struct etw_patience patience = etw_patience_begin(100, 5 * MS);
	uint64_t now_ns = 5 * MS;
	unsigned looks = 0;

	(void)state;
	while (!etw_patience_look(&patience, now_ns)) {
		assert_true(etw_patience_next_ns(&patience) > now_ns);
		now_ns = etw_patience_next_ns(&patience);
		looks++;
	}
	assert_int_equal(now_ns, 105 * MS);
	assert_int_equal(looks, ETW_PATIENCE_STEPS);
}

static void test_patience__a_standstill_counts_as_one_step(void **state)
{
	struct etw_patience patience = etw_patience_begin(100, 0);

	(void)state;
	assert_false(etw_patience_look(&patience, 60000 * MS));
	assert_false(etw_patience_look(&patience, 60001 * MS));
	assert_true(patience.left_ns > 80 * MS);
}

static void test_patience__no_limit_is_over_at_once(void **state)
{
	struct etw_patience patience = etw_patience_begin(0, 7);

	(void)state;
	assert_true(etw_patience_look(&patience, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patience__ends_after_the_limit),
		cmocka_unit_test(test_patience__a_standstill_counts_as_one_step),
		cmocka_unit_test(test_patience__no_limit_is_over_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
