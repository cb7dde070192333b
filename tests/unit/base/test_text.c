/* SPDX-License-Identifier: MIT */
/* The growing text: numbers at their edges, UTF-16 and ANSI, JSON strings, memory that runs out. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/text.h"

static void expect(struct etw_text *text, const char *string)
{
	assert_string_equal(etw_text_string(text), string);
	assert_int_equal(text->bytes, strlen(string));
	assert_int_equal(etw_text_error(text), 0);
	etw_text_clear(text);
}

static void test_text__append(void **state)
{
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	assert_string_equal(etw_text_string(&text), "");
	etw_text_append(&text, NULL, 0);
	expect(&text, "");
	etw_text_puts(&text, "a");
	etw_text_putc(&text, 'b');
	etw_text_append(&text, "cde", 2);
	etw_text_printf(&text, "%d%s", 7, "x");
	expect(&text, "abcd7x");
	etw_text_done(&text);
	assert_null(text.at);
	etw_text_done(&text);
	etw_text_done(NULL);
}

/* Every length around the doublings, by each way to append. */
static void test_text__growth(void **state)
{
	char long_string[600];

	(void)state;
	memset(long_string, 'x', sizeof(long_string));
	for (size_t length = 0; length < sizeof(long_string); length++) {
		struct etw_text text;

		etw_text_init(&text);
		for (size_t i = 0; i < length; i++)
			etw_text_putc(&text, 'x');
		assert_int_equal(strlen(etw_text_string(&text)), length);
		etw_text_append(&text, long_string, length);
		etw_text_printf(&text, "%.*s", (int)length, long_string);
		assert_int_equal(text.bytes, 3 * length);
		assert_int_equal(strlen(etw_text_string(&text)), 3 * length);
		etw_text_done(&text);
	}
}

static void test_text__begin_and_end(void **state)
{
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	for (unsigned i = 0; i < 1000; i++) {
		char *to = etw_text_begin(&text, 3);

		assert_non_null(to);
		memcpy(to, "abc", 3);
		etw_text_end(&text, to + 2);
	}
	assert_int_equal(text.bytes, 2000);
	assert_int_equal(strlen(text.at), 2000);
	etw_text_done(&text);
}

static void test_text__integers(void **state)
{
	char reference[32];
	struct etw_text text;
	uint64_t power = 1;

	(void)state;
	etw_text_init(&text);
	for (unsigned digits = 1; digits <= 20; digits++) {
		const uint64_t values[] = {power - 1, power, power + 1, power * 9, UINT64_MAX};

		for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
			etw_text_unsigned(&text, values[i]);
			(void)snprintf(reference, sizeof(reference), "%" PRIu64, values[i]);
			expect(&text, reference);
			etw_text_signed(&text, (int64_t)values[i]);
			(void)snprintf(reference, sizeof(reference), "%" PRId64,
				       (int64_t)values[i]);
			expect(&text, reference);
			etw_text_signed(&text, (int64_t)-values[i]);
			(void)snprintf(reference, sizeof(reference), "%" PRId64,
				       (int64_t)-values[i]);
			expect(&text, reference);
		}
		power *= 10;
	}
	etw_text_signed(&text, INT64_MIN);
	expect(&text, "-9223372036854775808");
	for (unsigned shift = 0; shift < 64; shift++) {
		const uint64_t values[] = {UINT64_C(1) << shift, (UINT64_C(1) << shift) - 1};

		for (unsigned i = 0; i < 2; i++) {
			etw_text_hex(&text, values[i]);
			(void)snprintf(reference, sizeof(reference), "%" PRIX64, values[i]);
			expect(&text, reference);
		}
	}
	etw_text_hex(&text, UINT64_MAX);
	expect(&text, "FFFFFFFFFFFFFFFF");
	etw_text_done(&text);
}

