/* SPDX-License-Identifier: MIT */
/* What no genuine blob shows: tests/conformance/tdh holds the writer against those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/utf.h"
#include "schema/metadata/event_info.h"
#include "schema/metadata/event_info_write.h"
#include "schema/provider_schema.h"
#include "wire/event_info.h"

static const GUID provider = {1, 2, 3, {4}};
static const GUID control = {5, 6, 7, {8}};

static uint8_t *blob;
static size_t bytes;

static int forget(void **state)
{
	(void)state;
	free(blob);
	blob = NULL;
	return 0;
}

static struct wire_event_info head(void)
{
	struct wire_event_info wire;

	memcpy(&wire, blob, sizeof(wire));
	return wire;
}

static void assert_text(le32 offset, const char *expected)
{
	uint32_t at = le32_get(offset);
	char *text;

	assert_in_range(at, 1, bytes - 2);
	text = etw_utf16_to_utf8(blob + at, etw_utf16_length(blob + at, (bytes - at) / 2));
	assert_string_equal(text, expected);
	free(text);
}

static void test_event_info_write__owner(void **state)
{
	const struct etw_provider_schema owner = {.message = "About"};
	const struct etw_schema schema = {
		.provider = provider,
		.event_guid = control,
		.source = DecodingSourceXMLFile,
		.template_flags = TEMPLATE_EVENT_DATA | TEMPLATE_CONTROL_GUID,
		.message = "%1",
		.event_name = "Event",
		.attributes = "FILE=a.c",
		.owner = &owner,
	};
	GUID guid;

	(void)state;
	assert_int_equal(etw_event_info_write(&schema, &blob, &bytes), 0);
	guid = etw_guid_read(head().event_guid);
	assert_true(etw_guid_equal(&guid, &control));
	assert_int_equal(le32_get(head().flags), TEMPLATE_EVENT_DATA | TEMPLATE_CONTROL_GUID);
	assert_text(head().event_message, "%1 ");
	assert_text(head().provider_message, "About ");
	assert_text(head().event_name, "Event");
	assert_text(head().event_attributes, "FILE=a.c");
	assert_int_equal(le32_get(head().provider_name), 0);
}

static void test_event_info_write__class(void **state)
{
	const struct etw_schema schema = {
		.source = DecodingSourceWbem,
		.event_name = "not an activity id",
		.message = "about",
	};

	(void)state;
	assert_int_equal(etw_event_info_write(&schema, &blob, &bytes), 0);
	assert_int_equal(le32_get(head().event_name), 0);
	assert_text(head().event_message, "about");
	assert_int_equal(le32_get(head().keywords_name), 0);
	assert_int_equal(bytes, 112 + 2 * sizeof("about"));
}

/* The names of a MOF class's fields that are activities' ids go out and come back. */
static void test_event_info_write__activities(void **state)
{
	const struct etw_schema schema = {
		.source = DecodingSourceWbem,
		.activity_id_name = "Own",
		.related_activity_id_name = "Other",
	};
	struct etw_schema *again;
	struct etw_arena arena;

	(void)state;
	assert_int_equal(etw_event_info_write(&schema, &blob, &bytes), 0);
	assert_text(head().event_name, "Own");
	assert_text(head().event_attributes, "Other");
	etw_arena_init(&arena);
	assert_int_equal(
		etw_event_info_parse(&arena, (struct etw_bytes){blob, bytes}, &again, NULL), 0);
	assert_string_equal(again->activity_id_name, "Own");
	assert_string_equal(again->related_activity_id_name, "Other");
	assert_null(again->event_name);
	etw_arena_done(&arena);
}

static void test_event_info_write__fields(void **state)
{
	const struct etw_field fields[] = {
		{.name = "S",
		 .flags = PropertyStruct | PropertyHasTags | ETW_FIELD_OPTIONAL,
		 .tags = 0x0abcdef0,
		 .count = 1,
		 .struct_first = 1,
		 .struct_count = 1},
		{.name = "\xE2\x82\xAC",
		 .map_name = "M",
		 .in_type = 8,
		 .out_type = 8,
		 .count = 1,
		 .tags = 7},
	};
	const struct etw_schema schema = {
		.source = DecodingSourceTlg,
		.fields = fields,
		.field_count = 2,
		.top_count = 1,
	};
	struct wire_property_info wire;
	struct etw_schema *again;
	struct etw_arena arena;

	(void)state;
	assert_int_equal(etw_event_info_write(&schema, &blob, &bytes), 0);
	memcpy(&wire, blob + 112, sizeof(wire));
	assert_int_equal(le32_get(wire.flags), PropertyStruct | PropertyHasTags);
	assert_int_equal(le32_get(wire.tags), 0x0abcdef0);
	assert_int_equal(le16_get(wire.in_type), 1);
	memcpy(&wire, blob + 112 + 24, sizeof(wire));
	assert_int_equal(le32_get(wire.tags), 0);
	assert_text(wire.name, "\xE2\x82\xAC");
	assert_text(wire.map_name, "M");
	etw_arena_init(&arena);
	assert_int_equal(
		etw_event_info_parse(&arena, (struct etw_bytes){blob, bytes}, &again, NULL), 0);
	assert_int_equal(again->field_count, 2);
	assert_int_equal(again->fields[0].struct_first, 1);
	assert_string_equal(again->fields[1].map_name, "M");
	etw_arena_done(&arena);
}

