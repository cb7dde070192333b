/* SPDX-License-Identifier: MIT */
#include "daemon/names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool are_same(const char *left, const char *right)
{
	char *left_key = NULL, *right_key = NULL;
	bool is_same;

	assert_int_equal(etwd_name_fold(left, &left_key), 0);
	assert_int_equal(etwd_name_fold(right, &right_key), 0);
	is_same = strcmp(left_key, right_key) == 0;
	free(left_key);
	free(right_key);
	return is_same;
}

static void test_names__case_does_not_matter(void **state)
{
	(void)state;
	assert_true(are_same("NT Kernel Logger", "nt kernel LOGGER"));
	assert_true(are_same("\xC3\x84rger", "\xC3\xA4RGER"));
	assert_true(are_same("\xD0\x96", "\xD0\xB6"));
	assert_true(are_same("", ""));
	assert_false(are_same("a", "a "));
	assert_false(are_same("a", "\xC3\xA4"));
}

static void test_names__must_be_utf8(void **state)
{
	char *key = NULL;

	(void)state;
	assert_int_equal(etwd_name_fold("\xC3", &key), -EINVAL);
	assert_int_equal(etwd_name_fold("a\xFFz", &key), -EINVAL);
	assert_null(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names__case_does_not_matter),
		cmocka_unit_test(test_names__must_be_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
