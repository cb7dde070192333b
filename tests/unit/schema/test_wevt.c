/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/compiled/wevt.h"
#include "synthetic/made_wevt.h"

static struct etw_arena arena, table_arena;
static struct made_wevt made;
static struct made_messages messages;
static struct etw_message_table table;

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	etw_arena_init(&table_arena);
	made_wevt_init(&made, 5);
	made_messages_of_wevt(&messages);
	return etw_message_table_open(&table_arena, (struct etw_bytes){messages.at, messages.bytes},
				      &table, NULL);
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	etw_arena_done(&table_arena);
	return 0;
}

static const struct etw_provider_schema *parse(size_t table_count)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};
	int r = etw_wevt_parse(&arena, (struct etw_bytes){made.at, made.bytes}, &table, table_count,
			       &definition, &fault);

	if (r < 0)
		fail_msg("%s at %u", fault.sentence, (unsigned)fault.offset);
	assert_int_equal(definition->provider_count, 1);
	assert_int_equal(definition->schema_count, definition->providers[0].schema_count);
	return &definition->providers[0];
}

/* Also makes the resource whole again. */
static void refuse(const char *structure, const char *sentence)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(etw_wevt_parse(&arena, (struct etw_bytes){made.at, made.bytes}, &table, 1,
					&definition, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, sentence);
	assert_string_equal(fault.structure, structure);
	assert_null(definition);
	assert_int_equal(etw_arena_bytes(&arena), 0);
	made_wevt_init(&made, 5);
}

static void set(size_t offset, uint32_t value)
{
	made_wevt_set32(&made, offset, value);
}

static size_t list_at(enum wire_wevt_kind kind)
{
	return made.lists[kind];
}

static void test_wevt__provider(void **state)
{
	const struct etw_provider_schema *provider = parse(1);

	(void)state;
	assert_true(etw_guid_equal(&provider->guid, &made_wevt_guid));
	assert_true(etw_guid_is_null(&provider->control_guid));
	assert_true(etw_guid_equal(&provider->group_guid, &made_wevt_group_guid));
	assert_int_equal(provider->source, DecodingSourceXMLFile);
	assert_string_equal(provider->name, "Some-Provider");
	assert_string_equal(provider->message, "Provider text");
	assert_null(provider->symbol);
	assert_null(provider->resource_file);
}

static void test_wevt__names(void **state)
{
	const struct etw_provider_schema *provider = parse(1);

	(void)state;
	assert_int_equal(provider->level_count, 1);
	assert_int_equal(provider->levels[0].value, 2);
	assert_string_equal(provider->levels[0].name, "win:Error");
	assert_string_equal(provider->levels[0].message, "Error");
	assert_int_equal(provider->task_count, 1);
	assert_int_equal(provider->tasks[0].named.value, 7);
	assert_string_equal(provider->tasks[0].named.name, "Task");
	assert_string_equal(provider->tasks[0].named.message, "Task text");
	assert_true(etw_guid_equal(&provider->tasks[0].event_guid, &made_wevt_task_guid));
	assert_int_equal(provider->opcode_count, 2);
	assert_string_equal(provider->opcodes[0].named.message, "Start");
	assert_false(provider->opcodes[0].is_task_given);
	assert_int_equal(provider->opcodes[1].task, 7);
	assert_true(provider->opcodes[1].is_task_given);
	assert_int_equal(provider->opcodes[1].named.value, 20);
	assert_string_equal(provider->opcodes[1].named.name, "Own");
	assert_null(provider->opcodes[1].named.message);
	assert_int_equal(provider->keyword_count, 2);
	assert_int_equal(provider->keywords[1].value, 2);
	assert_string_equal(provider->keywords[0].message, "Keyword one");
}

/* The last one has no bit: its event lacks it. */
static void test_wevt__channels(void **state)
{
	const struct etw_provider_schema *provider = parse(1);

	(void)state;
	assert_int_equal(provider->channel_count, 3);
	assert_string_equal(provider->channels[0].named.name, "Some/Channel");
	assert_string_equal(provider->channels[0].named.message, "Channel text");
	assert_int_equal(provider->channels[0].named.value, 16);
	assert_int_equal(provider->channels[0].type, ETW_CHANNEL_TYPE_UNKNOWN);
	assert_false(provider->channels[0].is_imported);
	assert_true(provider->channels[0].keyword == UINT64_C(1) << 63);
	assert_true(provider->channels[1].is_imported);
	assert_true(provider->channels[1].keyword == UINT64_C(1) << 62);
	assert_true(provider->channels[2].is_imported);
	assert_true(provider->channels[2].keyword == 0);
}

