/* SPDX-License-Identifier: MIT */
/* The decoder on a store of the test's own: cache, pointer sizes, misses, look-up by name, integers. */
#include "sample.h"

#include "decode/decode.h"

#define SCHEMAS 600

/* The store knows SCHEMAS schemas by event id; others miss for the reason that the id says. */
struct etw_schema_store {
	struct etw_schema schemas[SCHEMAS];
	struct etw_field fields[SCHEMAS][3];
};

#define MISS_ID(why) (60000 + (why))

static enum etw_schema_miss manifest_data_miss = ETW_SCHEMA_NO_EVENT;

const struct etw_schema *etw_schema_store_find(struct etw_schema_store *store,
					       const EVENT_RECORD *record,
					       enum etw_schema_miss *ret_why)
{
	USHORT id = record->EventHeader.EventDescriptor.Id;

	if (id == 65534)
		id = (USHORT)MISS_ID(manifest_data_miss);
	*ret_why = id < SCHEMAS ? ETW_SCHEMA_FOUND : (enum etw_schema_miss)(id - MISS_ID(0));
	return id < SCHEMAS ? &store->schemas[id] : NULL;
}

const struct etw_schema *etw_schema_store_find_choice(struct etw_schema_store *store,
						      const EVENT_RECORD *record,
						      enum etw_schema_miss *ret_why,
						      bool *ret_is_alone)
{
	const struct etw_schema *schema = etw_schema_store_find(store, record, ret_why);

	*ret_is_alone = !schema || !schema->next;
	return schema;
}

/* Layouts of one event are linked. */
const struct etw_schema *etw_schema_store_next(struct etw_schema_store *store,
					       const EVENT_RECORD *record,
					       const struct etw_schema *after)
{
	(void)store;
	(void)record;
	return after->next;
}

/* Schema n: a pointer, then an INT32 "value", then a string of n % 5 + 1 characters. */
static struct etw_schema_store *make_store(void)
{
	struct etw_schema_store *store = calloc(1, sizeof(*store));

	assert_non_null(store);
	for (unsigned i = 0; i < SCHEMAS; i++) {
		struct etw_field *fields = store->fields[i];

		fields[0] = (struct etw_field){
			.name = "pointer", .in_type = TDH_INTYPE_POINTER, .count = 1};
		fields[1] = (struct etw_field){
			.name = "value", .in_type = TDH_INTYPE_INT32, .count = 1};
		fields[2] = (struct etw_field){.name = "text",
					       .in_type = TDH_INTYPE_ANSISTRING,
					       .count = 1,
					       .length = (uint16_t)(i % 5 + 1)};
		store->schemas[i] =
			(struct etw_schema){.field_count = 3, .top_count = 3, .fields = fields};
	}
	return store;
}

static void run(struct etw_decoder *decoder, EVENT_RECORD *record, unsigned id, unsigned flags,
		struct etw_decoding *ret)
{
	memset(ret, 0xAA, sizeof(*ret));
	record->EventHeader.EventDescriptor.Id = (USHORT)id;
	record->EventHeader.Flags = (USHORT)flags;
	assert_int_equal(etw_decoder_run(decoder, record, ret), 0);
	assert_ptr_equal(ret->record, record);
}

static void test_decode__many_schemas_both_pointer_sizes(void **state)
{
	struct etw_schema_store *store = make_store();
	struct etw_decoder *decoder;
	uint8_t payload[13] = {1, 2, 3, 4, 0xFE, 0xFF, 0xFF, 0xFF};
	EVENT_RECORD record = {.UserData = payload};
	struct etw_decoding decoding;

	(void)state;
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < SCHEMAS; i++) {
			record.UserDataLength = (USHORT)(8 + i % 5 + 1);
			run(decoder, &record, i, EVENT_HEADER_FLAG_32_BIT_HEADER, &decoding);
			assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
			assert_ptr_equal(decoding.schema, &store->schemas[i]);
			assert_int_equal(decoding.miss, ETW_SCHEMA_FOUND);
			assert_int_equal(decoding.items[1].offset, 4);

			run(decoder, &record, i, EVENT_HEADER_FLAG_64_BIT_HEADER, &decoding);
			assert_int_equal(decoding.items[0].bytes, 8);
			assert_int_not_equal(decoding.status, ETW_DECODE_COMPLETE);
			run(decoder, &record, i, 0, &decoding);
			assert_int_equal(decoding.items[0].bytes, 8);
		}
	}
	etw_decoder_free(decoder);
	free(store);
}

