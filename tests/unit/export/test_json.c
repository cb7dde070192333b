/* SPDX-License-Identifier: MIT */
#include "sample.h"

#define START                                                                        \
	"{\"time\":\"2011-01-23T22:06:37.4768585Z\",\"provider\":\"Maker\","         \
	"\"guid\":\"00000000-0000-0000-0000-000000000000\",\"id\":12,\"version\":0," \
	"\"level\":0,\"opcode\":9,\"task\":0,\"channel\":0,\"keywords\":\"0x0\""
#define NAMES  ",\"task_name\":\"Task\",\"opcode_name\":\"Go\""
#define WHERE  ",\"pid\":7,\"tid\":8,\"cpu\":3"
#define FINISH ",\"address\":\"4:96\"}\n"

static void test_json__complete(void **state)
{
	struct sample sample;
	uint8_t payload[] = {5, 'h', '"'};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "n", TDH_INTYPE_UINT8, 0, 1);
	sample_add(&sample, "s", TDH_INTYPE_ANSISTRING, 1, 2);
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE
		      ",\"fields\":{\"n\":5,\"s\":\"h\\\"\"},\"status\":\"complete\"" FINISH);
}

/* A schema without fields: the decoder has no item, and its array none either. */
static void test_json__without_any_item(void **state)
{
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.decoding.items = NULL;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{},\"status\":\"complete\"" FINISH);
}

static void test_json__names_that_occur_twice(void **state)
{
	struct sample sample;
	uint8_t payload[] = {1, 2, 3, 4};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	for (uint32_t i = 0; i < 4; i++)
		sample_add(&sample, i == 2 ? "other" : "same", TDH_INTYPE_UINT8, i, 1);
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{\"same\":1,\"same#2\":2,\"other\":3,"
					"\"same#3\":4},\"status\":\"complete\"" FINISH);
}

static void test_json__members_that_occur_twice(void **state)
{
	struct sample sample;
	uint8_t payload[] = {1, 2};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "point", TDH_INTYPE_NULL, 0, 2);
	sample_add(&sample, "x", TDH_INTYPE_UINT8, 0, 1);
	sample_add(&sample, "x", TDH_INTYPE_UINT8, 1, 1);
	sample.items[0].kind = ETW_ITEM_STRUCT;
	sample.items[0].end = 3;
	sample.fields[0].flags = PropertyStruct;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{\"point\":{\"x\":1,\"x#2\":2}},"
					"\"status\":\"complete\"" FINISH);
}

static void test_json__integers_at_their_edges(void **state)
{
	struct sample sample;
	/* -128, 65535, -2147483648, and what a double holds no more. */
	uint8_t payload[] = {0x80, 0xFF, 0xFF, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, 0x20, 0};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "a", TDH_INTYPE_INT8, 0, 1);
	sample_add(&sample, "b", TDH_INTYPE_UINT16, 1, 2);
	sample_add(&sample, "c", TDH_INTYPE_INT32, 3, 4);
	sample_add(&sample, "d", TDH_INTYPE_UINT64, 7, 8);
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE
		      ",\"fields\":{\"a\":-128,\"b\":65535,\"c\":-2147483648,"
		      "\"d\":\"9007199254740993\"},\"status\":\"complete\"" FINISH);
	sample.fields[3].in_type = TDH_INTYPE_INT64;
	payload[14] = 0x80;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{\"a\":-128,\"b\":65535,\"c\":-2147483648,"
					"\"d\":\"-9214364837600034815\"},"
					"\"status\":\"complete\"" FINISH);
	sample.fields[3].in_type = TDH_INTYPE_HEXINT64;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{\"a\":-128,\"b\":65535,\"c\":-2147483648,"
					"\"d\":\"0x8020000000000001\"},"
					"\"status\":\"complete\"" FINISH);
}