static void test_wevt__maps(void **state)
{
	const struct etw_provider_schema *provider = parse(1);
	const struct etw_map *map = &provider->maps[0];

	(void)state;
	assert_int_equal(provider->map_count, 2);
	assert_string_equal(map->name, "KindMap");
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(map->count, 2);
	assert_string_equal(map->entries[0].text, "Zero");
	assert_int_equal(map->entries[1].value, 9);
	assert_string_equal(map->entries[1].text, "9");
	map++;
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	assert_string_equal(map->entries[0].text, "One");
	assert_string_equal(map->entries[1].text, "0x4");
	assert_int_equal(provider->pattern_map_count, 1);
	assert_string_equal(provider->pattern_maps[0].name, "Query");
	assert_string_equal(provider->pattern_maps[0].format, "regex");
	assert_int_equal(provider->pattern_maps[0].count, 1);
	assert_string_equal(provider->pattern_maps[0].patterns[0].name, "$1");
	assert_string_equal(provider->pattern_maps[0].patterns[0].value, "a*");
}

static void test_wevt__event(void **state)
{
	const struct etw_provider_schema *provider = parse(1);
	const struct etw_schema *event = &provider->schemas[0];

	(void)state;
	assert_int_equal(provider->schema_count, 3);
	assert_ptr_equal(event->owner, provider);
	assert_true(etw_guid_equal(&event->provider, &made_wevt_guid));
	assert_true(etw_guid_equal(&event->event_guid, &made_wevt_task_guid));
	assert_int_equal(event->source, DecodingSourceXMLFile);
	assert_string_equal(event->provider_name, "Some-Provider");
	assert_int_equal(event->descriptor.Id, 1);
	assert_int_equal(event->descriptor.Channel, 16);
	assert_int_equal(event->descriptor.Level, 2);
	assert_int_equal(event->descriptor.Opcode, 20);
	assert_int_equal(event->descriptor.Task, 7);
	assert_true(event->descriptor.Keyword == UINT64_C(0x8000000000000003));
	assert_string_equal(event->level_name, "win:Error");
	assert_string_equal(event->opcode_name, "Own");
	assert_string_equal(event->task_name, "Task");
	assert_string_equal(event->channel_name, "Some/Channel");
	assert_string_equal(event->keywords, "One; Two");
	assert_string_equal(event->message, "First %1\r\nsecond third");
	assert_string_equal(event->event_name, "EventName");
	assert_string_equal(event->attributes, "A=1;B=2");
	assert_int_equal(event->template_flags, TEMPLATE_EVENT_DATA);
	assert_int_equal(provider->schemas[1].descriptor.Version, 1);
	assert_null(provider->schemas[1].message);
	assert_null(provider->schemas[1].level_name);
	assert_null(provider->schemas[1].keywords);
	assert_null(provider->schemas[1].attributes);
	assert_string_equal(provider->schemas[2].message, "Bits %1");
	assert_int_equal(provider->schemas[2].template_flags, TEMPLATE_USER_DATA);
	assert_ptr_equal(provider->schemas[1].fields, provider->schemas[2].fields);
}

static void test_wevt__fields(void **state)
{
	const struct etw_provider_schema *provider = parse(1);
	const struct etw_field *field = provider->schemas[0].fields;

	(void)state;
	assert_int_equal(provider->schemas[0].field_count, 9);
	assert_int_equal(provider->schemas[0].top_count, 7);
	assert_string_equal(field[0].name, "Count");
	assert_int_equal(field[0].in_type, TDH_INTYPE_UINT8);
	assert_int_equal(field[0].count, 1);
	assert_int_equal(field[0].length, 1);
	assert_int_equal(field[1].flags, PropertyParamCount);
	assert_int_equal(field[1].out_type, TDH_OUTTYPE_HEXINT16);
	assert_int_equal(field[1].count, 0);
	assert_int_equal(field[2].flags, PropertyParamLength);
	assert_int_equal(field[2].length, 0);
	assert_ptr_equal(field[3].map, &provider->maps[0]);
	assert_string_equal(field[3].map_name, "KindMap");
	assert_int_equal(field[4].flags, PropertyParamFixedCount | PropertyParamFixedLength);
	assert_int_equal(field[4].count, 3);
	assert_int_equal(field[4].length, 5);
	assert_int_equal(field[4].out_type, TDH_OUTTYPE_STRING);
	assert_int_equal(field[5].flags, 0);
	assert_int_equal(field[5].length, 0);
	assert_int_equal(field[6].flags, PropertyStruct | PropertyParamFixedCount);
	assert_int_equal(field[6].struct_first, 7);
	assert_int_equal(field[6].struct_count, 2);
	assert_int_equal(field[7].flags, 0);
	assert_int_equal(field[7].length, 4);
	assert_int_equal(field[8].flags, PropertyParamLength);
	assert_int_equal(field[8].length, 7);
}

