/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/tdh/give.h"

static void test_give__tells_the_size_whatever_the_room(void **state)
{
	ULONG size = 0;

	(void)state;
	assert_int_equal(etw_tdh_claim(12, 0, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, 12);
	assert_int_equal(etw_tdh_claim(12, 11, &size), ERROR_INSUFFICIENT_BUFFER);
	size = 0;
	assert_int_equal(etw_tdh_claim(12, 12, &size), ERROR_SUCCESS);
	assert_int_equal(size, 12);
	assert_int_equal(etw_tdh_claim(0, 0, &size), ERROR_SUCCESS);
	assert_int_equal(size, 0);
}

static void test_give__what_no_size_can_tell_is_an_error(void **state)
{
	ULONG size = 7;

	(void)state;
	assert_int_equal(etw_tdh_claim((size_t)UINT32_MAX + 1, 100, &size),
			 ERROR_ARITHMETIC_OVERFLOW);
	assert_int_equal(size, 7);
	assert_int_equal(etw_tdh_claim(UINT32_MAX, UINT32_MAX, &size), ERROR_SUCCESS);
	assert_int_equal(size, UINT32_MAX);
}

static void test_give__copies_only_into_room(void **state)
{
	char buffer[4] = "...";
	ULONG size = 3;

	(void)state;
	assert_int_equal(etw_tdh_give("abcd", 4, buffer, size, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_string_equal(buffer, "...");
	assert_int_equal(size, 4);
	assert_int_equal(etw_tdh_give("abc", 4, buffer, size, &size), ERROR_SUCCESS);
	assert_string_equal(buffer, "abc");
	assert_int_equal(etw_tdh_give(NULL, 0, NULL, 0, &size), ERROR_SUCCESS);
	assert_int_equal(size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_give__tells_the_size_whatever_the_room),
		cmocka_unit_test(test_give__what_no_size_can_tell_is_an_error),
		cmocka_unit_test(test_give__copies_only_into_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
