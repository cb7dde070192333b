/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "schema/kernel.h"
#include "schema/store/store_internal.h"
#include "schema/store/store_loans.h"
#include "synthetic/sanitized.h"
#include "unit/schema/store_events.h"

static void test_store__manifest_events_match_exactly(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	const struct etw_schema *schema;

	(void)state;
	assert_false(etw_schema_store_is_metadata(&record));
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	add_manifest(MANIFEST("1", "a"));
	schema = check_found(&record);
	assert_string_equal(schema->fields[0].name, "a");
	record.EventHeader.EventDescriptor.Version = 2;
	check_miss(&record, ETW_SCHEMA_NO_EVENT);
	record.EventHeader.EventDescriptor.Version = 1;
	record.EventHeader.EventDescriptor.Id = 8;
	check_miss(&record, ETW_SCHEMA_NO_EVENT);
	record.EventHeader.EventDescriptor.Id = 7;
	assert_ptr_equal(check_found(&record), schema);
}

static void test_store__later_manifests_win_and_old_schemas_stay(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	const struct etw_schema *old, *new;

	(void)state;
	add_manifest(MANIFEST("1", "old"));
	old = check_found(&record);
	add_manifest(MANIFEST("1", "new"));
	new = check_found(&record);
	assert_string_equal(new->fields[0].name, "new");
	assert_string_equal(old->fields[0].name, "old");
	assert_int_not_equal(new->index, old->index);
}

static void test_store__a_bad_manifest_changes_nothing(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static const char text[] = "<instrumentationManifest>\n<provider";
	struct etw_fault fault;

	(void)state;
	assert_int_equal(etw_schema_store_add_manifest(store, text, sizeof(text) - 1, &fault),
			 -EBADMSG);
	assert_int_equal(fault.offset, 2);
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	assert_int_equal(etw_schema_store_damage(store, &fault), 0);
}

static void test_store__the_trace_is_believed_before_manifests(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static struct info_blob blob;
	struct wire_event_info head;

	(void)state;
	info_blob_event(&blob, &head);
	add_manifest(MANIFEST("1", "user"));
	learn_embedded(1, MANIFEST("1", "embedded"));
	assert_string_equal(check_found(&record)->fields[0].name, "embedded");
	learn(0x20, blob.at, blob.bytes);
	assert_string_equal(check_found(&record)->fields[0].name, "Id");
	add_manifest(MANIFEST("1", "user again"));
	learn_embedded(2, MANIFEST("1", "embedded again"));
	assert_string_equal(check_found(&record)->fields[0].name, "Id");
	assert_int_equal(etw_schema_store_damage(store, NULL), 0);
}

static void test_store__the_first_event_metadata_counts(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static struct info_blob blob;
	struct wire_event_info head;
	const struct etw_schema *schema;

	(void)state;
	info_blob_event(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	schema = check_found(&record);
	learn(0x20, blob.at, blob.bytes);
	assert_ptr_equal(check_found(&record), schema);
}

static void test_store__maps_before_and_after_their_events(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static struct info_blob blob, map_blob;
	struct wire_event_info head;
	struct wire_map_info map_head;
	const struct etw_schema *schema;

	(void)state;
	info_blob_event(&blob, &head);
	info_blob_map(&map_blob, &map_head);
	learn(0x20, blob.at, blob.bytes);
	schema = check_found(&record);
	assert_null(schema->fields[1].map);
	learn(0x21, map_blob.at, map_blob.bytes);
	learn(0x21, map_blob.at, map_blob.bytes);
	assert_ptr_equal(check_found(&record), schema);
	assert_string_equal(schema->fields[1].map->entries[1].text, "Some");
	head.id = le16_of(8);
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	record.EventHeader.EventDescriptor.Id = 8;
	assert_ptr_equal(check_found(&record)->fields[1].map, schema->fields[1].map);
	/* Maps belong to a provider. */
	head.provider[0] ^= 1;
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	record.EventHeader.ProviderId.Data1 ^= 1;
	assert_null(check_found(&record)->fields[1].map);
}

/* Event 9 of the trace's provider has a field with the map KindMap, which @maps may define. */
#define MANIFEST_WITH_MAP(maps)                                                            \
	"<instrumentationManifest><instrumentation><events>"                               \
	"<provider name='By-Manifest' guid='{11112222-3333-4444-5555-666677778888}'>" maps \
	"<templates><template tid='t'>"                                                    \
	"<data name='Kind' inType='win:UInt32' map='KindMap'/></template></templates>"     \
	"<events><event value='9' version='1' template='t'/></events>"                     \
	"</provider></events></instrumentation></instrumentationManifest>"
#define MAP_OF_MANIFEST                                  \
	"<maps><valueMap name='KindMap'><map value='1' " \
	"message='$(string.One)'/></valueMap></maps>"

static void test_store__map_of_the_trace_for_a_manifest(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 9, 1, 0);
	static struct info_blob map_blob;
	struct wire_map_info map_head;
	const struct etw_schema *schema;

	(void)state;
	info_blob_map(&map_blob, &map_head);
	add_manifest(MANIFEST_WITH_MAP(""));
	schema = check_found(&record);
	assert_null(schema->fields[0].map);
	learn(0x21, map_blob.at, map_blob.bytes);
	assert_non_null(schema->fields[0].map);
	assert_string_equal(schema->fields[0].map->entries[1].text, "Some");
}

