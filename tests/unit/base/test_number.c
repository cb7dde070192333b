/* SPDX-License-Identifier: MIT */
/* Numbers as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/number.h"

static void test_number__parse(void **state)
{
	uint64_t value = 0;

	(void)state;
	assert_true(etw_number_parse("0x1F", 100, &value));
	assert_int_equal(value, 31);
	assert_true(etw_number_parse("18446744073709551615", UINT64_MAX, &value));
	assert_false(etw_number_parse("101", 100, &value));
	assert_false(etw_number_parse("18446744073709551616", UINT64_MAX, &value));
	assert_false(etw_number_parse("-1", 100, &value));
	assert_false(etw_number_parse(" 1", 100, &value));
	assert_false(etw_number_parse("1x", 100, &value));
	assert_false(etw_number_parse("0x", 100, &value));
	assert_false(etw_number_parse("", 100, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number__parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
