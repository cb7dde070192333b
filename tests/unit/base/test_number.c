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

static void test_number__hex_digits(void **state)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	(void)state;
	for (int i = 0; i < 32; i++)
		assert_int_equal(etw_hex_digit(digits[i]), i % 16);
	for (int c = -128; c < 128; c++) {
		if (!c || !strchr(digits, c))
			assert_int_equal(etw_hex_digit((char)c), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number__parse),
		cmocka_unit_test(test_number__hex_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
