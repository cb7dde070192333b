/* SPDX-License-Identifier: MIT */
/* Payloads of builders: schemas that nobody should have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "api/friendly/builder.h"

/* 65535 x 65535 of nothing take no byte of the payload. */
static void test_payload__nothing_takes_no_time(void **state)
{
	static const struct etw_field fields[] = {
		{.name = "Outer",
		 .flags = PropertyStruct | PropertyParamFixedCount,
		 .count = UINT16_MAX,
		 .struct_first = 1,
		 .struct_count = 1},
		{.name = "Inner",
		 .flags = PropertyStruct | PropertyParamFixedCount,
		 .count = UINT16_MAX,
		 .struct_first = 2,
		 .struct_count = 0},
	};
	const struct etw_schema schema = {.fields = fields, .field_count = 2, .top_count = 1};
	const struct etw_set_values values = {0};
	struct etw_text payload = {0};

	(void)state;
	assert_int_equal(etw_payload_write(&schema, &values, &payload), -E2BIG);
	etw_text_done(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_payload__nothing_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