static void test_wevt__filters(void **state)
{
	const struct etw_provider_schema *provider = parse(1);

	(void)state;
	assert_int_equal(provider->filter_count, 2);
	assert_string_equal(provider->filters[0].name, "Filter");
	assert_string_equal(provider->filters[0].message, "Filter text");
	assert_int_equal(provider->filters[0].value, 3);
	assert_int_equal(provider->filters[0].version, 1);
	assert_int_equal(provider->filters[0].field_count, 1);
	assert_string_equal(provider->filters[0].fields[0].map_name, "BitMap");
	assert_int_equal(provider->filters[1].field_count, 0);
	assert_null(provider->filters[1].message);
}

/* With the template of the first event, which has a struct. */
static void test_wevt__filter_with_a_struct(void **state)
{
	const struct etw_provider_schema *provider;
	const size_t first = list_at(WIRE_WEVT_FILTERS) + sizeof(struct wire_wevt_list) +
			     sizeof(le32);

	(void)state;
	set(first + offsetof(struct wire_wevt_filter, template), made.templates[0]);
	provider = parse(1);
	assert_ptr_equal(provider->filters[0].fields, provider->schemas[0].fields);
	assert_int_equal(provider->filters[0].field_count, 9);
	assert_int_equal(provider->filters[0].top_count, 7);
}

static void test_wevt__control_guid(void **state)
{
	const struct etw_provider_schema *provider;

	(void)state;
	set(made.traits + 8, WIRE_WEVT_TRAIT_CONTROL_GUID);
	provider = parse(1);
	assert_true(etw_guid_equal(&provider->control_guid, &made_wevt_control_guid));
	assert_true(etw_guid_equal(&provider->schemas[0].event_guid, &made_wevt_control_guid));
	assert_int_equal(provider->schemas[0].template_flags,
			 TEMPLATE_EVENT_DATA | TEMPLATE_CONTROL_GUID);
}

static void test_wevt__older_compilers(void **state)
{
	const struct etw_provider_schema *provider;

	(void)state;
	made_wevt_init(&made, 3);
	provider = parse(1);
	assert_null(provider->name);
	assert_null(provider->schemas[0].provider_name);
	assert_null(provider->schemas[0].event_name);
	assert_int_equal(provider->schema_count, 3);
	assert_string_equal(provider->schemas[0].keywords, "One; Two");
}

static void test_wevt__without_messages(void **state)
{
	const struct etw_provider_schema *provider = parse(0);

	(void)state;
	assert_null(provider->message);
	assert_null(provider->schemas[0].message);
	assert_string_equal(provider->schemas[0].level_name, "win:Error");
	assert_string_equal(provider->maps[0].entries[0].text, "0");
}

static void test_wevt__first_table_that_has_a_text(void **state)
{
	static const struct made_message own[] = {{0x50000002, "Fehler\r\n", false}};
	struct etw_message_table tables[2] = {[1] = table};
	struct etw_definition *definition = NULL;
	struct made_messages first;

	(void)state;
	made_messages_init(&first, own, 1);
	assert_int_equal(etw_message_table_open(&table_arena,
						(struct etw_bytes){first.at, first.bytes},
						&tables[0], NULL),
			 0);
	assert_int_equal(etw_wevt_parse(&arena, (struct etw_bytes){made.at, made.bytes}, tables, 2,
					&definition, NULL),
			 0);
	assert_string_equal(definition->providers[0].levels[0].message, "Fehler");
	assert_string_equal(definition->providers[0].message, "Provider text");
}

static void test_wevt__refuses_damaged_containers(void **state)
{
	(void)state;
	made.bytes = 15;
	refuse("CRIM", "the resource ends within its head");
	made.at[0] = 'X';
	refuse("CRIM", "the bytes are not a WEVT_TEMPLATE resource");
	made_wevt_set16(&made, 8, 6);
	refuse("CRIM", "the version of the resource is unknown");
	made_wevt_set16(&made, 8, 2);
	refuse("CRIM", "the version of the resource is unknown");
	made.bytes -= 3;
	refuse("CRIM", "the resource is cut short");
	set(4, 15);
	refuse("CRIM", "the resource is cut short");
	set(12, 0x10000000);
	refuse("CRIM", "the providers go beyond the resource");
	set(32, (uint32_t)made.bytes);
	refuse("WEVT", "a part goes beyond the resource");
	set(32, 40);
	refuse("WEVT", "there is no provider where the head says");
	set(made.provider + 12, 0x20000000);
	refuse("WEVT", "the table of lists goes beyond the resource");
}