static void test_store__map_of_a_manifest_for_the_trace(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static struct info_blob blob, map_blob;
	struct wire_event_info head;
	struct wire_map_info map_head;
	const struct etw_schema *schema;

	(void)state;
	info_blob_event(&blob, &head);
	info_blob_map(&map_blob, &map_head);
	learn(0x20, blob.at, blob.bytes);
	schema = check_found(&record);
	assert_null(schema->fields[1].map);
	add_manifest(MANIFEST_WITH_MAP(MAP_OF_MANIFEST));
	assert_non_null(schema->fields[1].map);
	assert_int_equal(schema->fields[1].map->count, 1);
	/* The trace knows better, once it tells. */
	learn(0x21, map_blob.at, map_blob.bytes);
	assert_int_equal(schema->fields[1].map->count, 2);
	assert_string_equal(schema->fields[1].map->entries[1].text, "Some");
	/* The manifest's own field keeps the manifest's own map. */
	record.EventHeader.EventDescriptor.Id = 9;
	assert_int_equal(check_found(&record)->fields[0].map->count, 1);
}

static void test_store__damage_in_metadata_is_counted(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	struct wire_map_info map_head;
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(etw_schema_store_damage(store, &fault), 0);
	assert_null(fault.sentence);
	info_blob_event(&blob, &head);
	learn(0x20, blob.at, 5);
	info_blob_map(&blob, &map_head);
	learn(0x21, blob.at, 5);
	learn(0x22, blob.at, 5);
	learn_embedded(1, "<not/>");
	assert_int_equal(etw_schema_store_damage(store, NULL), 3);
	assert_int_equal(etw_schema_store_damage(store, &fault), 3);
	assert_string_equal(fault.structure, "TRACE_EVENT_INFO");
	assert_string_equal(fault.sentence, "the blob ends within the structure");
}

static void test_store__learnt_classes_win_over_built_in_ones(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 0, 1, EVENT_HEADER_FLAG_CLASSIC_HEADER);
	static struct info_blob blob;
	struct wire_event_info head;

	(void)state;
	check_miss(&record, ETW_SCHEMA_NO_CLASS);
	record.EventHeader.EventDescriptor.Opcode = 1;
	info_blob_event(&blob, &head);
	head.decoding_source = le32_of(DecodingSourceWbem);
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	assert_string_equal(check_found(&record)->task_name, "Task");
	/* The class, when it is given apart from the provider. */
	memcpy(head.event_guid, head.provider, sizeof(head.event_guid));
	head.event_guid[0] ^= 1;
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	record.EventHeader.ProviderId.Data1 ^= 1;
	assert_int_equal(check_found(&record)->source, DecodingSourceWbem);
}

static void test_store__other_sources_only_name_the_provider(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static struct info_blob blob;
	struct wire_event_info head;

	(void)state;
	info_blob_event(&blob, &head);
	head.decoding_source = le32_of(DecodingSourceTlg);
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider),
			    "Some-Provider");
}

