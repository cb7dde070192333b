/* SPDX-License-Identifier: MIT */
/*
 * The built-in classic classes: lookup, version rules, and that every table row hangs together. That
 * the layouts are right is shown on genuine events by tests/conformance/kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "schema/kernel.h"
#include "schema/types.h"
#include "wire/hook.h"

static GUID guid(const char *text)
{
	GUID value;

	assert_int_equal(etw_guid_parse(text, &value), 0);
	return value;
}

#define PROCESS    "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"
#define THREAD     "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"
#define PAGE_FAULT "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"
#define IMAGE      "2cb15d1d-5fc1-11d2-abe1-00a0c911f518"
#define DISK_IO    "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"
#define IMAGE_ID   "b3e675d7-2554-4f18-830b-2762732560de"

static const struct etw_schema *find(const char *class_text, uint8_t opcode, uint8_t version)
{
	GUID value = guid(class_text);

	return etw_kernel_class_find(&value, opcode, version);
}

static void test_kernel__finds_an_event(void **state)
{
	const struct etw_schema *schema = find(PROCESS, 1, 4);
	GUID process = guid(PROCESS);
	GUID system_trace = guid("9e814aad-3204-11d2-9a82-006008a86939");

	(void)state;
	assert_non_null(schema);
	assert_string_equal(schema->task_name, "Process");
	assert_string_equal(schema->opcode_name, "Start");
	assert_string_equal(schema->provider_name, "MSNT_SystemTrace");
	assert_memory_equal(&schema->provider, &system_trace, sizeof(GUID));
	assert_memory_equal(&schema->event_guid, &process, sizeof(GUID));
	assert_int_equal(schema->source, DecodingSourceWbem);
	assert_int_equal(schema->descriptor.Opcode, 1);
	assert_int_equal(schema->descriptor.Version, 4);
	assert_int_equal(schema->field_count, 12);
	assert_string_equal(schema->fields[6].name, "Flags");
	assert_int_equal(schema->fields[7].in_type, TDH_INTYPE_WBEMSID);
	assert_string_equal(find(IMAGE, 3, 3)->opcode_name, "DCStart");
	assert_string_equal(find(IMAGE_ID, 0, 2)->provider_name, "KernelTraceControl");
}

static void test_kernel__does_not_find_what_is_unknown(void **state)
{
	(void)state;
	assert_null(find("00000000-0000-0000-0000-000000000000", 0, 0));
	assert_null(find("ffffffff-ffff-ffff-ffff-ffffffffffff", 1, 1));
	/* Only the first 32 bits are those of a class. */
	assert_null(find("3d6fa8d0-0000-0000-0000-000000000000", 1, 4));
	/* Before, between and behind the opcodes of a class. */
	assert_null(find(PROCESS, 0, 4));
	assert_null(find(PROCESS, 5, 4));
	assert_null(find(PROCESS, 255, 4));
	/* A class without any event. */
	assert_null(find("b2d14872-7c5b-463d-8419-ee9bf7d23e04", 32, 2));
}

static void test_kernel__newer_versions_take_the_newest_known(void **state)
{
	(void)state;
	assert_int_equal(find(PROCESS, 1, 5)->descriptor.Version, 4);
	assert_int_equal(find(PROCESS, 39, 5)->descriptor.Version, 5);
	assert_int_equal(find(PROCESS, 1, 255)->descriptor.Version, 4);
	assert_int_equal(find(PROCESS, 32, 4)->descriptor.Version, 2);
}

static void test_kernel__older_versions_take_the_nearest_that_is_not_newer(void **state)
{
	(void)state;
	assert_int_equal(find(DISK_IO, 10, 0)->descriptor.Version, 0);
	assert_int_equal(find(DISK_IO, 10, 1)->descriptor.Version, 1);
	assert_int_equal(find(DISK_IO, 10, 2)->descriptor.Version, 2);
	assert_null(find(DISK_IO, 12, 1));
	/* Defunct came with version 2. */
	assert_null(find(PROCESS, 39, 1));
	/* The number had another meaning before. */
	assert_string_equal(find(THREAD, 48, 2)->opcode_name, "ReserveCreate");
	assert_string_equal(find(THREAD, 48, 3)->opcode_name, "SetPriority");
}

static void test_kernel__classes_without_version_cover_the_older_ones(void **state)
{
	(void)state;
	for (uint8_t version = 0; version <= 3; version++)
		assert_int_equal(find(PAGE_FAULT, 10, version)->descriptor.Version, 2);
}

static void test_kernel__hook_030a_is_an_image_load(void **state)
{
	const GUID *image = etw_hook_class(WIRE_HOOK_IMAGE_LOAD >> 8, WIRE_HOOK_IMAGE_LOAD & 0xFF);
	const struct etw_schema *schema = etw_kernel_class_find(image, 10, 2);

	(void)state;
	assert_non_null(schema);
	assert_string_equal(schema->task_name, "Image");
	assert_string_equal(schema->opcode_name, "Load");
}

static void test_kernel__every_hook_group_has_a_name(void **state)
{
	(void)state;
	for (unsigned group = 0; group < WIRE_HOOK_GROUPS; group++)
		assert_non_null(etw_kernel_class_name(etw_hook_class((uint8_t)group, 0)));
	assert_string_equal(etw_kernel_class_name(&etw_event_trace_guid), "EventTrace");
	assert_string_equal(etw_kernel_class_name(&etw_lost_event_guid), "LostEvent");
	assert_null(etw_kernel_class_name(&(GUID){0}));
}