static void test_wevt__refuses_damaged_lists(void **state)
{
	(void)state;
	set(list_at(WIRE_WEVT_LEVELS), 0);
	refuse("LEVL", "a list is of another kind than its provider says");
	set(list_at(WIRE_WEVT_TASKS) + 8, 0x10000000);
	refuse("TASK", "the entries of a list go beyond the resource");
	set(list_at(WIRE_WEVT_KEYWORDS) + 8, UINT32_MAX);
	refuse("KEYW", "the entries of a list go beyond the resource");
	set(list_at(WIRE_WEVT_OPCODES) + 12 + 8, UINT32_MAX);
	refuse("name", "a part goes beyond the resource");
	set(list_at(WIRE_WEVT_OPCODES) + 12 + 8, 4);
	refuse("name", "a part goes beyond the resource");
	set(list_at(WIRE_WEVT_OPCODES) + 12 + 8, made.provider - 2);
	refuse("name", "a part goes beyond the resource");
	set(list_at(WIRE_WEVT_OPCODES) + 12 + 8, 12);
	refuse("name", "a name is shorter than its size field");
	set(made.traits + 4, 3);
	set(made.traits + 8, WIRE_WEVT_TRAIT_CONTROL_GUID);
	set(made.traits + 12, (uint32_t)made.bytes - 10);
	refuse("PRVA", "a part goes beyond the resource");
	set(made.traits + 4, (uint32_t)made.bytes - 3);
	refuse("string", "a string is not terminated");
	set(made.traits + 4, (uint32_t)made.bytes);
	refuse("string", "a part goes beyond the resource");
}

static void test_wevt__refuses_damaged_maps(void **state)
{
	(void)state;
	set(made.maps[0], 0);
	refuse("map", "there is no map where the list says");
	set(made.maps[0] + 16, 65537);
	refuse("map", "a map has too many entries");
	set(made.maps[0] + 16, 65536);
	refuse("map", "a part goes beyond the resource");
	set(made.maps[0] + 8, 0);
	refuse("map", "a map has no name");
	set(made.query, 0);
	refuse("QUER", "there is no pattern map where the list says");
	set(made.query + 16, 65537);
	refuse("QUER", "a pattern map has too many entries");
	set(made.query + 16, 65536);
	refuse("QUER", "a part goes beyond the resource");
}

static void test_wevt__refuses_damaged_templates(void **state)
{
	(void)state;
	set(made.templates[0], 0);
	refuse("TEMP", "there is no template where an event or filter says");
	set(made.templates[0] + 12, 4097);
	refuse("TEMP", "the number of fields is beyond the limit");
	set(made.templates[0] + 8, 10);
	refuse("TEMP", "the number of fields is beyond the limit");
	set(made.templates[0] + 16, UINT32_MAX);
	refuse("TEMP", "a part goes beyond the resource");
	set(made.items[0] + 16, 0);
	refuse("TEMP", "a field has no name");
	set(made.items[0] + 3 * 20 + 8, made.maps[0] + 4);
	refuse("TEMP", "the map of a field is none of the provider's");
	made_wevt_set16(&made, made.items[0] + 20 + 12, 1);
	refuse("TEMP", "a count refers to a field that is not an earlier one");
	made_wevt_set16(&made, made.items[0] + 2 * 20 + 14, 7);
	refuse("TEMP", "a length refers to a field that is not an earlier one");
	made_wevt_set16(&made, made.items[0] + 6 * 20 + 6, 3);
	refuse("TEMP", "the members of a struct lie outside the fields");
	made_wevt_set16(&made, made.items[0] + 6 * 20 + 4, 6);
	refuse("TEMP", "the members of a struct do not lie behind it");
}

