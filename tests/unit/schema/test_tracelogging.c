/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/metadata/tracelogging.h"
#include "schema/types.h"

/* Metadata under construction; the size in front is filled in by parse(). */
struct blob {
	uint8_t at[60000];
	size_t bytes;
};

static struct etw_arena arena;

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

static void put(struct blob *blob, const void *at, size_t bytes)
{
	assert_true(blob->bytes + bytes <= sizeof(blob->at));
	memcpy(blob->at + blob->bytes, at, bytes);
	blob->bytes += bytes;
}

static void put_byte(struct blob *blob, unsigned byte)
{
	put(blob, &(uint8_t){(uint8_t)byte}, 1);
}

/* Size, no tags, the event's name. */
static void open_event(struct blob *blob)
{
	blob->bytes = 0;
	put(blob, "\0\0\0Event", 9);
}

static void put_field(struct blob *blob, const char *name, const char *types, size_t type_bytes)
{
	put(blob, name, strlen(name) + 1);
	put(blob, types, type_bytes);
}

#define PUT_FIELD(blob, name, types) put_field(blob, name, types, sizeof(types) - 1)

static int try_parse(struct blob *blob, struct etw_schema **ret, struct etw_fault *fault)
{
	const EVENT_DESCRIPTOR descriptor = {.Channel = 11, .Level = 2, .Opcode = 1, .Keyword = 6};

	etw_store16(blob->at, (uint16_t)blob->bytes);
	return etw_tracelogging_parse(&arena, &descriptor,
				      (struct etw_bytes){blob->at, blob->bytes}, ret, fault);
}

static const struct etw_schema *parse(struct blob *blob)
{
	struct etw_schema *schema = NULL;
	struct etw_fault fault;

	assert_int_equal(try_parse(blob, &schema, &fault), 0);
	assert_null(fault.structure);
	assert_null(etw_schema_fields_check(schema));
	return schema;
}

/* Parses something damaged: @kept fields remain, and the fault says why. */
static const struct etw_schema *parse_damaged(struct blob *blob, uint16_t kept,
					      const char *sentence)
{
	struct etw_schema *schema = NULL;
	struct etw_fault fault;

	assert_int_equal(try_parse(blob, &schema, &fault), 0);
	assert_string_equal(fault.structure, "TraceLogging metadata");
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(schema->field_count, kept);
	return schema;
}

static void test_tracelogging__event_head(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	open_event(&blob);
	schema = parse(&blob);
	assert_string_equal(schema->event_name, "Event");
	assert_string_equal(schema->task_name, "Event");
	assert_string_equal(schema->level_name, "win:Error");
	assert_string_equal(schema->opcode_name, "win:Start");
	assert_int_equal(schema->descriptor.Keyword, 6);
	assert_int_equal(schema->source, DecodingSourceTlg);
	assert_int_equal(schema->template_flags, TEMPLATE_EVENT_DATA);
	assert_int_equal(schema->field_count, 0);
	assert_null(schema->message);
}

static void test_tracelogging__in_types(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	for (unsigned type = 0; type <= 25; type++) {
		if (type == TDH_INTYPE_BINARY || type == 24)
			continue;
		open_event(&blob);
		put(&blob, "f", 2);
		put_byte(&blob, type);
		schema = parse(&blob);
		assert_int_equal(schema->field_count, 1);
		assert_int_equal(schema->top_count, 1);
		assert_string_equal(schema->fields[0].name, "f");
		assert_int_equal(schema->fields[0].in_type, type);
		assert_int_equal(schema->fields[0].out_type, etw_schema_out_type((uint16_t)type));
		assert_int_equal(schema->fields[0].length, etw_schema_length((uint16_t)type));
		assert_int_equal(schema->fields[0].count, 1);
		assert_int_equal(schema->fields[0].flags, 0);
	}
}