static void test_json__array_of_integers(void **state)
{
	struct sample sample;
	uint8_t payload[] = {7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x20, 0};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "a", TDH_INTYPE_UINT64, 0, 16);
	sample.fields[0].count = 2;
	sample.items[0].kind = ETW_ITEM_ARRAY;
	sample.items[0].count = 2;
	sample.items[0].end = 3;
	sample.items[1] = (struct etw_item){.depth = 1, .end = 2, .bytes = 8};
	sample.items[2] =
		(struct etw_item){.depth = 1, .index = 1, .end = 3, .offset = 8, .bytes = 8};
	sample.decoding.item_count = 3;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{\"a\":[7,\"9007199254740993\"]},"
					"\"status\":\"complete\"" FINISH);
}

static void test_json__memory_tells_kinds_and_seconds_apart(void **state)
{
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	assert_int_equal(etw_export_cache_create(&sample.event.cache), 0);
	for (unsigned i = 0; i < 4000; i++) {
		struct etw_export_event fresh = sample.event;
		struct etw_text with = {0}, without = {0};

		/* More kinds than are remembered; each comes twice. */
		sample.record.EventHeader.EventDescriptor.Id = (USHORT)(i / 2);
		sample.record.EventHeader.EventDescriptor.Level = (UCHAR)(i & 2);
		sample.record.EventHeader.TimeStamp.QuadPart += 4000001;
		fresh.cache = NULL;
		etw_export_json.event(&sample.event, &with);
		etw_export_json.event(&fresh, &without);
		assert_string_equal(etw_text_string(&with), etw_text_string(&without));
		etw_text_done(&with);
		etw_text_done(&without);
	}
	etw_export_cache_free(sample.event.cache);
}

#define MANY 3000

/* Fields of three names in turn; every object of an array has them all. */
static void test_json__many_names_that_occur_often(void **state)
{
	static const char *const names[] = {"a", "b", "name of some length"};
	static struct etw_field fields[MANY];
	static struct etw_item items[MANY];
	static uint8_t payload[MANY];
	struct sample sample;
	struct etw_text expected = {0};

	(void)state;
	sample_init(&sample, payload, MANY);
	etw_text_puts(&expected, START NAMES WHERE ",\"fields\":{");
	for (uint32_t i = 0; i < MANY; i++) {
		fields[i] = (struct etw_field){
			.name = names[i % 3], .in_type = TDH_INTYPE_UINT8, .count = 1};
		items[i] = (struct etw_item){
			.field = (uint16_t)i, .end = i + 1, .offset = i, .bytes = 1};
		payload[i] = (uint8_t)i;
		etw_text_printf(&expected, i < 3 ? "%s\"%s" : "%s\"%s#%u", i ? "," : "",
				names[i % 3], i / 3 + 1);
		etw_text_printf(&expected, "\":%u", payload[i]);
	}
	etw_text_puts(&expected, "},\"status\":\"complete\"" FINISH);
	sample.schema.fields = fields;
	sample.schema.field_count = sample.schema.top_count = MANY;
	sample.decoding.items = items;
	sample.decoding.item_count = sample.decoding.consumed = MANY;
	sample_expect(&sample, &etw_export_json, etw_text_string(&expected));
	etw_text_done(&expected);
}

/* A trace may describe a map behind the first events that need it. */
static void test_json__a_map_that_arrives_later(void **state)
{
	static const struct etw_map_entry entry = {5, "five"};
	static const struct etw_map map = {"M", EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, 1, &entry};
	struct sample sample;
	uint8_t payload[] = {5, 5};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "n", TDH_INTYPE_UINT8, 0, 1);
	sample_add(&sample, "list", TDH_INTYPE_UINT8, 1, 1);
	sample.fields[0].map_name = sample.fields[1].map_name = "M";
	sample.fields[1].flags = PropertyParamFixedCount;
	sample.items[1].kind = ETW_ITEM_ARRAY;
	sample.items[1].count = 1;
	sample.items[1].end = 3;
	sample.items[2] =
		(struct etw_item){.field = 1, .depth = 1, .end = 3, .offset = 1, .bytes = 1};
	sample.decoding.item_count = 3;
	assert_int_equal(etw_export_cache_create(&sample.event.cache), 0);
	sample_expect_once(&sample.event, &etw_export_json,
			   START NAMES WHERE
			   ",\"fields\":{\"n\":5,\"list\":[5]},\"status\":\"complete\"" FINISH);
	sample.fields[0].map = sample.fields[1].map = &map;
	sample_expect_once(&sample.event, &etw_export_json,
			   START NAMES WHERE ",\"fields\":{\"n\":\"five\",\"list\":[\"five\"]},"
					     "\"status\":\"complete\"" FINISH);
	etw_export_cache_free(sample.event.cache);
}