/* UTF-16 units, their UTF-8, and the JSON string when it is not the same within quotes. */
static const struct {
	uint16_t units[12];
	size_t count;
	const char *text;
	const char *json;
} utf16_rows[] = {
	{{0}, 0, "", NULL},
	{{'a'}, 1, "a", NULL},
	{{'a', 'b', 'c', 'd'}, 4, "abcd", NULL},
	{{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'}, 9, "abcdefghi", NULL},
	{{0x7E}, 1, "\x7E", NULL},
	{{0x80}, 1, "\xC2\x80", "\"\\u0080\""},
	{{'a', 0x9B, 0xA0}, 3, "a\xC2\x9B\xC2\xA0", "\"a\\u009b\xC2\xA0\""},
	{{0x202E, 0x202F}, 2, "\xE2\x80\xAE\xE2\x80\xAF", "\"\\u202e\xE2\x80\xAF\""},
	{{0x7FF, 0x800}, 2, "\xDF\xBF\xE0\xA0\x80", NULL},
	{{'a', 'b', 'c', 0x20AC}, 4, "abc\xE2\x82\xAC", NULL},
	{{0x20AC, 'b', 'c', 'd', 'e'},
	 5,
	 "\xE2\x82\xAC"
	 "bcde",
	 NULL},
	{{0x100, 0x4100}, 2, "\xC4\x80\xE4\x84\x80", NULL},
	{{0xFFFF}, 1, "\xEF\xBF\xBF", NULL},
	{{0xD83D, 0xDE00}, 2, "\xF0\x9F\x98\x80", NULL},
	{{'a', 'b', 'c', 0xD83D, 0xDE00, 'd'},
	 6,
	 "abc\xF0\x9F\x98\x80"
	 "d",
	 NULL},
	{{0xDBFF, 0xDFFF}, 2, "\xF4\x8F\xBF\xBF", NULL},
	{{0xD800}, 1, "\xEF\xBF\xBD", NULL},
	{{0xDC00, 'a'},
	 2,
	 "\xEF\xBF\xBD"
	 "a",
	 NULL},
	{{0xD800, 'a', 'b', 'c'},
	 4,
	 "\xEF\xBF\xBD"
	 "abc",
	 NULL},
	{{0xD800, 0xD800, 0xDC00}, 3, "\xEF\xBF\xBD\xF0\x90\x80\x80", NULL},
	{{'"', '\\', '\n', '\r', '\t', 0x1F, 0x7F},
	 7,
	 "\"\\\n\r\t\x1F\x7F",
	 "\"\\\"\\\\\\n\\r\\t\\u001f\\u007f\""},
	{{'a', 'b', 'c', '"', 'd', 'e', 'f', 'g'}, 8, "abc\"defg", "\"abc\\\"defg\""},
};

static void test_text__utf16(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(utf16_rows); i++) {
		size_t count = utf16_rows[i].count;
		uint8_t *raw = malloc(2 * count + 1);
		char quoted[64];
		struct etw_text text;

		/* One byte before the units, so that they are not aligned. */
		assert_non_null(raw);
		for (size_t k = 0; k < count; k++)
			etw_store16(raw + 1 + 2 * k, utf16_rows[i].units[k]);
		etw_text_init(&text);
		etw_text_utf16(&text, raw + 1, count);
		expect(&text, utf16_rows[i].text);
		etw_text_json_utf16(&text, raw + 1, count);
		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", utf16_rows[i].text);
		expect(&text, utf16_rows[i].json ? utf16_rows[i].json : quoted);
		etw_text_done(&text);
		free(raw);
	}
}

static void test_text__ansi(void **state)
{
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	etw_text_ansi(&text, (const uint8_t *)"plain", 5);
	expect(&text, "plain");
	etw_text_ansi(&text, NULL, 0);
	expect(&text, "");
	etw_text_ansi(&text, (const uint8_t *)"caf\xC3\xA9", 5);
	expect(&text, "caf\xC3\xA9");
	etw_text_ansi(&text, (const uint8_t *)"caf\xE9 \x80\x9F\x81\"", 9);
	expect(&text, "caf\xC3\xA9 \xE2\x82\xAC\xC5\xB8\xC2\x81\"");
	etw_text_json_ansi(&text, (const uint8_t *)"caf\xE9\"", 5);
	expect(&text, "\"caf\xC3\xA9\\\"\"");
	etw_text_json_ansi(&text, (const uint8_t *)"\x81\xE9", 2);
	expect(&text, "\"\\u0081\xC3\xA9\"");
	etw_text_json_ansi(&text, (const uint8_t *)"caf\xC3\xA9\n", 6);
	expect(&text, "\"caf\xC3\xA9\\n\"");
	etw_text_done(&text);
}

/* Every byte at every place of a word: what needs an escape gets one, nothing else does. */
static void test_text__json_string(void **state)
{
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	for (unsigned c = 1; c < 0x80; c++) {
		for (size_t place = 0; place < 19; place++) {
			char string[20] = "abcdefghijklmnopqrs";
			char escape[8] = {(char)c};
			char expected[40];

			string[place] = (char)c;
			if (c < 0x20 || c == 0x7F)
				(void)snprintf(escape, sizeof(escape), "\\u%04x", c);
			if (strchr("\"\\", (int)c))
				(void)snprintf(escape, sizeof(escape), "\\%c", (int)c);
			if (strchr("\n\r\t", (int)c))
				(void)snprintf(escape, sizeof(escape), "\\%c",
					       c == '\n'   ? 'n'
					       : c == '\r' ? 'r'
							   : 't');
			(void)snprintf(expected, sizeof(expected), "\"%.*s%s%s\"", (int)place,
				       "abcdefghijklmnopqrs", escape, string + place + 1);
			etw_text_json_string(&text, string, 19);
			expect(&text, expected);
		}
	}
	etw_text_json_string(&text, "", 0);
	expect(&text, "\"\"");
	etw_text_json_string(&text, "a\0b", 3);
	expect(&text, "\"a\\u0000b\"");
	etw_text_json_string(&text, "C:\\caf\xC3\xA9\\\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\"\xFF",
			     20);
	expect(&text, "\"C:\\\\caf\xC3\xA9\\\\\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\\\"\xFF\"");
	etw_text_json_string(&text, "\xE2\x82\xAC\xF0\x9F\x98\x80 \xA2\xDC\xFF", 11);
	expect(&text, "\"\xE2\x82\xAC\xF0\x9F\x98\x80 \xA2\xDC\xFF\"");
	etw_text_done(&text);
}

/* What is escaped in place is what a quoted string holds, behind what was there before. */
/* What would move a terminal's cursor or turn the direction of writing, wherever it stands. */
static void test_text__json_harmful(void **state)
{
	static const char *const rows[][2] = {
		{"\xC2\x9B"
		 "31m",
		 "\"\\u009b31m\""},
		{"\xC2\xA0\xC2\xA9", "\"\xC2\xA0\xC2\xA9\""},
		{"\xE2\x80\xAE"
		 "txt",
		 "\"\\u202etxt\""},
		{"\xE2\x81\xA6\xE2\x81\xA9", "\"\\u2066\\u2069\""},
		{"\xE2\x82\xAC", "\"\xE2\x82\xAC\""},
		{"a long name with \xE2\x80\x8F in its midst",
		 "\"a long name with \\u200f in its midst\""},
		/* Cut off, or not of UTF-8: bytes stay what they are. */
		{"\xC2", "\"\xC2\""},
		{"\xE2\x80", "\"\xE2\x80\""},
		{"\x9B\x80", "\"\x9B\x80\""},
	};
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		etw_text_json_string(&text, rows[i][0], strlen(rows[i][0]));
		expect(&text, rows[i][1]);
		etw_text_append(&text, "\"", 1);
		etw_text_append(&text, rows[i][0], strlen(rows[i][0]));
		etw_text_json_escape(&text, 1);
		etw_text_append(&text, "\"", 1);
		expect(&text, rows[i][1]);
	}
	etw_text_done(&text);
}

