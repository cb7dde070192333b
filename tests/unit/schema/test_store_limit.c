/* SPDX-License-Identifier: MIT */
/* What a store keeps because of events has an end; what it has handed out stays. */
#include "schema/store/store_installed.h"
#include "schema/store/store_internal.h"
#include "unit/schema/store_events.h"

#define METADATA_BYTES 60000

static EVENT_HEADER_EXTENDED_DATA_ITEM items[2];

/* An event of one field, with metadata of @bytes that no other number gives. */
static EVENT_RECORD kind_of_event(uint32_t number, uint16_t bytes)
{
	static uint8_t metadata[METADATA_BYTES];

	memset(metadata, 0, bytes);
	memcpy(metadata, "\0\0\0E\0a\0\x08", 8);
	etw_store16(metadata, bytes);
	etw_store32(metadata + bytes - 4, number);
	return tracelogging_event(items, metadata, bytes);
}

static void fill_up(void)
{
	store->kept_bytes = STORE_KEPT_BYTES_MAX;
}

/* However many kinds of events a trace makes up, memory stays below the limit and a little. */
static void test_store_limit__holds_for_kinds_of_events(void **state)
{
	EVENT_RECORD first = kind_of_event(1, 100), record;
	const struct etw_schema *schema = check_found(&first);
	enum etw_schema_miss why = ETW_SCHEMA_FOUND;
	uint32_t count = 1;

	(void)state;
	while (why != ETW_SCHEMA_TOO_MANY && count < 4000) {
		record = kind_of_event(++count, METADATA_BYTES);
		(void)etw_schema_store_find(store, &record, &why);
	}
	assert_int_equal(why, ETW_SCHEMA_TOO_MANY);
	check_miss(&record, ETW_SCHEMA_TOO_MANY);
	assert_in_range(etw_arena_bytes(&store->arena), STORE_KEPT_BYTES_MAX / 2,
			STORE_KEPT_BYTES_MAX + ((size_t)1 << 20));
	/* What is known stays known, and what was handed out is as it was. */
	first = kind_of_event(1, 100);
	assert_ptr_equal(check_found(&first), schema);
	assert_string_equal(schema->fields[0].name, "a");
}

/* Small ones count with what the table needs for them. */
static void test_store_limit__counts_small_kinds(void **state)
{
	size_t kept_bytes;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		const EVENT_RECORD record = kind_of_event(i, 16);

		(void)etw_schema_store_find(store, &record, NULL);
	}
	kept_bytes = store->kept_bytes;
	assert_true(kept_bytes >= etw_arena_bytes(&store->arena) + (size_t)10000 * 32);
}

static void test_store_limit__holds_for_strings(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, EVENT_HEADER_FLAG_STRING_ONLY);
	enum etw_schema_miss why;

	(void)state;
	assert_non_null(etw_schema_store_find(store, &record, NULL));
	assert_true(store->kept_bytes > 0);
	fill_up();
	etw_store_forget_answers(store);
	assert_non_null(etw_schema_store_find(store, &record, &why));
	assert_int_equal(why, ETW_SCHEMA_STRING_ONLY);
	record.EventHeader.ProviderId.Data1 ^= 1;
	check_miss(&record, ETW_SCHEMA_TOO_MANY);
}

static void test_store_limit__holds_for_event_metadata(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static struct info_blob blob, map_blob;
	struct wire_event_info head;
	struct wire_map_info map_head;
	struct etw_fault fault = {0};

	(void)state;
	info_blob_event(&blob, &head);
	info_blob_map(&map_blob, &map_head);
	learn(0x20, blob.at, blob.bytes);
	assert_true(store->kept_bytes > 0);
	fill_up();
	/* Again is not more. */
	learn(0x20, blob.at, blob.bytes);
	assert_int_equal(etw_schema_store_damage(store, NULL), 0);
	head.id = le16_of(8);
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	assert_int_equal(etw_schema_store_damage(store, &fault), 1);
	assert_string_equal(fault.sentence,
			    "the events bring more schemas of their own than are kept");
	learn(0x21, map_blob.at, map_blob.bytes);
	assert_int_equal(etw_schema_store_damage(store, NULL), 2);
	assert_null(check_found(&record)->fields[1].map);
	record.EventHeader.EventDescriptor.Id = 8;
	check_miss(&record, ETW_SCHEMA_NO_EVENT);
}