static void test_json__message_of_a_manifest(void **state)
{
	struct sample sample;
	char payload[] = "GET\0\033[2J";

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "verb", TDH_INTYPE_ANSISTRING, 0, 3);
	sample_add(&sample, "url", TDH_INTYPE_ANSISTRING, 4, 4);
	sample.schema.message = "100%% %1 of \"%2\"%nand %7";
	sample_expect(
		&sample, &etw_export_json,
		START NAMES WHERE
		",\"message\":\"100% GET of \\\"\\u001b[2J\\\"\\nand %7\",\"fields\":{\"verb\":"
		"\"GET\",\"url\":\"\\u001b[2J\"},\"status\":\"complete\"" FINISH);
	sample.schema.message = "";
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE ",\"fields\":{\"verb\":\"GET\",\"url\":\"\\u001b[2J\"},"
					"\"status\":\"complete\"" FINISH);
}

/* Sixty-four times a value of 60,000 bytes: a line stays a line. */
static void test_json__a_message_has_a_limit(void **state)
{
	static char payload[60001];
	struct sample sample;
	struct etw_text text = {0};
	char message[2 * 64 + 1] = "";

	(void)state;
	memset(payload, 'a', sizeof(payload) - 1);
	for (size_t i = 0; i < 64; i++)
		memcpy(message + 2 * i, "%1", 2);
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "text", TDH_INTYPE_ANSISTRING, 0, sizeof(payload) - 1);
	sample.schema.message = message;
	etw_export_json.event(&sample.event, &text);
	assert_true(text.bytes > sizeof(payload) && text.bytes < sizeof(payload) + 20000);
	etw_text_done(&text);
}

static void test_json__not_decoded_carries_the_payload(void **state)
{
	struct sample sample;
	uint8_t payload[] = {0xDE, 0xAD};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample.decoding = (struct etw_decoding){
		.record = &sample.record, .status = ETW_DECODE_NO_SCHEMA, .reason = "nobody knows"};
	sample_expect(&sample, &etw_export_json,
		      START WHERE ",\"status\":\"no-schema\",\"reason\":\"nobody knows\","
				  "\"decoded_bytes\":0,\"payload\":\"dead\"" FINISH);
	sample.event.decoding = NULL;
	sample_expect(&sample, &etw_export_json,
		      START WHERE ",\"status\":\"not-decoded\",\"payload\":\"dead\"" FINISH);
}

static void test_json__guesses_are_marked(void **state)
{
	struct sample sample;
	uint8_t payload[] = {5, 0, 0, 0, 'h', '"', 'i', 0};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "n", TDH_INTYPE_UINT32, 0, 4);
	sample.decoding.status = ETW_DECODE_EXTRA;
	sample.event.flags = ETW_EXPORT_GUESS;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE
		      ",\"fields\":{\"n\":5},\"status\":\"extra\",\"decoded_bytes\":4,"
		      "\"payload\":\"0500000068226900\",\"guess\":[{\"offset\":4,"
		      "\"as\":\"string\",\"value\":\"h\\\"i\"}]" FINISH);
}

