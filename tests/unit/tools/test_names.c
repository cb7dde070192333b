/* SPDX-License-Identifier: MIT */
#include "tools/common/names.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Traces are opened by the command-line cases; here is what there is without any. */
static void test_names__of_nothing_are_empty(void **state)
{
	struct etw_names names = {0};

	(void)state;
	assert_true(etw_names_is_empty(&names));
	assert_null(etw_names_of(&names, 0));
	etw_names_done(&names);
	etw_names_done(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names__of_nothing_are_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