static void test_text__json_escape(void **state)
{
	char string[50];
	struct etw_text text, quoted;

	(void)state;
	etw_text_init(&text);
	etw_text_init(&quoted);
	for (size_t bytes = 0; bytes <= sizeof(string); bytes++) {
		/* Escapes everywhere, at the end, in the middle, nowhere. */
		for (size_t first = 0; first <= bytes; first += 1 + bytes / 7) {
			memset(string, 'a', sizeof(string));
			memset(string + first, '\x01', bytes - first);
			if (first && first < bytes)
				string[bytes - 1] = 'z';
			etw_text_clear(&text);
			etw_text_clear(&quoted);
			etw_text_puts(&text, "\"\"\n");
			etw_text_append(&text, string, bytes);
			etw_text_json_escape(&text, 3);
			etw_text_json_string(&quoted, string, bytes);
			assert_int_equal(text.bytes - 3, quoted.bytes - 2);
			assert_memory_equal(text.at, "\"\"\n", 3);
			assert_memory_equal(text.at + 3, quoted.at + 1, quoted.bytes - 2);
			assert_int_equal(text.at[text.bytes], '\0');
		}
	}
	etw_text_done(&text);
	etw_text_json_escape(&text, 0);
	expect(&text, "");
	etw_text_done(&quoted);
	etw_text_done(&text);
}