static void test_wevt__refuses_damaged_events(void **state)
{
	(void)state;
	set(made.events + offsetof(struct wire_wevt_event, level_entry), UINT32_MAX);
	refuse("LEVL", "a part goes beyond the resource");
	set(made.events + offsetof(struct wire_wevt_event, task_entry), (uint32_t)made.bytes - 20);
	refuse("TASK", "a part goes beyond the resource");
	set(made.events + offsetof(struct wire_wevt_event, keyword_count), 65);
	refuse("EVNT", "an event has more keywords than there are bits");
	set(made.events + offsetof(struct wire_wevt_event, keywords), (uint32_t)made.bytes - 4);
	refuse("EVNT", "a part goes beyond the resource");
	set(made.keywords + 4, UINT32_MAX);
	refuse("KEYW", "a part goes beyond the resource");
	set(list_at(WIRE_WEVT_ATTRIBUTES) + 12 + 4, UINT32_MAX);
	refuse("string", "a part goes beyond the resource");
}

/* A thousand providers that are all the same one. */
static void test_wevt__overlap_is_limited(void **state)
{
	static uint8_t blob[65536];
	const size_t shift = 20 * 999;
	struct etw_definition *definition;
	struct etw_fault fault = {0};

	(void)state;
	memcpy(blob, made.at, 36);
	for (size_t i = 1; i < 1000; i++)
		memcpy(blob + 16 + 20 * i, made.at + 16, 20);
	etw_store32(blob + 12, 1000);
	etw_store32(blob + 4, 65536);
	for (size_t i = 0; i < 1000; i++)
		etw_store32(blob + 16 + 20 * i + 16, (uint32_t)(36 + shift));
	/* One list: levels, as many as there is room for. */
	memcpy(blob + 36 + shift, "WEVT", 4);
	etw_store32(blob + 36 + shift + 8, WIRE_WEVT_NO_MESSAGE);
	etw_store32(blob + 36 + shift + 12, 1);
	etw_store32(blob + 36 + shift + 20, 30000);
	memcpy(blob + 30000, "LEVL", 4);
	etw_store32(blob + 30008, 2000);
	assert_int_equal(etw_wevt_parse(&arena, (struct etw_bytes){blob, sizeof(blob)}, NULL, 0,
					&definition, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, "the parts of the resource overlap too much");
}

/* Attributes of one text that is longer than all else. */
static void test_wevt__joined_names_are_limited(void **state)
{
	static uint8_t blob[65536];
	const uint32_t list = 20000, text = 40000;
	struct etw_definition *definition;
	struct etw_fault fault = {0};

	(void)state;
	memcpy(blob, made.at, made.bytes);
	etw_store32(blob + 4, sizeof(blob));
	for (uint32_t i = 0; i < 12; i++) {
		if (etw_load32(blob + made.provider + 16 + 8 * i) == WIRE_WEVT_ATTRIBUTES)
			etw_store32(blob + made.provider + 20 + 8 * i, list);
	}
	memcpy(blob + list, "EVTA", 4);
	etw_store32(blob + list + 8, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		blob[list + 12 + 8 * i] = WIRE_WEVT_ATTRIBUTE_VALUE;
		etw_store16(blob + list + 12 + 8 * i + 2, 1);
		etw_store32(blob + list + 12 + 8 * i + 4, text);
	}
	for (uint32_t i = 0; i < 10000; i++)
		etw_store16(blob + text + 2 * i, 'x');
	assert_int_equal(etw_wevt_parse(&arena, (struct etw_bytes){blob, sizeof(blob)}, NULL, 0,
					&definition, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence,
			    "the names of events are out of proportion to the resource");
}

/* Whatever byte is another one: a definition or a fault. */
static void test_wevt__any_byte_may_be_wrong(void **state)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xff};

	(void)state;
	for (size_t at = 0; at < made.bytes; at++) {
		for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
			struct etw_definition *definition;
			struct etw_fault fault = {0};
			int r;

			made.at[at] ^= changes[i];
			r = etw_wevt_parse(&arena, (struct etw_bytes){made.at, made.bytes}, &table,
					   1, &definition, &fault);
			made.at[at] ^= changes[i];
			assert_true(r == 0 || (r == -EBADMSG && fault.sentence));
			etw_arena_done(&arena);
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_wevt__##name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(provider),
		TEST(names),
		TEST(channels),
		TEST(maps),
		TEST(event),
		TEST(fields),
		TEST(filters),
		TEST(filter_with_a_struct),
		TEST(control_guid),
		TEST(older_compilers),
		TEST(without_messages),
		TEST(first_table_that_has_a_text),
		TEST(refuses_damaged_containers),
		TEST(refuses_damaged_lists),
		TEST(refuses_damaged_maps),
		TEST(refuses_damaged_templates),
		TEST(refuses_damaged_events),
		TEST(overlap_is_limited),
		TEST(joined_names_are_limited),
		TEST(any_byte_may_be_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