static void test_store__built_in_classes_get_an_index(void **state)
{
	EVENT_RECORD record;
	const struct etw_schema *first = NULL;

	(void)state;
	for (size_t i = 0; i < etw_kernel_class_count(); i++) {
		const struct etw_schema *built_in = etw_kernel_class_at(i);
		const struct etw_schema *schema;
		const GUID *guid = etw_guid_is_null(&built_in->event_guid) ? &built_in->provider
									   : &built_in->event_guid;

		record = event_of(guid, 0, built_in->descriptor.Version,
				  EVENT_HEADER_FLAG_CLASSIC_HEADER);
		record.EventHeader.EventDescriptor.Opcode = built_in->descriptor.Opcode;
		if (!etw_kernel_class_find(guid, built_in->descriptor.Opcode,
					   built_in->descriptor.Version))
			continue;
		schema = check_found(&record);
		assert_ptr_equal(schema->fields, built_in->fields);
		if (first)
			assert_int_not_equal(schema->index, first->index);
		else
			first = schema;
	}
	assert_non_null(first);
}

static void test_store__tracelogging_is_found_by_content(void **state)
{
	uint8_t metadata[] = "\x08\0\0E\0a\0\x08";
	uint8_t same[sizeof(metadata)];
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
	EVENT_RECORD record = tracelogging_event(items, metadata, 8);
	const struct etw_schema *schema = check_found(&record);

	(void)state;
	assert_string_equal(schema->provider_name, "Name");
	assert_string_equal(schema->event_name, "E");
	assert_true(etw_guid_equal(&schema->provider, &info_blob_provider));
	memcpy(same, metadata, sizeof(metadata));
	record = tracelogging_event(items, same, 8);
	assert_ptr_equal(check_found(&record), schema);
	/* Another provider, other contents, or another level. */
	record.EventHeader.ProviderId.Data1 ^= 1;
	assert_ptr_not_equal(check_found(&record), schema);
	record.EventHeader.ProviderId.Data1 ^= 1;
	record.EventHeader.EventDescriptor.Level = 3;
	assert_ptr_not_equal(check_found(&record), schema);
	record.EventHeader.EventDescriptor.Level = 0;
	same[5] = 'b';
	assert_string_equal(check_found(&record)->fields[0].name, "b");
	assert_string_equal(schema->fields[0].name, "a");
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider), "Name");
}

static void test_store__names_in_traits_are_made_utf8(void **state)
{
	static const uint8_t traits[] = {8, 0, 0x9b, 'N', 0xe4, 0xc2, 0, 0};
	static const uint8_t metadata[] = "\x08\0\0E\0a\0\x08";
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
	EVENT_RECORD record = tracelogging_event(items, metadata, 8);

	(void)state;
	items[0].DataPtr = (uintptr_t)traits;
	items[0].DataSize = sizeof(traits);
	assert_string_equal(check_found(&record)->provider_name, "\u203AN\u00E4\u00C2");
}

static void test_store__bad_tracelogging_is_remembered(void **state)
{
	static const uint8_t unreadable[] = {5, 0, 0, 'E', 'x'};
	static const uint8_t partial[] = "\x08\0\0E\0a\0\x1f";
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
	EVENT_RECORD record = tracelogging_event(items, unreadable, sizeof(unreadable));

	(void)state;
	check_miss(&record, ETW_SCHEMA_BAD_METADATA);
	assert_int_equal(etw_schema_store_damage(store, NULL), 1);
	record = tracelogging_event(items, partial, 8);
	assert_int_equal(check_found(&record)->field_count, 0);
	assert_int_equal(etw_schema_store_damage(store, NULL), 2);
}

static void test_store__flags_decide_in_order(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, EVENT_HEADER_FLAG_TRACE_MESSAGE);
	const struct etw_schema *schema;
	enum etw_schema_miss why;

	(void)state;
	check_miss(&record, ETW_SCHEMA_WPP);
	record.EventHeader.Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
	check_miss(&record, ETW_SCHEMA_WPP);
	record.EventHeader.Flags = EVENT_HEADER_FLAG_STRING_ONLY;
	schema = etw_schema_store_find(store, &record, &why);
	assert_int_equal(why, ETW_SCHEMA_STRING_ONLY);
	assert_int_equal(schema->field_count, 1);
	assert_int_equal(schema->fields[0].in_type, TDH_INTYPE_UNICODESTRING);
	assert_ptr_equal(etw_schema_store_find(store, &record, NULL), schema);
	/* Also when the answer is no longer in the cache. */
	add_manifest("<instrumentationManifest/>");
	assert_ptr_equal(etw_schema_store_find(store, &record, NULL), schema);
}

