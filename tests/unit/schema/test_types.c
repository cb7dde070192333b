/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/manifest/manifest_internal.h"
#include "schema/types.h"

static void test_types__defaults_and_sizes(void **state)
{
	(void)state;
	assert_int_equal(etw_schema_out_type(TDH_INTYPE_NULL), 0);
	assert_int_equal(etw_schema_out_type(TDH_INTYPE_UINT32), TDH_OUTTYPE_UNSIGNEDINT);
	assert_int_equal(etw_schema_out_type(TDH_INTYPE_POINTER), TDH_OUTTYPE_HEXINT64);
	assert_int_equal(etw_schema_out_type(TDH_INTYPE_WBEMSID), TDH_OUTTYPE_STRING);
	assert_int_equal(etw_schema_out_type(26), 0);
	assert_int_equal(etw_schema_out_type(299), 0);
	assert_int_equal(etw_schema_out_type(311), 0);
	assert_int_equal(etw_schema_length(TDH_INTYPE_BOOLEAN), 4);
	assert_int_equal(etw_schema_length(TDH_INTYPE_SYSTEMTIME), 16);
	assert_int_equal(etw_schema_length(TDH_INTYPE_UNICODECHAR), 2);
	assert_int_equal(etw_schema_length(TDH_INTYPE_SID), 0);
}

static void test_types__every_in_type_has_its_facts(void **state)
{
	const struct etw_type *unknown = etw_schema_type(TDH_INTYPE_RESERVED24);

	(void)state;
	for (unsigned in_type = 0; in_type <= UINT16_MAX; in_type++) {
		const struct etw_type *type = etw_schema_type((uint16_t)in_type);
		bool is_known = in_type <= TDH_INTYPE_MANIFEST_COUNTEDBINARY ||
				(in_type >= TDH_INTYPE_COUNTEDSTRING &&
				 in_type <= TDH_INTYPE_WBEMSID);

		if (in_type == TDH_INTYPE_RESERVED24 || !is_known) {
			assert_memory_equal(type, unknown, sizeof(*type));
			continue;
		}
		assert_int_not_equal(type->extent, ETW_EXTENT_UNKNOWN);
		assert_int_equal(type->out_type == 0, in_type == TDH_INTYPE_NULL);
		assert_true(type->unit != 0);
	}
	assert_int_equal(unknown->extent, ETW_EXTENT_UNKNOWN);
	assert_int_equal(unknown->kind, ETW_TYPE_BYTES);
	assert_int_equal(etw_schema_type(TDH_INTYPE_UNICODESTRING)->unit, 2);
	assert_int_equal(etw_schema_type(TDH_INTYPE_SIZET)->extent, ETW_EXTENT_POINTER);
	assert_int_equal(etw_schema_type(TDH_INTYPE_INT16)->kind, ETW_TYPE_SIGNED);
	assert_int_equal(etw_schema_type(TDH_INTYPE_HEXDUMP)->extent, ETW_EXTENT_COUNT32);
}

static void test_types__winmeta_names(void **state)
{
	(void)state;
	assert_string_equal(etw_schema_level_name(0), "win:LogAlways");
	assert_string_equal(etw_schema_level_name(5), "win:Verbose");
	assert_null(etw_schema_level_name(6));
	assert_string_equal(etw_schema_opcode_name(9), "win:Send");
	assert_string_equal(etw_schema_opcode_name(240), "win:Receive");
	assert_null(etw_schema_opcode_name(10));
}

/* How many numbers have a name; the reader of manifests knows each by the same number. */
static unsigned count_names(const char *(*find)(uint8_t), enum symbol_kind kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i <= UINT8_MAX; i++) {
		const char *name = find((uint8_t)i), *message;
		uint64_t value = UINT64_MAX;

		if (!name)
			continue;
		assert_memory_equal(name, "win:", 4);
		assert_true(etw_winmeta_find(kind, name + 4, &value, &message));
		assert_int_equal(value, i);
		count++;
	}
	return count;
}

static void test_types__winmeta_names_are_those_of_manifests(void **state)
{
	(void)state;
	assert_int_equal(count_names(etw_schema_level_name, SYMBOL_LEVEL), 6);
	assert_int_equal(count_names(etw_schema_opcode_name, SYMBOL_OPCODE), 11);
}

static void check(struct etw_field *fields, uint16_t count, uint16_t top_count,
		  const char *sentence)
{
	const struct etw_schema schema = {
		.field_count = count, .top_count = top_count, .fields = fields};
	const char *found = etw_schema_fields_check(&schema);

	if (sentence)
		assert_string_equal(found, sentence);
	else
		assert_null(found);
}

static struct etw_field struct_of(uint16_t first, uint16_t count)
{
	return (struct etw_field){
		.flags = PropertyStruct, .count = 1, .struct_first = first, .struct_count = count};
}

static void test_types__structs_must_be_trees(void **state)
{
	struct etw_field fields[6] = {struct_of(2, 2), struct_of(4, 1), struct_of(5, 1)};

	(void)state;
	check(fields, 6, 2, NULL);
	fields[1].struct_first = 3;
	check(fields, 6, 2, "two structs share a member");
	fields[1].struct_first = 1;
	check(fields, 6, 2, "the members of a struct do not lie behind it");
	fields[1] = struct_of(5, 2);
	check(fields, 6, 2, "the members of a struct lie outside the fields");
	fields[1] = struct_of(4, 1);
	fields[2].struct_first = 2;
	check(fields, 6, 2, "the members of a struct do not lie behind it");
	check(fields, 6, 7, "the number of fields is beyond the limit");
}

static void test_types__structs_nest_to_a_limit(void **state)
{
	struct etw_field fields[ETW_SCHEMA_DEPTH_MAX + 2] = {0};

	(void)state;
	for (uint16_t i = 0; i < ETW_SCHEMA_DEPTH_MAX; i++)
		fields[i] = struct_of((uint16_t)(i + 1), 1);
	check(fields, ETW_SCHEMA_DEPTH_MAX + 1, 1, NULL);
	fields[ETW_SCHEMA_DEPTH_MAX] = struct_of(ETW_SCHEMA_DEPTH_MAX + 1, 1);
	check(fields, ETW_SCHEMA_DEPTH_MAX + 2, 1, "structs are nested too deeply");
}

static void test_types__references_go_backwards(void **state)
{
	struct etw_field fields[2] = {{.count = 1}, {.flags = PropertyParamLength, .length = 0}};

	(void)state;
	check(fields, 2, 2, NULL);
	fields[1].length = 1;
	check(fields, 2, 2, "a length refers to a field that is not an earlier one");
	fields[0].flags = PropertyParamCount;
	fields[0].count = 0;
	check(fields, 2, 2, "a count refers to a field that is not an earlier one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types__defaults_and_sizes),
		cmocka_unit_test(test_types__every_in_type_has_its_facts),
		cmocka_unit_test(test_types__winmeta_names),
		cmocka_unit_test(test_types__winmeta_names_are_those_of_manifests),
		cmocka_unit_test(test_types__structs_must_be_trees),
		cmocka_unit_test(test_types__structs_nest_to_a_limit),
		cmocka_unit_test(test_types__references_go_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