static void test_tracelogging__out_types(void **state)
{
	static const struct {
		uint8_t in_type, out_type;
		uint16_t expected;
	} rows[] = {
		{4, 0, 4},    {4, 1, 301},  {4, 2, 1},    {6, 2, 1},    {8, 2, 8},    {4, 3, 13},
		{7, 3, 13},   {4, 4, 16},   {6, 4, 17},   {8, 4, 18},   {10, 4, 19},  {8, 5, 20},
		{8, 6, 21},   {6, 7, 22},   {8, 7, 8},    {8, 8, 23},   {2, 11, 28},  {1, 12, 34},
		{8, 13, 30},  {20, 14, 31}, {7, 15, 32},  {9, 16, 2},   {4, 17, 3},   {6, 17, 5},
		{8, 17, 7},   {10, 17, 9},  {3, 18, 4},   {5, 18, 6},   {7, 18, 8},   {9, 18, 10},
		{17, 33, 33}, {2, 35, 35},  {23, 35, 35}, {21, 37, 37}, {18, 38, 38}, {11, 4, 11},
		{15, 99, 14}, {1, 8, 1},    {25, 9, 24},  {25, 10, 25}, {25, 36, 36}, {16, 37, 37},
	};
	static struct blob blob;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		open_event(&blob);
		put(&blob, "f", 2);
		put_byte(&blob, rows[i].in_type | 0x80U);
		put_byte(&blob, rows[i].out_type);
		assert_int_equal(parse(&blob)->fields[0].out_type, rows[i].expected);
	}
}

static void test_tracelogging__tags_are_left_aligned(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	blob.bytes = 0;
	put(&blob,
	    "\0\0\x81\x02"
	    "Event",
	    10);
	PUT_FIELD(&blob, "one", "\x84\x80\x01");
	PUT_FIELD(&blob, "all", "\x84\x80\xff\xff\xff\x7f");
	schema = parse(&blob);
	assert_int_equal(schema->template_flags >> 4, 1U << 21 | 2U << 14);
	assert_int_equal(schema->fields[0].flags, PropertyHasTags);
	assert_int_equal(schema->fields[0].tags, 1U << 21);
	assert_int_equal(schema->fields[1].tags, 0x0fffffff);
}

static void test_tracelogging__arrays(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	open_event(&blob);
	PUT_FIELD(&blob, "fixed", "\x28\x03\x00");
	PUT_FIELD(&blob, "many", "\x46");
	schema = parse(&blob);
	assert_int_equal(schema->field_count, 3);
	assert_int_equal(schema->fields[0].flags, PropertyParamFixedCount);
	assert_int_equal(schema->fields[0].count, 3);
	assert_string_equal(schema->fields[1].name, "many.Count");
	assert_int_equal(schema->fields[1].in_type, TDH_INTYPE_UINT16);
	assert_string_equal(schema->fields[2].name, "many");
	assert_int_equal(schema->fields[2].flags, PropertyParamCount);
	assert_int_equal(schema->fields[2].count, 1);
}

static void test_tracelogging__binary_has_a_length_field(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	open_event(&blob);
	PUT_FIELD(&blob, "data", "\x8e\x09");
	PUT_FIELD(&blob, "blobs", "\x4e");
	schema = parse(&blob);
	assert_int_equal(schema->field_count, 4);
	assert_string_equal(schema->fields[0].name, "data.Length");
	assert_int_equal(schema->fields[1].in_type, TDH_INTYPE_BINARY);
	assert_int_equal(schema->fields[1].out_type, TDH_OUTTYPE_IPV6);
	assert_int_equal(schema->fields[1].flags, PropertyParamLength);
	assert_int_equal(schema->fields[1].length, 0);
	/* In an array every element has its own length. */
	assert_string_equal(schema->fields[2].name, "blobs.Count");
	assert_int_equal(schema->fields[3].in_type, TDH_INTYPE_MANIFEST_COUNTEDBINARY);
}

static void test_tracelogging__nested_structs(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;
	const struct etw_field *fields;

	(void)state;
	open_event(&blob);
	PUT_FIELD(&blob, "outer", "\xd8\x02");
	PUT_FIELD(&blob, "inner", "\x98\x02");
	PUT_FIELD(&blob, "a", "\x08");
	PUT_FIELD(&blob, "b", "\x0e");
	PUT_FIELD(&blob, "c", "\x01");
	PUT_FIELD(&blob, "after", "\x04");
	schema = parse(&blob);
	fields = schema->fields;
	assert_int_equal(schema->top_count, 3);
	assert_int_equal(schema->field_count, 8);
	assert_string_equal(fields[0].name, "outer.Count");
	assert_int_equal(fields[1].flags, PropertyStruct | PropertyParamCount);
	assert_int_equal(fields[1].struct_first, 3);
	assert_int_equal(fields[1].struct_count, 2);
	assert_string_equal(fields[2].name, "after");
	assert_string_equal(fields[3].name, "inner");
	assert_string_equal(fields[4].name, "c");
	assert_int_equal(fields[3].struct_first, 5);
	assert_int_equal(fields[3].struct_count, 3);
	assert_string_equal(fields[5].name, "a");
	assert_string_equal(fields[6].name, "b.Length");
	assert_int_equal(fields[7].length, 6);
}

