/* SPDX-License-Identifier: MIT */
/* Where the index is found without being told. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "schema/known/known_internal.h"

/* Test programs of the build tree lie as those of an installation do: beside the folder share. */
static void test_known_find__is_beside_the_folder_of_programs(void **state)
{
	static const char end[] = "share/etw/known-providers.index";
	char path[PATH_MAX];

	(void)state;
	assert_true(etw_known_find_index(path));
	assert_true(strlen(path) > strlen(end));
	assert_string_equal(path + strlen(path) - strlen(end), end);
}

/* The folder that is current has no say. */
static void test_known_find__is_the_same_from_any_folder(void **state)
{
	char here[PATH_MAX], there[PATH_MAX];

	(void)state;
	assert_true(etw_known_find_index(here));
	assert_int_equal(here[0], '/');
	assert_int_equal(chdir("/"), 0);
	assert_true(etw_known_find_index(there));
	assert_string_equal(here, there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_find__is_beside_the_folder_of_programs),
		cmocka_unit_test(test_known_find__is_the_same_from_any_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