/* Of TraceLogging and WPP events the metadata only names the provider. */
static void test_store_limit__metadata_of_use_for_a_name_is_not_kept(void **state)
{
	static struct info_blob blob;
	struct wire_event_info head;
	size_t kept_bytes, held_bytes;

	(void)state;
	info_blob_event(&blob, &head);
	head.decoding_source = le32_of(DecodingSourceTlg);
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	kept_bytes = store->kept_bytes;
	held_bytes = etw_arena_bytes(&store->arena);
	for (unsigned i = 0; i < 1000; i++)
		learn(0x20, blob.at, blob.bytes);
	assert_int_equal(store->kept_bytes, kept_bytes);
	assert_int_equal(etw_arena_bytes(&store->arena), held_bytes);
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider),
			    "Some-Provider");
	/* Nor is a new name without room, or a blob without a name. */
	fill_up();
	head.provider_name = head.task_name;
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	assert_int_equal(etw_schema_store_damage(store, NULL), 1);
	head.provider_name = le32_of(0);
	info_blob_set_head(&blob, &head);
	learn(0x20, blob.at, blob.bytes);
	assert_int_equal(etw_schema_store_damage(store, NULL), 1);
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider),
			    "Some-Provider");
}

static void test_store_limit__holds_for_embedded_manifests(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	struct etw_fault fault = {0};

	(void)state;
	learn_embedded(1, MANIFEST("1", "a"));
	assert_true(store->kept_bytes > 0);
	fill_up();
	learn_embedded(2, MANIFEST("1", "a"));
	assert_int_equal(etw_schema_store_damage(store, NULL), 0);
	learn_embedded(3, MANIFEST("1", "b"));
	assert_int_equal(etw_schema_store_damage(store, &fault), 1);
	assert_string_equal(check_found(&record)->fields[0].name, "a");
	/* What the user names is not counted. */
	add_manifest(MANIFEST("2", "c"));
	assert_int_equal(store->kept_bytes, STORE_KEPT_BYTES_MAX);
}

static unsigned question_count;

static int count_question(void *context, struct etw_schema_store *of, const GUID *guid,
			  struct etw_fault *reterr)
{
	(void)context;
	(void)of;
	(void)guid;
	(void)reterr;
	question_count++;
	return 0;
}

static const char *know_no_name(void *context, const GUID *guid)
{
	(void)context;
	(void)guid;
	return NULL;
}

static bool find_no_change(void *context)
{
	(void)context;
	return false;
}

static void release_nothing(void *context)
{
	(void)context;
}

/* Each unknown GUID leaves a note that it was asked for. */
static void test_store_limit__holds_for_questions_to_the_registry(void **state)
{
	static const struct etw_schema_registry registry = {
		.load = count_question,
		.name = know_no_name,
		.refresh = find_no_change,
		.release = release_nothing,
	};
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	size_t kept_bytes;

	(void)state;
	etw_schema_store_set_registry(store, &registry);
	question_count = 0;
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	assert_int_equal(question_count, 1);
	kept_bytes = store->kept_bytes;
	assert_true(kept_bytes > 0);
	fill_up();
	record.EventHeader.ProviderId.Data1 ^= 1;
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	assert_int_equal(question_count, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_store_limit__holds_for_kinds_of_events),
		TEST(test_store_limit__counts_small_kinds),
		TEST(test_store_limit__holds_for_strings),
		TEST(test_store_limit__holds_for_event_metadata),
		TEST(test_store_limit__metadata_of_use_for_a_name_is_not_kept),
		TEST(test_store_limit__holds_for_embedded_manifests),
		TEST(test_store_limit__holds_for_questions_to_the_registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