static void test_kernel__walks_all(void **state)
{
	size_t count = etw_kernel_class_count();

	(void)state;
	assert_true(count > 600);
	assert_null(etw_kernel_class_at(count));
	for (size_t i = 0; i < count; i++) {
		const struct etw_schema *schema = etw_kernel_class_at(i);

		assert_ptr_equal(etw_kernel_class_find(&schema->event_guid,
						       schema->descriptor.Opcode,
						       schema->descriptor.Version),
				 schema);
		assert_non_null(schema->provider_name);
		assert_non_null(schema->opcode_name);
		assert_string_equal(schema->task_name, etw_kernel_class_name(&schema->event_guid));
	}
}

/* Names of fields [first, first + count) are filled in and occur once. */
static void check_names(const struct etw_field *fields, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++) {
		assert_non_null(fields[i].name);
		assert_true(fields[i].name[0]);
		for (unsigned k = first; k < i; k++)
			assert_string_not_equal(fields[i].name, fields[k].name);
	}
}

static void test_kernel__structs_and_counts_hang_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < etw_kernel_class_count(); i++) {
		const struct etw_schema *schema = etw_kernel_class_at(i);
		unsigned next_member = schema->top_count;

		assert_null(etw_schema_fields_check(schema));
		check_names(schema->fields, 0, schema->top_count);
		for (unsigned k = 0; k < schema->field_count; k++) {
			const struct etw_field *field = &schema->fields[k];

			if (!(field->flags & PropertyStruct))
				continue;
			assert_int_equal(field->struct_first, next_member);
			check_names(schema->fields, field->struct_first, field->struct_count);
			next_member += field->struct_count;
		}
		assert_int_equal(next_member, schema->field_count);
	}
}

/* Whether TDH gives the pair a meaning; for those that the classes use. */
static bool is_meaningful(uint16_t in_type, uint16_t out_type)
{
	static const uint16_t others[][2] = {
		{TDH_INTYPE_UINT8, TDH_OUTTYPE_HEXINT8},   {TDH_INTYPE_UINT8, TDH_OUTTYPE_NOPRINT},
		{TDH_INTYPE_UINT16, TDH_OUTTYPE_HEXINT16}, {TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT},
		{TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4},     {TDH_INTYPE_UINT64, TDH_OUTTYPE_ETWTIME},
		{TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_UTF8}, {TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6},
	};

	if (out_type == etw_schema_out_type(in_type))
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i][0] == in_type && others[i][1] == out_type)
			return true;
	}
	return false;
}

static void check_type(const struct etw_field *field)
{
	assert_true(is_meaningful(field->in_type, field->out_type));
	assert_null(field->map);
	assert_null(field->map_name);
	switch (field->in_type) {
	case TDH_INTYPE_BINARY:
		assert_true(field->length > 0);
		assert_true(field->out_type != TDH_OUTTYPE_IPV6 || field->length == 16);
		break;
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_WBEMSID:
		assert_int_equal(field->length, 0);
		break;
	default:
		assert_true(field->length > 0);
		assert_int_equal(field->length, etw_schema_length(field->in_type));
	}
}

static void test_kernel__types_are_meaningful(void **state)
{
	(void)state;
	for (size_t i = 0; i < etw_kernel_class_count(); i++) {
		const struct etw_schema *schema = etw_kernel_class_at(i);

		for (unsigned k = 0; k < schema->field_count; k++) {
			if (!(schema->fields[k].flags & PropertyStruct))
				check_type(&schema->fields[k]);
		}
	}
}

/* What follows an optional field is optional too, and nothing follows what runs to the end. */
static void test_kernel__the_open_ends_are_last(void **state)
{
	(void)state;
	for (size_t i = 0; i < etw_kernel_class_count(); i++) {
		const struct etw_schema *schema = etw_kernel_class_at(i);
		bool is_open = false;

		for (unsigned k = 0; k < schema->top_count; k++) {
			uint32_t flags = schema->fields[k].flags;

			assert_true(!is_open || (flags & ETW_FIELD_OPTIONAL));
			is_open = flags & ETW_FIELD_OPTIONAL;
			if (flags & ETW_FIELD_TO_END)
				assert_int_equal(k + 1, schema->top_count);
		}
		for (unsigned k = schema->top_count; k < schema->field_count; k++)
			assert_false(schema->fields[k].flags &
				     (ETW_FIELD_OPTIONAL | ETW_FIELD_TO_END));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel__finds_an_event),
		cmocka_unit_test(test_kernel__does_not_find_what_is_unknown),
		cmocka_unit_test(test_kernel__newer_versions_take_the_newest_known),
		cmocka_unit_test(test_kernel__older_versions_take_the_nearest_that_is_not_newer),
		cmocka_unit_test(test_kernel__classes_without_version_cover_the_older_ones),
		cmocka_unit_test(test_kernel__hook_030a_is_an_image_load),
		cmocka_unit_test(test_kernel__every_hook_group_has_a_name),
		cmocka_unit_test(test_kernel__walks_all),
		cmocka_unit_test(test_kernel__structs_and_counts_hang_together),
		cmocka_unit_test(test_kernel__types_are_meaningful),
		cmocka_unit_test(test_kernel__the_open_ends_are_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