/* A text that lost an append keeps what it had and says so until it is cleared. */
static void test_text__out_of_memory(void **state)
{
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	etw_text_puts(&text, "kept");
	assert_int_equal(etw_text_reserve(&text, SIZE_MAX), -ENOMEM);
	assert_int_equal(etw_text_reserve(&text, 1), -ENOMEM);
	assert_null(etw_text_begin(&text, 1));
	etw_text_puts(&text, "lost");
	etw_text_putc(&text, 'x');
	etw_text_unsigned(&text, 1);
	etw_text_signed(&text, -1);
	etw_text_hex(&text, 1);
	etw_text_printf(&text, "%d", 1);
	etw_text_json_string(&text, "x", 1);
	etw_text_utf16(&text, (const uint8_t *)"x", 1);
	assert_int_equal(etw_text_error(&text), -ENOMEM);
	assert_string_equal(etw_text_string(&text), "kept");
	etw_text_clear(&text);
	etw_text_puts(&text, "again");
	expect(&text, "again");
	etw_text_done(&text);

	etw_text_init(&text);
	assert_int_equal(etw_text_reserve(&text, SIZE_MAX - 1), -ENOMEM);
	assert_string_equal(etw_text_string(&text), "");
	etw_text_done(&text);
}

static void test_text__sizes_that_overflow(void **state)
{
	struct etw_text text;
	uint8_t byte = 'x';

	(void)state;
	etw_text_init(&text);
	etw_text_utf16(&text, &byte, SIZE_MAX / 2);
	assert_int_equal(etw_text_error(&text), -ENOMEM);
	etw_text_clear(&text);
	etw_text_json_utf16(&text, &byte, SIZE_MAX / 2);
	assert_int_equal(etw_text_error(&text), -ENOMEM);
	etw_text_clear(&text);
	etw_text_json_string(&text, "x", SIZE_MAX / 2);
	assert_int_equal(etw_text_error(&text), -ENOMEM);
	etw_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text__append),
		cmocka_unit_test(test_text__growth),
		cmocka_unit_test(test_text__begin_and_end),
		cmocka_unit_test(test_text__integers),
		cmocka_unit_test(test_text__utf16),
		cmocka_unit_test(test_text__ansi),
		cmocka_unit_test(test_text__json_string),
		cmocka_unit_test(test_text__json_harmful),
		cmocka_unit_test(test_text__json_escape),
		cmocka_unit_test(test_text__out_of_memory),
		cmocka_unit_test(test_text__sizes_that_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