static void test_store__embedded_manifests_repeat(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	const struct etw_schema *schema;

	(void)state;
	learn_embedded(1, MANIFEST("1", "a"));
	schema = check_found(&record);
	learn_embedded(2, MANIFEST("1", "a"));
	assert_ptr_equal(check_found(&record), schema);
	learn_embedded(3, MANIFEST("1", "b"));
	assert_string_equal(check_found(&record)->fields[0].name, "b");
}

static void test_store__providers_of_definitions(void **state)
{
	static const char second[] =
		"<instrumentationManifest><instrumentation><events>"
		"<provider name='Second' guid='{11112222-3333-4444-5555-666677778889}'/>"
		"</events></instrumentation></instrumentationManifest>";
	const struct etw_provider_schema *first;
	GUID unknown = info_blob_provider;

	(void)state;
	assert_null(etw_schema_store_next_provider(store, NULL));
	assert_null(etw_schema_store_provider(store, &info_blob_provider));
	learn_embedded(1, MANIFEST("1", "embedded"));
	add_manifest(second);
	add_manifest(MANIFEST("1", "named"));
	first = etw_schema_store_provider(store, &info_blob_provider);
	assert_non_null(first);
	/* The user's manifest is later, but less believed. */
	assert_string_equal(first->schemas[0].fields[0].name, "embedded");
	assert_ptr_equal(first->schemas[0].owner, first);
	assert_ptr_equal(etw_schema_store_next_provider(store, NULL), first);
	first = etw_schema_store_next_provider(store, first);
	assert_string_equal(first->name, "Second");
	assert_null(etw_schema_store_next_provider(store, first));
	add_manifest(second);
	assert_ptr_not_equal(etw_schema_store_provider(store, &first->guid), first);
	unknown.Data1++;
	assert_null(etw_schema_store_provider(store, &unknown));
}

static void test_store__classes_of_definitions(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 0, 2, EVENT_HEADER_FLAG_CLASSIC_HEADER);
	struct etw_schema schemas[2] = {0};
	struct etw_provider_schema provider = {.guid = info_blob_provider,
					       .source = DecodingSourceWbem,
					       .name = "Class",
					       .schemas = schemas,
					       .schema_count = 2};
	const struct etw_definition definition = {
		.providers = &provider, .provider_count = 1, .schema_count = 2};

	(void)state;
	schemas[0].source = DecodingSourceWbem;
	schemas[0].event_guid = info_blob_provider;
	schemas[0].descriptor.Version = 2;
	schemas[0].descriptor.Opcode = 5;
	/* Never looked up by key. */
	schemas[1].source = DecodingSourceWPP;
	assert_int_equal(etw_store_keep_definition(store, &definition, ETW_SCHEMA_ORIGIN_USER), 0);
	record.EventHeader.EventDescriptor.Opcode = 5;
	assert_ptr_equal(check_found(&record), &schemas[0]);
	record.EventHeader.EventDescriptor.Version = 3;
	check_miss(&record, ETW_SCHEMA_NO_CLASS);
	record.EventHeader.Flags = 0;
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
}

/* The name is that of the definition that is believed, also when the latest loan has ended. */
static void test_store__names_go_with_loans(void **state)
{
	struct etw_provider_schema providers[3] = {
		{.guid = info_blob_provider, .source = DecodingSourceXMLFile, .name = "First"},
		{.guid = info_blob_provider, .source = DecodingSourceXMLFile, .name = "Second"},
		{.guid = info_blob_provider, .source = DecodingSourceXMLFile, .name = "Third"},
	};
	struct etw_definition definitions[3];
	struct etw_schema_loan loans[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		definitions[i] = (struct etw_definition){.providers = &providers[i],
							 .provider_count = 1};
		loans[i] = (struct etw_schema_loan){.definition = &definitions[i]};
		assert_int_equal(etw_schema_store_lend(store, &loans[i]), 0);
		assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider),
				    providers[i].name);
	}
	etw_schema_store_take_back(store, &loans[2]);
	assert_ptr_equal(etw_schema_store_provider(store, &info_blob_provider), &providers[1]);
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider), "Second");
	etw_schema_store_take_back(store, &loans[0]);
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider), "Second");
	etw_schema_store_take_back(store, &loans[1]);
	assert_null(etw_schema_store_provider(store, &info_blob_provider));
}

