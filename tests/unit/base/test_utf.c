/* SPDX-License-Identifier: MIT */
/* UTF-16LE and UTF-8: every code point both ways, and everything that is malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"

static void test_utf__a_clean_line_moves_no_cursor(void **state)
{
	static const struct {
		const char *line, *clean;
	} rows[] = {
		{"plain \xC3\xA4 \xE2\x82\xAC", "plain \xC3\xA4 \xE2\x82\xAC"},
		{"a\nb\tc\033[2J\x7F", "a?b?c?[2J?"},
		{"\xC2\x80\xC2\x9F\xC2\xA0", "????\xC2\xA0"},
		{"\x9B\xFF\xC3", "???"},
		/* Marks of direction, a separator of lines, what has no width, and a tag; their neighbours stay. */
		{"a\xE2\x80\xAE"
		 "b\xE2\x81\xA9",
		 "a???b???"},
		{"\xE2\x80\xA8\xE2\x80\xA7\xE2\x80\xAF", "???\xE2\x80\xA7\xE2\x80\xAF"},
		{"\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD", "????????"},
		{"\xF3\xA0\x80\xA0\xF0\x9F\x98\x80", "????\xF0\x9F\x98\x80"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char line[32];

		(void)strcpy(line, rows[i].line);
		etw_utf8_clean_line(line, strlen(line));
		assert_string_equal(line, rows[i].clean);
	}
}

static void test_utf__every_code_point(void **state)
{
	(void)state;
	for (uint32_t point = 1; point <= 0x10FFFF; point++) {
		bool is_surrogate = point >= 0xD800 && point < 0xE000;
		char encoded[5] = {0};
		size_t bytes = etw_utf8_encode(point, encoded);
		size_t used = 0;
		uint32_t decoded = etw_utf8_decode((uint8_t *)encoded, bytes, &used);

		if (is_surrogate) {
			assert_true(decoded == UINT32_MAX && used == 1);
			continue;
		}
		assert_true(decoded == point && used == bytes);
		/* Cut short it is malformed. */
		for (size_t cut = 1; cut < bytes; cut++) {
			assert_true(etw_utf8_decode((uint8_t *)encoded, cut, &used) == UINT32_MAX);
			assert_true(used == 1);
		}
		if (point > 0xFFFF || point % 64 == 0) {
			size_t units;
			uint8_t *wide = etw_utf8_to_utf16(encoded, &units);

			assert_non_null(wide);
			assert_true(units == (point > 0xFFFF ? 2 : 1));
			assert_true(etw_utf16_decode(wide, units, &used) == point);
			assert_true(used == units && etw_load16(wide + 2 * units) == 0);
			free(wide);
		}
	}
}

static void test_utf__malformed_utf8(void **state)
{
	static const char *const rows[] = {
		"\x80",
		"\xBF",
		"\xC0\x80",
		"\xC1\xBF",
		"\xC2",
		"\xC2\x41",
		"\xE0\x80\x80",
		"\xE0\x9F\xBF",
		"\xED\xA0\x80",
		"\xED\xBF\xBF",
		"\xE2\x82",
		"\xE2\x41\x80",
		"\xF0\x8F\xBF\xBF",
		"\xF4\x90\x80\x80",
		"\xF5\x80\x80\x80",
		"\xFF",
		"\xF0\x9F\x98",
		"\xF0\x9F\x41\x80",
		"\xE2\x82\x41",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint8_t *at = (const uint8_t *)rows[i];
		size_t used = 0;
		char padded[32] = "abcdefghijk";

		assert_true(etw_utf8_decode(at, strlen(rows[i]), &used) == UINT32_MAX);
		assert_int_equal(used, 1);
		assert_false(etw_utf8_is_valid(at, strlen(rows[i])));
		for (size_t place = 0; place <= 11; place++) {
			strncpy(padded, "abcdefghijk", sizeof(padded));
			memmove(padded + place, rows[i], strlen(rows[i]));
			assert_false(etw_utf8_is_valid((uint8_t *)padded, place + strlen(rows[i])));
		}
	}
	assert_true(etw_utf8_is_valid((const uint8_t *)"", 0));
	assert_true(etw_utf8_is_valid((const uint8_t *)"abcdefgh\xE2\x82\xAC", 11));
	assert_true(etw_utf8_is_valid((const uint8_t *)"a\0bcdefgh", 9));
	assert_true(etw_utf8_is_valid((const uint8_t *)"abcdefg\xC3\xA9hij", 12));
	assert_false(etw_utf8_is_valid((const uint8_t *)"abcdefghij\xE9", 11));
}

