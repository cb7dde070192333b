/* SPDX-License-Identifier: MIT */
/* The components of this build: one a line, each with its state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/build.h"

static void test_build__each_component_is_in_or_has_a_reason(void **state)
{
	const char *at = etw_build_components();
	int count = 0;

	(void)state;
	for (; *at; count++) {
		const char *end = strchr(at, '\n');
		const char *colon = strstr(at, ": ");

		assert_non_null(end);
		assert_non_null(colon);
		assert_true(colon > at && colon < end);
		if (strncmp(colon, ": in\n", 5) != 0) {
			assert_int_equal(strncmp(colon, ": left out: ", 12), 0);
			assert_true(end > colon + 12);
		}
		at = end + 1;
	}
	assert_true(count >= 3);
}

static void test_build__tests_and_kernel_events_are_named(void **state)
{
	const char *components = etw_build_components();

	(void)state;
	assert_int_equal(strncmp(components, "kernel events: ", 15), 0);
	assert_non_null(strstr(components, "\ntests: in\n")); /* this is one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build__each_component_is_in_or_has_a_reason),
		cmocka_unit_test(test_build__tests_and_kernel_events_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
