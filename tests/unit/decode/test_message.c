/* SPDX-License-Identifier: MIT */
/* Messages: inserts, their formats, escapes, and inserts that have no value. */
#include "sample.h"

#include "decode/format.h"
#include "decode/format_message.h"

static const struct etw_map_entry entries[] = {{7, "Seven"}};
static const struct etw_map map = {"map", EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, 1, entries};

/* "abc", 42, -5, 0xBEEF, 7 = "Seven", "é", {9}, 3.14159, 'A', 200, 0x1F of a pointer, 2^64 - 1 */
static const struct etw_field fields[] = {
	{.name = "text", .in_type = TDH_INTYPE_ANSISTRING, .count = 1},
	{.name = "number", .in_type = TDH_INTYPE_UINT8, .count = 1},
	{.name = "negative", .in_type = TDH_INTYPE_INT32, .count = 1},
	{.name = "hex", .in_type = TDH_INTYPE_HEXINT32, .count = 1},
	{.name = "mapped", .in_type = TDH_INTYPE_UINT8, .map = &map, .count = 1},
	{.name = "accent", .in_type = TDH_INTYPE_ANSISTRING, .count = 1},
	{.name = "list", .in_type = TDH_INTYPE_UINT8, .count = 1, .flags = PropertyParamFixedCount},
	{.name = "float", .in_type = TDH_INTYPE_DOUBLE, .count = 1},
	{.name = "character", .in_type = TDH_INTYPE_ANSICHAR, .count = 1},
	{.name = "byte", .in_type = TDH_INTYPE_UINT8, .count = 1},
	{.name = "pointer", .in_type = TDH_INTYPE_POINTER, .count = 1},
	{.name = "most", .in_type = TDH_INTYPE_UINT64, .count = 1},
};
static const char payload[] = "abc\0"
			      "\x2A"
			      "\xFB\xFF\xFF\xFF"
			      "\xEF\xBE\0\0"
			      "\x07"
			      "\xC3\xA9\0"
			      "\x09"
			      "\x6E\x86\x1B\xF0\xF9\x21\x09\x40"
			      "A"
			      "\xC8"
			      "\x1F\0\0\0\0\0\0\0"
			      "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF";

static const struct {
	const char *message;
	const char *text;
} rows[] = {
	{"plain", "plain"},
	{"%1 %2 %3 %4 %5 %6 %7", "abc 42 -5 0xBEEF Seven \xC3\xA9 [9]"},
	{"%1%2", "abc42"},
	{"[%1!s!]", "[abc]"},
	{"[%1!S!][%1!ls!][%1!hs!]", "[abc][abc][abc]"},
	{"[%1!5s!][%1!-5s!][%1!05s!]", "[  abc][abc  ][  abc]"},
	{"[%1!.2s!][%1!5.1s!][%1!.0s!]", "[ab][    a][]"},
	{"[%6!3s!][%6!.1s!]", "[  \xC3\xA9][\xC3\xA9]"},
	{"[%2!d!][%2!5d!][%2!05d!][%2!-5d!]", "[42][   42][00042][42   ]"},
	{"[%2!u!][%3!d!][%3!i!][%3!06d!][%3!u!]", "[42][-5][-5][-00005][4294967291]"},
	{"[%3!x!][%3!X!][%2!#x!][%2!08X!]", "[fffffffb][FFFFFFFB][0x2a][0000002A]"},
	{"[%2!I64u!][%2!lu!][%2!ld!]", "[42][42][42]"},
	{"[%1!d!]", "[abc]"},
	{"[%5!s!][%5!d!]", "[Seven][7]"},
	{"[%2!f!]", "[42]"},
	{"[%2!.8X!][%2!#010x!][%2!#X!][%2!o!][%2!.3d!]", "[0000002A][0x0000002a][0X2A][52][042]"},
	{"[%3!.3d!][%3!hu!][%2!+d!][%2!8.4d!]", "[-005][65531][+42][    0042]"},
	{"[%10!d!][%12!u!][%12!x!]", "[200][18446744073709551615][ffffffffffffffff]"},
	{"[%8!.2f!][%8!8.3f!][%8!08.3f!][%8!g!]", "[3.14][   3.142][0003.142][3.14159]"},
	{"[%8!d!][%8!.2d!][%8!s!][%8!.4s!]", "[3.14159][3.14159][3.14159][3.14]"},
	{"[%1!.2d!][%1!.2f!][%1!05d!][%1!05f!]", "[abc][abc][  abc][  abc]"},
	{"[%9!c!][%9!3c!][%9!d!][%9!s!]", "[A][  A][65][A]"},
	{"[%11!p!][%11!x!][%11!s!]", "[000000000000001F][1f][0x1F]"},
	{"%1!", "abc!"},
	{"%1!5", "abc!5"},
	{"%1! and %2!", "abc! and 42!"},
	{"%1%!", "abc!"},
	{"%13 %99", "%13 %99"},
	{"%13!5s! x", "%13!5s! x"},
	{"%010", ""},
	{"a%0b", "a"},
	{"a%nb%rc%td%be", "a\nb\rc\td e"},
	{"100%% %. %! % x", "100% . !  x"},
	{"%q", "q"},
	{"end%", "end%"},
	{"%%1", "%1"},
	{"", NULL},
	{NULL, NULL},
};