static void test_utf__utf16_surrogates(void **state)
{
	static const struct {
		uint16_t units[2];
		size_t count;
		uint32_t point;
		size_t used;
	} rows[] = {
		{{'a'}, 1, 'a', 1},
		{{0xD800}, 1, 0xFFFD, 1},
		{{0xDFFF, 'a'}, 2, 0xFFFD, 1},
		{{0xD800, 'a'}, 2, 0xFFFD, 1},
		{{0xD800, 0xDC00}, 2, 0x10000, 2},
		{{0xDBFF, 0xDFFF}, 2, 0x10FFFF, 2},
		{{0xD800, 0xD800}, 2, 0xFFFD, 1},
		{{0xE000}, 1, 0xE000, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t raw[4];
		size_t used = 0;

		etw_store16(raw, rows[i].units[0]);
		etw_store16(raw + 2, rows[i].units[1]);
		assert_int_equal(etw_utf16_decode(raw, rows[i].count, &used), rows[i].point);
		assert_int_equal(used, rows[i].used);
	}
}

/* A NUL unit at every place, between units whose halves are zero. */
static void test_utf__utf16_length(void **state)
{
	static const uint16_t fillers[] = {'a', 0x0100, 0x8000, 0xFFFF, 0x0001};

	(void)state;
	for (size_t count = 0; count < 20; count++) {
		uint8_t *raw = malloc(2 * count + 1);

		assert_non_null(raw);
		for (size_t f = 0; f < ARRAY_SIZE(fillers); f++) {
			for (size_t nul = 0; nul <= count; nul++) {
				for (size_t i = 0; i < count; i++)
					etw_store16(raw + 1 + 2 * i, i == nul ? 0 : fillers[f]);
				assert_int_equal(etw_utf16_length(raw + 1, count), nul);
			}
		}
		free(raw);
	}
}

static void test_utf__strings(void **state)
{
	size_t units = 99;
	uint8_t *wide;
	char *text;

	(void)state;
	wide = etw_utf8_to_utf16("a\xE2\x82\xAC\xF0\x9F\x98\x80\xFF", &units);
	assert_non_null(wide);
	assert_int_equal(units, 5);
	assert_memory_equal(wide, "a\0\xAC\x20\x3D\xD8\x00\xDE\xFD\xFF\0\0", 12);
	text = etw_utf16_to_utf8(wide, units);
	assert_string_equal(text, "a\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD");
	free(text);
	free(wide);

	/* The same into memory of the caller, of which the length alone may be asked. */
	uint8_t room[10];

	assert_int_equal(etw_utf8_put_utf16("a\xE2\x82\xAC\xF0\x9F\x98\x80\xFFz", 9, NULL), 5);
	assert_int_equal(etw_utf8_put_utf16("a\xE2\x82\xAC\xF0\x9F\x98\x80\xFFz", 9, room), 5);
	assert_memory_equal(room, "a\0\xAC\x20\x3D\xD8\x00\xDE\xFD\xFF", 10);
	assert_int_equal(etw_utf8_put_utf16("", 0, room), 0);

	wide = etw_utf8_to_utf16("", NULL);
	assert_memory_equal(wide, "\0", 2);
	text = etw_utf16_to_utf8(wide, 0);
	assert_string_equal(text, "");
	free(text);
	free(wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf__every_code_point),
		cmocka_unit_test(test_utf__malformed_utf8),
		cmocka_unit_test(test_utf__utf16_surrogates),
		cmocka_unit_test(test_utf__a_clean_line_moves_no_cursor),
		cmocka_unit_test(test_utf__utf16_length),
		cmocka_unit_test(test_utf__strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
