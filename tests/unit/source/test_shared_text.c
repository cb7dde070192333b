/* SPDX-License-Identifier: MIT */
/* Counted texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/kernel/processes/shared_text.h"

static void test_shared_text__narrow(void **state)
{
	struct etw_kernel_text *text = etw_kernel_text_new("abcd", 3);

	(void)state;
	assert_string_equal(etw_kernel_text_string(text), "abc");
	assert_int_equal(text->byte_count, 4);
	assert_ptr_equal(etw_kernel_text_ref(text), text);
	etw_kernel_text_unref(text);
	assert_string_equal(etw_kernel_text_string(text), "abc");
	etw_kernel_text_unref(text);
}

static void test_shared_text__wide(void **state)
{
	static const uint8_t bytes[] = {'a', 0, 0xE4, 0, 0xFD, 0xFF, 0, 0};
	struct etw_kernel_text *text = etw_kernel_text_new_wide("a\xC3\xA4\xFF");

	(void)state;
	assert_int_equal(text->byte_count, sizeof(bytes));
	assert_memory_equal(text->at, bytes, sizeof(bytes));
	etw_kernel_text_unref(text);
}

static void test_shared_text__none(void **state)
{
	(void)state;
	assert_null(etw_kernel_text_ref(NULL));
	assert_string_equal(etw_kernel_text_string(NULL), "");
	etw_kernel_text_unref(NULL);
	assert_null(etw_kernel_text_new("", SIZE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_text__narrow),
		cmocka_unit_test(test_shared_text__wide),
		cmocka_unit_test(test_shared_text__none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
