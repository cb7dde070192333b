/* SPDX-License-Identifier: MIT */
/* Names with wildcards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/pattern.h"

static bool matches(const char *pattern, const char *name)
{
	return etw_pattern_matches(pattern, name, strlen(name));
}

static void test_pattern__wildcards_and_case(void **state)
{
	(void)state;
	assert_true(matches("process", "Process"));
	assert_true(matches("*", ""));
	assert_true(matches("Microsoft-*-Kernel*", "microsoft-windows-kernel-file"));
	assert_true(matches("*a*a", "banana"));
	assert_true(matches("a**b", "ab"));
	assert_false(matches("process", "Processes"));
	assert_false(matches("*b", "banana"));
	assert_false(matches("", "x"));
	assert_true(etw_pattern_matches("abc", "abcdef", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pattern__wildcards_and_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