/* Schema 0: a pointer, four bytes, one character. Only classic events may be read the other way. */
static void test_decode__classic_event_with_pointers_of_the_other_size(void **state)
{
	static const struct {
		unsigned flags, bytes;
		enum etw_decode_status status;
		unsigned pointer_bytes;
	} rows[] = {
		{EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER, 9,
		 ETW_DECODE_COMPLETE, 4},
		{EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER, 13,
		 ETW_DECODE_COMPLETE, 8},
		{EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER, 9,
		 ETW_DECODE_COMPLETE, 4},
		{EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER, 12,
		 ETW_DECODE_EXTRA, 4},
		{EVENT_HEADER_FLAG_32_BIT_HEADER, 13, ETW_DECODE_EXTRA, 4},
	};
	struct etw_schema_store *store = make_store();
	uint8_t payload[13] = {0};
	EVENT_RECORD record = {.UserData = payload};
	struct etw_decoder *decoder;
	struct etw_decoding decoding;

	(void)state;
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		record.UserDataLength = (USHORT)rows[i].bytes;
		run(decoder, &record, 0, rows[i].flags, &decoding);
		assert_int_equal(decoding.status, rows[i].status);
		assert_int_equal(decoding.items[0].bytes, rows[i].pointer_bytes);
	}
	etw_decoder_free(decoder);
	free(store);
}

/* 65534, task 65534, opcode 254: a piece of an EventSource's manifest, whatever the store says. */
static void test_decode__manifest_data_of_an_event_source(void **state)
{
	static const enum etw_schema_miss whys[] = {ETW_SCHEMA_NO_PROVIDER, ETW_SCHEMA_NO_EVENT};
	struct etw_schema_store *store = make_store();
	struct etw_decoder *decoder;
	uint8_t payload[] = {1, 4, 0, 0x5b, 3, 0, 2, 0, '<', 'a', '/', '>'};
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = sizeof(payload)};
	EVENT_DESCRIPTOR *descriptor = &record.EventHeader.EventDescriptor;
	struct etw_decoding decoding;
	uint64_t value = 0;

	(void)state;
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	descriptor->Task = 65534;
	descriptor->Opcode = 254;
	for (size_t i = 0; i < ARRAY_SIZE(whys); i++) {
		manifest_data_miss = whys[i];
		run(decoder, &record, 65534, EVENT_HEADER_FLAG_64_BIT_HEADER, &decoding);
		assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
		assert_string_equal(decoding.schema->task_name, "ManifestData");
		assert_true(etw_decoding_u64(&decoding, etw_decoding_find(&decoding, "ChunkNumber"),
					     &value));
		assert_int_equal(value, 2);
		assert_int_equal(etw_decoding_find(&decoding, "Manifest")->bytes, 4);
	}
	/* Other events of this number are nothing special. */
	run(decoder, &record, 65534, EVENT_HEADER_FLAG_CLASSIC_HEADER, &decoding);
	assert_null(decoding.schema);
	descriptor->Opcode = 0;
	run(decoder, &record, 65534, EVENT_HEADER_FLAG_64_BIT_HEADER, &decoding);
	assert_null(decoding.schema);
	etw_decoder_free(decoder);
	free(store);
}

static void test_decode__find_and_integers(void **state)
{
	struct etw_schema_store *store = make_store();
	struct etw_decoder *decoder;
	uint8_t payload[9] = {1, 2, 3, 0x84, 0xFE, 0xFF, 0xFF, 0xFF, 'x'};
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = 9};
	struct etw_decoding decoding;
	uint64_t value = 77;
	int64_t number = 77;

	(void)state;
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	run(decoder, &record, 0, EVENT_HEADER_FLAG_32_BIT_HEADER, &decoding);
	assert_true(etw_decoding_u64(&decoding, etw_decoding_find(&decoding, "pointer"), &value));
	assert_int_equal(value, 0x84030201);
	assert_true(etw_decoding_i64(&decoding, etw_decoding_find(&decoding, "value"), &number));
	assert_int_equal(number, -2);
	assert_true(etw_decoding_u64(&decoding, etw_decoding_find(&decoding, "value"), &value));
	assert_int_equal(value, UINT64_MAX - 1);
	value = 77;
	number = 77;
	assert_false(etw_decoding_u64(&decoding, etw_decoding_find(&decoding, "text"), &value));
	assert_false(etw_decoding_i64(&decoding, etw_decoding_find(&decoding, "text"), &number));
	assert_int_equal(value, 77);
	assert_int_equal(number, 77);
	assert_null(etw_decoding_find(&decoding, "Value"));

	record.UserDataLength = 5;
	run(decoder, &record, 0, EVENT_HEADER_FLAG_32_BIT_HEADER, &decoding);
	assert_int_equal(decoding.status, ETW_DECODE_TRUNCATED);
	assert_int_equal(decoding.failed_field, 1);
	assert_non_null(etw_decoding_find(&decoding, "pointer"));
	assert_null(etw_decoding_find(&decoding, "value"));
	etw_decoder_freep(&decoder);
	free(store);
}