static void test_tracelogging__empty_struct_and_custom_field(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	open_event(&blob);
	PUT_FIELD(&blob, "none", "\x18");
	PUT_FIELD(&blob, "custom", "\xe8\x05\x03\x00\x01\x02\x03");
	PUT_FIELD(&blob, "last", "\x04");
	schema = parse(&blob);
	assert_int_equal(schema->field_count, 3);
	assert_int_equal(schema->fields[0].struct_count, 0);
	assert_int_equal(schema->fields[1].in_type, TDH_INTYPE_UINT32);
	/* What would be an out-type is a protocol. */
	assert_int_equal(schema->fields[1].out_type, TDH_OUTTYPE_UNSIGNEDINT);
	assert_int_equal(schema->fields[1].flags, PropertyHasCustomSchema);
	assert_int_equal(schema->fields[1].custom->protocol, 5);
	assert_int_equal(schema->fields[1].custom->bytes, 3);
	assert_memory_equal(schema->fields[1].custom->at, "\1\2\3", 3);
	assert_null(schema->fields[0].custom);
	assert_string_equal(schema->fields[2].name, "last");
}

static void test_tracelogging__bytes_behind_the_size_are_ignored(void **state)
{
	const EVENT_DESCRIPTOR descriptor = {0};
	struct etw_schema *schema;
	struct etw_fault fault;
	const uint8_t bytes[] = "\x05\0\0E\0junk";

	(void)state;
	assert_int_equal(etw_tracelogging_parse(&arena, &descriptor,
						(struct etw_bytes){bytes, sizeof(bytes)}, &schema,
						&fault),
			 0);
	assert_null(fault.structure);
	assert_int_equal(schema->field_count, 0);
}

static void test_tracelogging__damage_keeps_what_precedes(void **state)
{
	static const struct {
		const char *types;
		size_t bytes;
		const char *sentence;
	} rows[] = {
		{"", 0, "a field ends before its type"},
		{"\x1f", 1, "a field has an unknown type"},
		{"\x88", 1, "a field ends before its out-type"},
		{"\x88\x80", 2, "the tags of a field are malformed"},
		{"\x88\x80\xff\xff\xff\xff", 6, "the tags of a field are malformed"},
		{"\x28\x01", 2, "a field ends before its array count"},
		{"\xe8\x05\x04\x00x", 5, "a custom schema goes beyond the metadata"},
	};
	static struct blob blob;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		open_event(&blob);
		PUT_FIELD(&blob, "good", "\x08");
		put_field(&blob, "bad", rows[i].types, rows[i].bytes);
		assert_string_equal(parse_damaged(&blob, 1, rows[i].sentence)->fields[0].name,
				    "good");
	}
	open_event(&blob);
	put(&blob, "bad", 3);
	parse_damaged(&blob, 0, "the name of a field is not terminated");
}

static void test_tracelogging__cut_structs(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	open_event(&blob);
	PUT_FIELD(&blob, "good", "\x08");
	PUT_FIELD(&blob, "s", "\x98\x03");
	PUT_FIELD(&blob, "a", "\x08");
	schema = parse_damaged(&blob, 3, "a struct has fewer members than it says");
	assert_int_equal(schema->fields[1].struct_count, 1);
	/* The second element of an array could not be found. */
	open_event(&blob);
	PUT_FIELD(&blob, "good", "\x08");
	PUT_FIELD(&blob, "s", "\xd8\x03");
	PUT_FIELD(&blob, "a", "\x08");
	parse_damaged(&blob, 1, "a struct has fewer members than it says");
	/* A complete array before the damage stays. */
	open_event(&blob);
	PUT_FIELD(&blob, "s", "\xd8\x01");
	PUT_FIELD(&blob, "a", "\x08");
	PUT_FIELD(&blob, "bad", "\x1f");
	parse_damaged(&blob, 3, "a field has an unknown type");
}

static void test_tracelogging__shorter_than_its_size(void **state)
{
	static struct blob blob;
	const EVENT_DESCRIPTOR descriptor = {0};
	struct etw_schema *schema;
	struct etw_fault fault;

	(void)state;
	open_event(&blob);
	PUT_FIELD(&blob, "good", "\x08");
	etw_store16(blob.at, 200);
	assert_int_equal(etw_tracelogging_parse(&arena, &descriptor,
						(struct etw_bytes){blob.at, blob.bytes}, &schema,
						&fault),
			 0);
	assert_string_equal(fault.sentence, "the metadata is shorter than its size says");
	assert_int_equal(schema->field_count, 1);
}

