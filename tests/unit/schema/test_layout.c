/* SPDX-License-Identifier: MIT */
/* Which of two layouts is the same, and which the richer one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/layout.h"

#define FIELD(field_name, type)                                     \
	{                                                           \
		.name = (field_name), .in_type = TDH_INTYPE_##type, \
		.out_type = TDH_OUTTYPE_UNSIGNEDINT, .count = 1     \
	}

static struct etw_schema schema_of(const struct etw_field *fields, uint16_t count)
{
	return (struct etw_schema){.field_count = count, .top_count = count, .fields = fields};
}

static void check_richer(const struct etw_schema *left, const struct etw_schema *right)
{
	assert_true(etw_layout_compare(left, right) > 0);
	assert_true(etw_layout_compare(right, left) < 0);
}

static void test_layout__equal_by_names_and_types(void **state)
{
	struct etw_field fields[2] = {FIELD("a", UINT32), FIELD("b", UINT32)};
	struct etw_field others[2] = {FIELD("a", UINT32), FIELD("b", UINT32)};
	struct etw_schema left = schema_of(fields, 2), right = schema_of(others, 2);

	(void)state;
	others[1].map_name = "map";
	others[1].out_type = TDH_OUTTYPE_PORT;
	right.task_name = "task";
	assert_true(etw_layout_equal(&left, &right));
	others[1].name = "c";
	assert_false(etw_layout_equal(&left, &right));
	others[1].name = "b";
	others[1].in_type = TDH_INTYPE_INT32;
	assert_false(etw_layout_equal(&left, &right));
	others[1].in_type = TDH_INTYPE_UINT32;
	others[1].length = 4;
	assert_false(etw_layout_equal(&left, &right));
	right.field_count = right.top_count = 1;
	assert_false(etw_layout_equal(&left, &right));
}

static void test_layout__structs_are_equal_by_their_members(void **state)
{
	struct etw_field fields[2] = {{.name = "s",
				       .flags = PropertyStruct,
				       .count = 1,
				       .struct_first = 1,
				       .struct_count = 1},
				      FIELD("m", UINT8)};
	struct etw_field others[2] = {fields[0], fields[1]};
	struct etw_schema left = schema_of(fields, 2), right = schema_of(others, 2);

	(void)state;
	assert_true(etw_layout_equal(&left, &right));
	others[0].struct_count = 0;
	assert_false(etw_layout_equal(&left, &right));
}

static void test_layout__doubt_then_fields_then_what_is_said_of_them(void **state)
{
	struct etw_field fields[2] = {FIELD("a", UINT32), FIELD("b", UINT32)};
	struct etw_field others[2] = {FIELD("a", UINT32), FIELD("b", UINT32)};
	struct etw_schema left = schema_of(fields, 2), right = schema_of(others, 2);

	(void)state;
	assert_int_equal(etw_layout_compare(&left, &right), 0);
	right.message = "text";
	check_richer(&right, &left);
	fields[0].map_name = "map";
	check_richer(&left, &right);
	left.field_count = left.top_count = 1;
	check_richer(&right, &left);
	right.marks = ETW_SCHEMA_INFERRED;
	check_richer(&left, &right);
	/* What was mended is no doubt. */
	right.marks = ETW_SCHEMA_MENDED;
	check_richer(&right, &left);
}

static void test_layout__providers_by_events_then_names(void **state)
{
	struct etw_provider_schema left = {.schema_count = 3, .task_count = 1};
	struct etw_provider_schema right = {.schema_count = 3, .keyword_count = 1};

	(void)state;
	assert_int_equal(etw_layout_compare_providers(&left, &right), 0);
	right.opcode_count = 1;
	assert_true(etw_layout_compare_providers(&left, &right) < 0);
	left.schema_count = 4;
	assert_true(etw_layout_compare_providers(&left, &right) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout__equal_by_names_and_types),
		cmocka_unit_test(test_layout__structs_are_equal_by_their_members),
		cmocka_unit_test(test_layout__doubt_then_fields_then_what_is_said_of_them),
		cmocka_unit_test(test_layout__providers_by_events_then_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