static void test_decode__no_schema(void **state)
{
	static const struct {
		enum etw_schema_miss miss;
		const char *reason;
	} rows[] = {
		{ETW_SCHEMA_NO_PROVIDER, "no schema of this provider is known"},
		{ETW_SCHEMA_NO_EVENT,
		 "the provider's schema does not have this event id and version"},
		{ETW_SCHEMA_NO_CLASS, "no class is known for this classic event"},
		{ETW_SCHEMA_WPP, "a WPP message needs its TMF or PDB file"},
		{ETW_SCHEMA_BAD_METADATA, "the schema that comes with the event is damaged"},
		{ETW_SCHEMA_TOO_MANY, "the events bring more schemas of their own than are kept"},
		{ETW_SCHEMA_NO_MEMORY, "memory ran out while the schema was looked for"},
		{ETW_SCHEMA_STRING_ONLY, "the event has no schema"},
	};
	struct etw_schema_store *store = make_store();
	struct etw_decoder *decoder;
	EVENT_RECORD record = {.UserDataLength = 0};
	struct etw_decoding decoding;

	(void)state;
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		run(decoder, &record, MISS_ID(rows[i].miss), 0, &decoding);
		assert_int_equal(decoding.status, ETW_DECODE_NO_SCHEMA);
		assert_int_equal(decoding.miss, rows[i].miss);
		assert_string_equal(decoding.reason, rows[i].reason);
		assert_null(decoding.schema);
		assert_int_equal(decoding.item_count, 0);
		assert_int_equal(decoding.consumed, 0);
		assert_null(etw_decoding_find(&decoding, "value"));
	}
	etw_decoder_free(decoder);
	etw_decoder_free(NULL);
	free(store);
}

/* A stack of Microsoft-Windows-DotNETRuntime, whose manifest says two frames. */
static void test_decode__known_errors_are_put_right_where_asked_for(void **state)
{
	static const GUID runtime = {
		0xe13c0d23, 0xccbc, 0x4e12, {0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}};
	struct etw_schema_store *store = make_store();
	struct etw_schema *schema = &store->schemas[0];
	struct etw_field *fields = store->fields[0];
	uint8_t payload[17] = {3};
	EVENT_RECORD record = {.UserData = payload};
	struct etw_decoder *decoder;
	struct etw_decoding decoding;

	(void)state;
	fields[0] =
		(struct etw_field){.name = "FrameCount", .in_type = TDH_INTYPE_UINT32, .count = 1};
	fields[1] = (struct etw_field){.name = "Stack", .in_type = TDH_INTYPE_POINTER, .count = 2};
	schema->provider = runtime;
	schema->source = DecodingSourceXMLFile;
	schema->field_count = schema->top_count = 2;
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	for (unsigned mends = 0; mends < 2; mends++) {
		for (unsigned bytes = 12; bytes <= sizeof(payload); bytes++) {
			bool is_mended = mends && bytes == 16;

			record.UserDataLength = (USHORT)bytes;
			run(decoder, &record, 0, EVENT_HEADER_FLAG_32_BIT_HEADER, &decoding);
			assert_int_equal(decoding.status, is_mended || bytes == 12
								  ? ETW_DECODE_COMPLETE
								  : ETW_DECODE_EXTRA);
			assert_int_equal(decoding.items[1].count, is_mended ? 3 : 2);
			assert_true((decoding.schema == schema) == !is_mended);
		}
		etw_decoder_mend(decoder);
	}
	etw_decoder_free(decoder);
	free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode__many_schemas_both_pointer_sizes),
		cmocka_unit_test(test_decode__classic_event_with_pointers_of_the_other_size),
		cmocka_unit_test(test_decode__manifest_data_of_an_event_source),
		cmocka_unit_test(test_decode__find_and_integers),
		cmocka_unit_test(test_decode__no_schema),
		cmocka_unit_test(test_decode__known_errors_are_put_right_where_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
