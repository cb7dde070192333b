/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/metadata/event_info.h"
#include "unit/schema/info_blob.h"

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

static struct etw_schema *parse(const struct info_blob *blob)
{
	struct etw_schema *schema = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(etw_event_info_parse(&arena, (struct etw_bytes){blob->at, blob->bytes},
					      &schema, &fault),
			 0);
	assert_null(fault.sentence);
	return schema;
}

static void refuse(const struct info_blob *blob, size_t bytes, const char *sentence)
{
	struct etw_schema *schema = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(
		etw_event_info_parse(&arena, (struct etw_bytes){blob->at, bytes}, &schema, &fault),
		-EBADMSG);
	assert_string_equal(fault.structure, "TRACE_EVENT_INFO");
	assert_string_equal(fault.sentence, sentence);
	assert_null(schema);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void refuse_map(const struct info_blob *blob, size_t bytes, const char *sentence)
{
	struct etw_map *map = NULL;
	struct etw_fault fault = {0};
	GUID provider;

	assert_int_equal(etw_event_map_parse(&arena, (struct etw_bytes){blob->at, bytes}, &provider,
					     &map, &fault),
			 -EBADMSG);
	assert_string_equal(fault.structure, "EVENT_MAP_INFO");
	assert_string_equal(fault.sentence, sentence);
	assert_null(map);
}

static void test_event_info__manifest_event(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	const struct etw_schema *schema;

	(void)state;
	info_blob_event(&blob, &head);
	schema = parse(&blob);
	assert_true(etw_guid_equal(&schema->provider, &info_blob_provider));
	assert_int_equal(schema->descriptor.Id, 7);
	assert_int_equal(schema->descriptor.Task, 9);
	assert_int_equal(schema->descriptor.Keyword, 3);
	assert_string_equal(schema->provider_name, "Some-Provider");
	assert_string_equal(schema->keywords, "One; Two");
	assert_string_equal(schema->task_name, "Task");
	assert_string_equal(schema->level_name, "win:Error");
	assert_string_equal(schema->opcode_name, "win:Start");
	assert_string_equal(schema->event_name, "Name");
	assert_null(schema->channel_name);
	/* One blank is TDH's, the other belongs to the text. */
	assert_string_equal(schema->message, "Value %1 ");
	assert_int_equal(schema->field_count, 3);
	assert_string_equal(schema->fields[1].name, "Kind");
	assert_string_equal(schema->fields[1].map_name, "KindMap");
	assert_null(schema->fields[1].map);
	assert_int_equal(schema->fields[1].out_type, TDH_OUTTYPE_UNSIGNEDINT);
	assert_int_equal(schema->fields[2].out_type, TDH_OUTTYPE_STRING);
}

static void test_event_info__texts_of_the_provider_and_attributes(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	const struct etw_schema *schema;

	(void)state;
	info_blob_event(&blob, &head);
	head.decoding_source = le32_of(DecodingSourceXMLFile);
	head.provider_message = info_blob_string(&blob, "About it ");
	head.event_attributes = info_blob_string(&blob, "FILE=a.c;LINE=7");
	info_blob_set_head(&blob, &head);
	schema = parse(&blob);
	assert_string_equal(schema->provider_message, "About it");
	assert_string_equal(schema->attributes, "FILE=a.c;LINE=7");
	assert_null(schema->related_activity_id_name);
	head.decoding_source = le32_of(DecodingSourceWbem);
	info_blob_set_head(&blob, &head);
	schema = parse(&blob);
	assert_null(schema->attributes);
	head.event_attributes = le32_of(INFO_BLOB_BYTES);
	head.decoding_source = le32_of(DecodingSourceXMLFile);
	info_blob_set_head(&blob, &head);
	etw_arena_done(&arena);
	refuse(&blob, blob.bytes, "a string lies outside the blob");
}

static void test_event_info__structs_tags_and_custom_schemas(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	struct wire_property_info property = {
		.flags = le32_of(PropertyStruct | PropertyParamCount | PropertyParamLength),
		.in_type = le16_of(2),
		.out_type = le16_of(1),
		.length = le16_of(77),
	};
	const struct etw_field *fields;

	(void)state;
	info_blob_event(&blob, &head);
	info_blob_set_property(&blob, 1, &property);
	property = (struct wire_property_info){
		.flags = le32_of(PropertyHasTags | PropertyHasCustomSchema),
		.in_type = le16_of(8),
		.count = le16_of(1),
		.map_name = le32_of(0xffffffff),
		.tags = le32_of(0xf0000005),
	};
	info_blob_set_property(&blob, 2, &property);
	head.top_level_count = le32_of(2);
	info_blob_set_head(&blob, &head);
	fields = parse(&blob)->fields;
	assert_int_equal(fields[1].flags, PropertyStruct | PropertyParamCount);
	assert_int_equal(fields[1].struct_first, 2);
	assert_int_equal(fields[1].struct_count, 1);
	assert_int_equal(fields[1].length, 0);
	assert_int_equal(fields[2].flags, PropertyHasTags);
	assert_int_equal(fields[2].tags, 5);
	assert_null(fields[2].map_name);
	assert_string_equal(fields[2].name, "");
}

static void test_event_info__mof_class_has_no_event_name(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;

	(void)state;
	info_blob_event(&blob, &head);
	head.decoding_source = le32_of(DecodingSourceWbem);
	info_blob_set_head(&blob, &head);
	assert_null(parse(&blob)->event_name);
}

static void test_event_info__every_truncation_is_refused_or_smaller(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	struct etw_schema *schema;
	struct etw_fault fault;

	(void)state;
	info_blob_event(&blob, &head);
	for (size_t bytes = 0; bytes < blob.bytes; bytes++)
		assert_int_equal(etw_event_info_parse(&arena, (struct etw_bytes){blob.at, bytes},
						      &schema, &fault),
				 -EBADMSG);
	refuse(&blob, WIRE_EVENT_INFO_BYTES - 1, "the blob ends within the structure");
	refuse(&blob, blob.bytes - 2, "a string is not terminated");
}

static void test_event_info__bad_heads(void **state)
{
	static struct info_blob blob;
	struct wire_event_info good, head;

	(void)state;
	info_blob_event(&blob, &good);
	head = good;
	head.decoding_source = le32_of(DecodingSourceMax);
	info_blob_set_head(&blob, &head);
	refuse(&blob, blob.bytes, "the decoding source is unknown");
	head = good;
	head.property_count = le32_of(ETW_SCHEMA_FIELDS_MAX + 1);
	info_blob_set_head(&blob, &head);
	refuse(&blob, blob.bytes, "the number of properties is beyond the limit");
	head.property_count = le32_of(2);
	info_blob_set_head(&blob, &head);
	refuse(&blob, blob.bytes, "the number of properties is beyond the limit");
	head.property_count = le32_of(500);
	info_blob_set_head(&blob, &head);
	refuse(&blob, blob.bytes, "the properties go beyond the blob");
	head = good;
	head.task_name = le32_of((uint32_t)blob.bytes);
	info_blob_set_head(&blob, &head);
	refuse(&blob, blob.bytes, "a string lies outside the blob");
}

static void test_event_info__fields_that_do_not_hang_together(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	const struct wire_property_info property = {
		.flags = le32_of(PropertyParamCount),
		.in_type = le16_of(8),
		.count = le16_of(2),
	};

	(void)state;
	info_blob_event(&blob, &head);
	info_blob_set_property(&blob, 2, &property);
	refuse(&blob, blob.bytes, "a count refers to a field that is not an earlier one");
}

static void test_event_info__strings_that_overlap(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	char text[1001];
	le32 offset;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	info_blob_event(&blob, &head);
	offset = info_blob_string(&blob, text);
	head.provider_name = offset;
	head.level_name = offset;
	head.channel_name = offset;
	info_blob_set_head(&blob, &head);
	assert_int_equal(strlen(parse(&blob)->channel_name), 1000);
	etw_arena_done(&arena);
	head.event_message = offset;
	head.task_name = offset;
	head.opcode_name = offset;
	info_blob_set_head(&blob, &head);
	refuse(&blob, blob.bytes, "the strings overlap too much");
}

static void test_event_map__value_map(void **state)
{
	static struct info_blob blob;
	struct wire_map_info head;
	struct etw_map *map;
	struct etw_fault fault;
	GUID provider;

	(void)state;
	info_blob_map(&blob, &head);
	assert_int_equal(etw_event_map_parse(&arena, (struct etw_bytes){blob.at, blob.bytes},
					     &provider, &map, &fault),
			 0);
	assert_true(etw_guid_equal(&provider, &info_blob_provider));
	assert_string_equal(map->name, "KindMap");
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(map->count, 2);
	assert_string_equal(map->entries[0].text, "None");
	assert_string_equal(map->entries[1].text, "Some");
	assert_int_equal(map->entries[1].value, 1);
}

static void set_map_head(struct info_blob *blob, const struct wire_map_info *head)
{
	memcpy(blob->at + sizeof(GUID), head, sizeof(*head));
}

static void test_event_map__refusals(void **state)
{
	static struct info_blob blob;
	struct wire_map_info good, head;

	(void)state;
	info_blob_map(&blob, &good);
	refuse_map(&blob, 15, "the blob ends within the structure");
	refuse_map(&blob, 31, "the blob ends within the structure");
	refuse_map(&blob, blob.bytes - 2, "a string is not terminated");
	head = good;
	head.flags = le32_of(EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP);
	set_map_head(&blob, &head);
	refuse_map(&blob, blob.bytes, "pattern maps are not supported");
	head = good;
	head.value_type = le32_of(EVENTMAP_ENTRY_VALUETYPE_STRING);
	set_map_head(&blob, &head);
	refuse_map(&blob, blob.bytes, "maps of strings are not supported");
	head = good;
	head.entry_count = le32_of(1000);
	set_map_head(&blob, &head);
	refuse_map(&blob, blob.bytes, "the entries go beyond the blob");
	head = good;
	head.name = le32_of(0);
	set_map_head(&blob, &head);
	refuse_map(&blob, blob.bytes, "the map has no name");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_event_info__manifest_event),
		TEST(test_event_info__texts_of_the_provider_and_attributes),
		TEST(test_event_info__structs_tags_and_custom_schemas),
		TEST(test_event_info__mof_class_has_no_event_name),
		TEST(test_event_info__every_truncation_is_refused_or_smaller),
		TEST(test_event_info__bad_heads),
		TEST(test_event_info__fields_that_do_not_hang_together),
		TEST(test_event_info__strings_that_overlap),
		TEST(test_event_map__value_map),
		TEST(test_event_map__refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