/* [SDK] at an even offset: protocol, size, bytes; what lies behind has an even offset too. */
static void test_event_info_write__custom_schema(void **state)
{
	static const struct etw_custom_schema custom = {31, 3, (const uint8_t *)"\7\x08\x09"};
	const struct etw_field fields[] = {
		{.name = "C",
		 .flags = PropertyHasCustomSchema,
		 .in_type = 8,
		 .out_type = 8,
		 .count = 1,
		 .custom = &custom},
		{.name = "D", .in_type = 8, .out_type = 8, .count = 1},
	};
	const struct etw_schema schema = {
		.source = DecodingSourceTlg, .fields = fields, .field_count = 2, .top_count = 2};
	struct wire_property_info wire;
	struct etw_schema *again;
	struct etw_arena arena;

	(void)state;
	assert_int_equal(etw_event_info_write(&schema, &blob, &bytes), 0);
	memcpy(&wire, blob + 112, sizeof(wire));
	assert_int_equal(le32_get(wire.flags), PropertyHasCustomSchema);
	assert_int_equal(le32_get(wire.map_name), 112 + 2 * 24 + 4);
	assert_memory_equal(blob + le32_get(wire.map_name), "\x1F\0\3\0\7\x08\x09", 8);
	memcpy(&wire, blob + 112 + 24, sizeof(wire));
	assert_int_equal(le32_get(wire.name), 112 + 2 * 24 + 4 + 8);
	etw_arena_init(&arena);
	assert_int_equal(
		etw_event_info_parse(&arena, (struct etw_bytes){blob, bytes}, &again, NULL), 0);
	assert_int_equal(again->fields[0].flags, PropertyHasCustomSchema);
	assert_int_equal(again->fields[0].custom->protocol, 31);
	assert_int_equal(again->fields[0].custom->bytes, 3);
	assert_memory_equal(again->fields[0].custom->at, "\7\x08\x09", 3);
	/* One that goes beyond the blob is no reason to refuse it. */
	etw_store16(blob + 112 + 2 * 24 + 4 + 2, 0xFFFF);
	assert_int_equal(
		etw_event_info_parse(&arena, (struct etw_bytes){blob, bytes}, &again, NULL), 0);
	assert_int_equal(again->fields[0].flags, 0);
	assert_null(again->fields[0].custom);
	etw_arena_done(&arena);
}

/* The same writer as for events: maps, tags and structs are there. */
static void test_event_info_write__filter(void **state)
{
	const struct etw_field fields[] = {
		{.name = "Kind",
		 .map_name = "Kinds",
		 .flags = PropertyHasTags,
		 .tags = 5,
		 .in_type = TDH_INTYPE_UINT8,
		 .out_type = TDH_OUTTYPE_UNSIGNEDBYTE,
		 .count = 1,
		 .length = 1},
		{.name = "Pair",
		 .flags = PropertyStruct,
		 .count = 1,
		 .struct_first = 2,
		 .struct_count = 1},
		{.name = "Member", .in_type = TDH_INTYPE_UINT32, .count = 1, .length = 4},
	};
	const struct etw_filter_schema filter = {
		.value = 9,
		.version = 2,
		.message = "About",
		.field_count = 3,
		.top_count = 2,
		.fields = fields,
	};
	struct wire_property_info properties[3];
	struct wire_filter_info wire;

	(void)state;
	assert_int_equal(etw_filter_info_write(&filter, &blob, &bytes), 0);
	memcpy(&wire, blob, sizeof(wire));
	memcpy(properties, blob + sizeof(wire), sizeof(properties));
	assert_int_equal(wire.value, 9);
	assert_int_equal(wire.version, 2);
	assert_int_equal(le32_get(wire.property_count), 3);
	assert_text(wire.message, "About ");
	assert_text(properties[0].name, "Kind");
	assert_text(properties[0].map_name, "Kinds");
	assert_int_equal(le32_get(properties[0].tags), 5);
	assert_text(properties[1].name, "Pair");
	assert_int_equal(le32_get(properties[1].flags), PropertyStruct);
	assert_int_equal(le16_get(properties[1].in_type), 2);
	assert_int_equal(le16_get(properties[1].out_type), 1);
	assert_text(properties[2].name, "Member");
	assert_int_equal(le16_get(properties[2].in_type), TDH_INTYPE_UINT32);
}

static void test_event_info_write__class_map(void **state)
{
	const struct etw_map_entry entry = {3, "three"};
	const struct etw_map map = {"M", EVENTMAP_INFO_FLAG_WBEM_VALUEMAP, 1, &entry};
	struct wire_map_entry wire;

	(void)state;
	assert_int_equal(etw_event_map_write(&map, &blob, &bytes), 0);
	memcpy(&wire, blob + 16, sizeof(wire));
	assert_int_equal(le32_get(wire.value), 3);
	assert_text(wire.text, "three");
	assert_int_equal(bytes, 16 + 2 * 8 + 2 * sizeof("M") + 2 * sizeof("three"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_event_info_write__owner, forget),
		cmocka_unit_test_teardown(test_event_info_write__class, forget),
		cmocka_unit_test_teardown(test_event_info_write__activities, forget),
		cmocka_unit_test_teardown(test_event_info_write__fields, forget),
		cmocka_unit_test_teardown(test_event_info_write__custom_schema, forget),
		cmocka_unit_test_teardown(test_event_info_write__filter, forget),
		cmocka_unit_test_teardown(test_event_info_write__class_map, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