static void test_tracelogging__head_that_cannot_be_read(void **state)
{
	static const struct {
		const char *bytes;
		size_t count;
		const char *sentence;
	} rows[] = {
		{"", 0, "the metadata ends before its size"},
		{"\x01\x00\x00", 3, "the metadata ends before its size"},
		{"\x03\x00\x80", 3, "the tags of the event are malformed"},
		{"\x05\x00\x00no", 5, "the name of the event is not terminated"},
	};
	const EVENT_DESCRIPTOR descriptor = {0};
	struct etw_schema *schema = NULL;
	struct etw_fault fault;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_bytes bytes = {(const uint8_t *)rows[i].bytes, rows[i].count};

		assert_int_equal(
			etw_tracelogging_parse(&arena, &descriptor, bytes, &schema, &fault),
			-EBADMSG);
		assert_string_equal(fault.sentence, rows[i].sentence);
		assert_null(schema);
	}
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_tracelogging__names_are_made_utf8(void **state)
{
	static struct blob blob;
	const struct etw_schema *schema;

	(void)state;
	blob.bytes = 0;
	put(&blob, "\0\0\0\x9b", 5);
	PUT_FIELD(&blob, "a\xff", "\x04");
	PUT_FIELD(&blob, "\xE2\x82", "\x0e");
	PUT_FIELD(&blob, "\xC3\xA4", "\x44");
	schema = parse(&blob);
	assert_string_equal(schema->event_name, "\u203A");
	assert_string_equal(schema->fields[0].name, "a\u00FF");
	assert_string_equal(schema->fields[1].name, "\u00E2\u201A.Length");
	assert_string_equal(schema->fields[2].name, "\u00E2\u201A");
	assert_string_equal(schema->fields[3].name, "\u00E4.Count");
	assert_string_equal(schema->fields[4].name, "\u00E4");
}

static void test_tracelogging__limits(void **state)
{
	static struct blob blob;
	char name[8];

	(void)state;
	open_event(&blob);
	for (unsigned i = 0; i < ETW_SCHEMA_FIELDS_MAX + 1; i++) {
		(void)snprintf(name, sizeof(name), "%u", i);
		put_field(&blob, name, "\x04", 1);
	}
	parse_damaged(&blob, ETW_SCHEMA_FIELDS_MAX, "an event has more fields than the limit");
	open_event(&blob);
	for (unsigned i = 0; i < ETW_SCHEMA_DEPTH_MAX + 1; i++)
		PUT_FIELD(&blob, "s", "\x98\x01");
	parse_damaged(&blob, ETW_SCHEMA_DEPTH_MAX, "structs are nested too deeply");
}

static void test_tracelogging__provider_name(void **state)
{
	const uint8_t good[] = "\x17\0Name\0\x10\0\x01groupguidxx";
	const uint8_t cut[] = {9, 0, 'N', 'a'};
	const uint8_t empty[] = {3, 0, 0};
	const char *name = NULL;

	(void)state;
	assert_int_equal(etw_tracelogging_provider_name((struct etw_bytes){good, 0x17}, &name), 4);
	assert_string_equal(name, "Name");
	assert_int_equal(etw_tracelogging_provider_name((struct etw_bytes){cut, 4}, &name), 0);
	assert_int_equal(etw_tracelogging_provider_name((struct etw_bytes){empty, 3}, &name), 0);
	assert_int_equal(etw_tracelogging_provider_name((struct etw_bytes){empty, 1}, &name), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tracelogging__event_head),
		TEST(test_tracelogging__in_types),
		TEST(test_tracelogging__out_types),
		TEST(test_tracelogging__tags_are_left_aligned),
		TEST(test_tracelogging__arrays),
		TEST(test_tracelogging__binary_has_a_length_field),
		TEST(test_tracelogging__nested_structs),
		TEST(test_tracelogging__empty_struct_and_custom_field),
		TEST(test_tracelogging__bytes_behind_the_size_are_ignored),
		TEST(test_tracelogging__damage_keeps_what_precedes),
		TEST(test_tracelogging__cut_structs),
		TEST(test_tracelogging__shorter_than_its_size),
		TEST(test_tracelogging__head_that_cannot_be_read),
		TEST(test_tracelogging__names_are_made_utf8),
		TEST(test_tracelogging__limits),
		TEST(test_tracelogging__provider_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
