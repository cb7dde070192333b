/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/value.h"

static void test_value__spans(void **state)
{
	static const struct {
		uint16_t in_type, out_type, length;
		uint32_t flags;
		unsigned pointer_bytes;
		const char *at;
		uint32_t bytes;
		struct etw_value_span span;
	} rows[] = {
		{TDH_INTYPE_UINT16, 0, 0, 0, 8, "\1\2\3", 3, {0, 2, 2}},
		{TDH_INTYPE_POINTER, 0, 0, 0, 4, "abcdefgh", 8, {0, 4, 4}},
		{TDH_INTYPE_POINTER, 0, 0, 0, 8, "abcdefgh", 8, {0, 8, 8}},
		{TDH_INTYPE_ANSISTRING, 0, 0, 0, 8, "ab\0c", 4, {0, 2, 3}},
		{TDH_INTYPE_ANSISTRING, 0, 3, 0, 8, "a\0cd", 4, {0, 1, 3}},
		{TDH_INTYPE_UNICODESTRING, 0, 0, 0, 8, "a\0b", 3, {0, 2, 3}},
		{TDH_INTYPE_COUNTEDSTRING, 0, 0, 0, 8, "\2\0ab", 4, {2, 2, 4}},
		{TDH_INTYPE_BINARY, 0, 0, PropertyParamFixedLength, 8, "ab", 2, {0, 0, 0}},
		{TDH_INTYPE_BINARY,
		 TDH_OUTTYPE_IPV6,
		 0,
		 0,
		 8,
		 "0123456789abcdefg",
		 17,
		 {0, 16, 16}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct etw_field field = {
			.in_type = rows[i].in_type,
			.out_type = rows[i].out_type,
			.length = rows[i].length,
			.flags = rows[i].flags,
			.count = 1,
		};
		struct etw_value_span span;

		assert_int_equal(etw_value_measure(&field, rows[i].pointer_bytes,
						   (const uint8_t *)rows[i].at, rows[i].bytes,
						   &span),
				 0);
		assert_memory_equal(&span, &rows[i].span, sizeof(span));
	}
}

static void test_value__errors(void **state)
{
	const struct etw_field number = {.in_type = TDH_INTYPE_UINT32, .count = 1};
	const struct etw_field binary = {.in_type = TDH_INTYPE_BINARY, .count = 1};
	const struct etw_field unknown = {.in_type = 99, .count = 1};
	const struct etw_field referring = {
		.in_type = TDH_INTYPE_ANSISTRING, .flags = PropertyParamLength, .count = 1};
	const uint8_t at[4] = {0};
	struct etw_value_span span;

	(void)state;
	assert_int_equal(etw_value_measure(&number, 8, at, 3, &span), -EBADMSG);
	assert_int_equal(etw_value_measure(&binary, 8, at, 4, &span), -EINVAL);
	assert_int_equal(etw_value_measure(&unknown, 8, at, 4, &span), -EINVAL);
	assert_int_equal(etw_value_measure(&referring, 8, at, 4, &span), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value__spans),
		cmocka_unit_test(test_value__errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
