/* SPDX-License-Identifier: MIT */
/* How entry points leave with a code; the table itself is wire's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/win32_error.h"

static ULONG entry_point(int result, int *went_on)
{
	TRY_WIN32(result);
	*went_on = 1;
	return 0;
}

static void test_win32_error__try_returns_on_negative_only(void **state)
{
	int went_on = 0;

	(void)state;
	assert_int_equal(entry_point(-ENOENT, &went_on), 2);
	assert_false(went_on);
	assert_int_equal(entry_point(1, &went_on), 0);
	assert_true(went_on);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_win32_error__try_returns_on_negative_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
