/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/compiled/language.h"

static void test_language__numbers_and_names(void **state)
{
	size_t count = 0;

	(void)state;
	assert_int_equal(etw_language_number("en-US"), 0x409);
	assert_int_equal(etw_language_number("DE-de"), 0x407);
	assert_int_equal(etw_language_number("sr-Latn-RS"), 0x241a);
	assert_int_equal(etw_language_number("xx-XX"), 0);
	assert_int_equal(etw_language_number(""), 0);
	assert_string_equal(etw_language_name(0), "en-US");
	while (etw_language_name(count)) {
		assert_int_not_equal(etw_language_number(etw_language_name(count)), 0);
		count++;
	}
	assert_true(count > 40);
}

static void test_language__rank_follows_preference(void **state)
{
	static const char *const wanted[] = {"de-DE", "xx-XX", "fr-FR", NULL};
	static const uint32_t order[] = {0x407, 0x40c, 0xc07 /* de-AT */, 0xc0c /* fr-CA */, 0x409,
					 0,     0x411};

	(void)state;
	for (size_t i = 1; i < sizeof(order) / sizeof(order[0]); i++)
		assert_true(etw_language_rank(order[i - 1], wanted) <
			    etw_language_rank(order[i], wanted));
	assert_int_equal(etw_language_rank(0x411, wanted), etw_language_rank(0x412, wanted));
}

static void test_language__without_preference_english_then_neutral(void **state)
{
	(void)state;
	assert_int_equal(etw_language_rank(0x409, NULL), 0);
	assert_int_equal(etw_language_rank(0, NULL), 1);
	assert_int_equal(etw_language_rank(0x407, NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_language__numbers_and_names),
		cmocka_unit_test(test_language__rank_follows_preference),
		cmocka_unit_test(test_language__without_preference_english_then_neutral),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