static void test_json__extended_items(void **state)
{
	struct sample sample;
	uint64_t stack[] = {0x10, 0xFFFFF80012345678, 0x1};
	uint32_t session = 2;
	uint8_t odd[] = {1, 2, 3};
	EVENT_HEADER_EXTENDED_DATA_ITEM items[] = {
		{.ExtType = EVENT_HEADER_EXT_TYPE_STACK_TRACE64,
		 .DataSize = sizeof(stack),
		 .DataPtr = (uintptr_t)stack},
		{.ExtType = EVENT_HEADER_EXT_TYPE_TS_ID,
		 .DataSize = sizeof(session),
		 .DataPtr = (uintptr_t)&session},
		{.ExtType = EVENT_HEADER_EXT_TYPE_TS_ID,
		 .DataSize = sizeof(odd),
		 .DataPtr = (uintptr_t)odd},
		{.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_KEY,
		 .DataSize = sizeof(odd),
		 .DataPtr = (uintptr_t)odd},
	};

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.record.ExtendedData = items;
	sample.record.ExtendedDataCount = 4;
	sample_expect(&sample, &etw_export_json,
		      START NAMES WHERE
		      ",\"stack_match_id\":\"0x10\",\"stack\":[\"0xfffff80012345678\",\"0x1\"]"
		      ",\"terminal_session\":2,\"item_3#2\":\"010203\",\"item_10\":\"010203\""
		      ",\"fields\":{},\"status\":\"complete\"" FINISH);
}

static void test_json__many_extended_items(void **state)
{
	static EVENT_HEADER_EXTENDED_DATA_ITEM items[40];
	struct etw_text expected = {0};
	struct sample sample;
	uint8_t byte = 7;

	(void)state;
	sample_init(&sample, NULL, 0);
	etw_text_puts(&expected, START NAMES WHERE);
	for (unsigned i = 0; i < 40; i++) {
		items[i] = (EVENT_HEADER_EXTENDED_DATA_ITEM){.ExtType = i % 2 ? 0xFFFF : 100,
							     .DataSize = 1,
							     .DataPtr = (uintptr_t)&byte};
		etw_text_printf(&expected, i < 2 ? ",\"item_%u" : ",\"item_%u#%u", items[i].ExtType,
				i / 2 + 1);
		etw_text_puts(&expected, "\":\"07\"");
	}
	etw_text_puts(&expected, ",\"fields\":{},\"status\":\"complete\"" FINISH);
	sample.record.ExtendedData = items;
	sample.record.ExtendedDataCount = 40;
	sample_expect(&sample, &etw_export_json, etw_text_string(&expected));
	etw_text_done(&expected);
}

static void test_json__synthesised_loss(void **state)
{
	struct sample sample;
	struct etw_text text = {0};

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.event.address.offset = UINT32_MAX;
	etw_export_json.event(&sample.event, &text);
	assert_non_null(
		strstr(etw_text_string(&text), ",\"synthesised\":true,\"address\":\"4:loss\"}\n"));
	etw_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json__complete),
		cmocka_unit_test(test_json__without_any_item),
		cmocka_unit_test(test_json__names_that_occur_twice),
		cmocka_unit_test(test_json__members_that_occur_twice),
		cmocka_unit_test(test_json__integers_at_their_edges),
		cmocka_unit_test(test_json__array_of_integers),
		cmocka_unit_test(test_json__memory_tells_kinds_and_seconds_apart),
		cmocka_unit_test(test_json__many_names_that_occur_often),
		cmocka_unit_test(test_json__a_map_that_arrives_later),
		cmocka_unit_test(test_json__message_of_a_manifest),
		cmocka_unit_test(test_json__a_message_has_a_limit),
		cmocka_unit_test(test_json__not_decoded_carries_the_payload),
		cmocka_unit_test(test_json__guesses_are_marked),
		cmocka_unit_test(test_json__extended_items),
		cmocka_unit_test(test_json__many_extended_items),
		cmocka_unit_test(test_json__synthesised_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
