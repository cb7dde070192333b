/* SPDX-License-Identifier: MIT */
/* Names of a series of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "session/common/file_pattern.h"

static void test_file_pattern__one_place_for_the_number(void **state)
{
	(void)state;
	assert_true(etw_file_pattern_is_one("/a/b-%d.etl"));
	assert_true(etw_file_pattern_is_one("%d"));
	assert_true(etw_file_pattern_is_one("/100%/%d"));
	assert_false(etw_file_pattern_is_one("/a/b.etl"));
	assert_false(etw_file_pattern_is_one("/a/%u.etl"));
	assert_false(etw_file_pattern_is_one("/a/%d-%d.etl"));
	assert_false(etw_file_pattern_is_one(""));
}

static void test_file_pattern__expanded(void **state)
{
	char name[WIRE_MESSAGE_NAME_MAX + 1], room[WIRE_MESSAGE_NAME_MAX + 1];

	(void)state;
	assert_int_equal(etw_file_pattern_expand("/a/b-%d.etl", 17, room), 0);
	assert_string_equal(room, "/a/b-17.etl");
	assert_int_equal(etw_file_pattern_expand("/50%s/%d", UINT32_MAX, room), 0);
	assert_string_equal(room, "/50%s/4294967295");
	/* Without a number it is a name as any other. */
	assert_int_equal(etw_file_pattern_expand("/a/%d%d", 0, room), 0);
	assert_string_equal(room, "/a/%d%d");
	assert_int_equal(etw_file_pattern_expand("/a/%d%d", 1, room), -EINVAL);
	assert_int_equal(etw_file_pattern_expand("/a", 1, room), -EINVAL);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(etw_file_pattern_expand(name, 0, room), 0);
	memcpy(name, "%d", 2);
	assert_int_equal(etw_file_pattern_expand(name, 12, room), 0);
	assert_int_equal(etw_file_pattern_expand(name, 123, room), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_pattern__one_place_for_the_number),
		cmocka_unit_test(test_file_pattern__expanded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