static void check(const struct etw_decoding *decoding, const char *expect)
{
	struct etw_text text;

	etw_text_init(&text);
	assert_true(etw_format_message(decoding, &text) == (expect != NULL));
	assert_string_equal(etw_text_string(&text), expect ? expect : "");
	etw_text_done(&text);
}

static void test_message__inserts_and_escapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_schema schema = SCHEMA(fields, ARRAY_SIZE(fields));
		struct sample sample;

		schema.message = rows[i].message;
		sample_run(&sample, &schema, 8, payload, sizeof(payload) - 1);
		assert_int_equal(sample.decoding.status, ETW_DECODE_COMPLETE);
		check(&sample.decoding, rows[i].text);
		sample_done(&sample);
	}
}

static void test_message__truncated_event(void **state)
{
	struct etw_schema schema = SCHEMA(fields, ARRAY_SIZE(fields));
	struct sample sample;

	(void)state;
	schema.message = "%1 %2 %3";
	sample_run(&sample, &schema, 8, payload, 5);
	assert_int_equal(sample.decoding.status, ETW_DECODE_TRUNCATED);
	check(&sample.decoding, "abc 42 %3");
	sample_done(&sample);
}

static void test_message__no_schema(void **state)
{
	struct etw_decoding decoding = {.status = ETW_DECODE_NO_SCHEMA};

	(void)state;
	check(&decoding, NULL);
}

/* A width beyond all reason is cut, so that a message cannot fill memory. */
static void test_message__huge_width(void **state)
{
	struct etw_schema schema = SCHEMA(fields, ARRAY_SIZE(fields));
	struct sample sample;
	struct etw_text text;

	(void)state;
	schema.message = "%1!99999999999999999999s!";
	sample_run(&sample, &schema, 8, payload, sizeof(payload) - 1);
	etw_text_init(&text);
	assert_true(etw_format_message(&sample.decoding, &text));
	assert_int_equal(text.bytes, 1024);
	etw_text_done(&text);
	sample_done(&sample);
}

static void check_cut(const char *character, size_t expect_bytes)
{
	struct etw_schema schema = SCHEMA(fields, 1);
	struct sample sample;
	struct etw_text text;
	char message[2 * 64 + 1] = "";
	static char long_payload[60001];
	const size_t step = strlen(character);

	for (size_t i = 0; i < sizeof(long_payload) - 1; i += step)
		memcpy(long_payload + i, character, step);
	for (size_t i = 0; i < 64; i++)
		memcpy(message + 2 * i, "%1", 2);
	schema.message = message;
	sample_run(&sample, &schema, 8, long_payload, sizeof(long_payload));
	etw_text_init(&text);
	etw_text_puts(&text, "before ");
	assert_true(etw_format_message(&sample.decoding, &text));
	assert_int_equal(text.bytes, strlen("before ") + expect_bytes);
	assert_memory_equal(text.at, "before ", strlen("before "));
	assert_string_equal(text.at + text.bytes - 3, "...");
	assert_memory_equal(text.at + text.bytes - 3 - step, character, step);
	etw_text_done(&text);
	sample_done(&sample);
}

/* 64 times a value of 60,000 bytes. */
static void test_message__is_cut_at_its_limit(void **state)
{
	(void)state;
	check_cut("a", ETW_FORMAT_MESSAGE_BYTES_MAX);
	check_cut("\xC3\xA9", ETW_FORMAT_MESSAGE_BYTES_MAX - 1);
}

/* What a precision cuts away has been written before: 30 values of 60,000 bytes are more than is allowed. */
static void test_message__counts_what_precisions_cut(void **state)
{
	struct etw_schema schema = SCHEMA(fields, 1);
	static char long_payload[60001];
	static const char insert[] = "%1!.1s!";
	char message[30 * sizeof(insert)] = "";
	struct sample sample;
	struct etw_text text;

	(void)state;
	memset(long_payload, 'a', sizeof(long_payload) - 1);
	for (size_t i = 0; i < 30; i++)
		memcpy(message + i * strlen(insert), insert, sizeof(insert));
	schema.message = message;
	sample_run(&sample, &schema, 8, long_payload, sizeof(long_payload));
	etw_text_init(&text);
	assert_true(etw_format_message(&sample.decoding, &text));
	assert_string_equal(etw_text_string(&text), "aaaaaaaaaaaaaaaaaa...");
	message[17 * strlen(insert)] = 0;
	etw_text_clear(&text);
	assert_true(etw_format_message(&sample.decoding, &text));
	assert_string_equal(etw_text_string(&text), "aaaaaaaaaaaaaaaaa");
	etw_text_done(&text);
	sample_done(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message__inserts_and_escapes),
		cmocka_unit_test(test_message__truncated_event),
		cmocka_unit_test(test_message__no_schema),
		cmocka_unit_test(test_message__huge_width),
		cmocka_unit_test(test_message__is_cut_at_its_limit),
		cmocka_unit_test(test_message__counts_what_precisions_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