static void test_store__other_events_teach_nothing(void **state)
{
	EVENT_RECORD record = event_of(&metadata_class, 0, 0, 0);

	(void)state;
	assert_false(etw_schema_store_is_metadata(&record));
	assert_int_equal(etw_schema_store_learn(store, &record), 0);
	record = event_of(&info_blob_provider, 0xfffe, 0, 0);
	assert_false(etw_schema_store_is_metadata(&record));
	assert_int_equal(etw_schema_store_learn(store, &record), 0);
	assert_int_equal(etw_schema_store_damage(store, NULL), 0);
}

static void test_store__provider_names(void **state)
{
	GUID guid;

	(void)state;
	assert_null(etw_schema_store_provider_name(store, &info_blob_provider));
	add_manifest(MANIFEST("1", "a"));
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider),
			    "By-Manifest");
	assert_int_equal(etw_guid_parse("edd08927-9cc4-4e65-b970-c2560fb5c289", &guid), 0);
	assert_string_equal(etw_schema_store_provider_name(store, &guid),
			    "Microsoft-Windows-Kernel-File");
	assert_int_equal(etw_guid_parse("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", &guid), 0);
	assert_string_equal(etw_schema_store_provider_name(store, &guid), "Process");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

/*
 * No memory can be had but what the allocator holds already, which events of much metadata use up. A store
 * that is out of memory says so, and finds the schema when there is memory again.
 */
static void test_store__out_of_memory_is_no_missing_schema(void **state)
{
	static uint8_t metadata[60000];
	EVENT_HEADER_EXTENDED_DATA_ITEM items[2];
	EVENT_RECORD record;
	enum etw_schema_miss why = ETW_SCHEMA_FOUND;
	struct rlimit limit, none;

	(void)state;
	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer's allocator ends the program instead\n");
		skip();
	}
	memcpy(metadata, "\0\0\0E\0a\0\x08", 8);
	etw_store16(metadata, sizeof(metadata));
	record = tracelogging_event(items, metadata, sizeof(metadata));
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	for (unsigned i = 0; i < 10000 && why != ETW_SCHEMA_NO_MEMORY; i++) {
		etw_store16(metadata + sizeof(metadata) - 2, (uint16_t)i);
		(void)etw_schema_store_find(store, &record, &why);
	}
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(why, ETW_SCHEMA_NO_MEMORY);
	(void)etw_schema_store_find(store, &record, &why);
	assert_int_not_equal(why, ETW_SCHEMA_NO_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_store__manifest_events_match_exactly),
		TEST(test_store__later_manifests_win_and_old_schemas_stay),
		TEST(test_store__a_bad_manifest_changes_nothing),
		TEST(test_store__the_trace_is_believed_before_manifests),
		TEST(test_store__the_first_event_metadata_counts),
		TEST(test_store__maps_before_and_after_their_events),
		TEST(test_store__map_of_the_trace_for_a_manifest),
		TEST(test_store__map_of_a_manifest_for_the_trace),
		TEST(test_store__damage_in_metadata_is_counted),
		TEST(test_store__learnt_classes_win_over_built_in_ones),
		TEST(test_store__other_sources_only_name_the_provider),
		TEST(test_store__built_in_classes_get_an_index),
		TEST(test_store__tracelogging_is_found_by_content),
		TEST(test_store__names_in_traits_are_made_utf8),
		TEST(test_store__bad_tracelogging_is_remembered),
		TEST(test_store__flags_decide_in_order),
		TEST(test_store__embedded_manifests_repeat),
		TEST(test_store__providers_of_definitions),
		TEST(test_store__classes_of_definitions),
		TEST(test_store__names_go_with_loans),
		TEST(test_store__other_events_teach_nothing),
		TEST(test_store__provider_names),
		TEST(test_store__out_of_memory_is_no_missing_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
