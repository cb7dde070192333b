/* SPDX-License-Identifier: MIT */
/* Text that reads like text, and text that another layout's numbers are part of. */
#include "sample.h"

#include "decode/legible.h"

#define UTF16(text) is_legible_utf16(u"" text, sizeof(u"" text) - 2)

static bool is_legible_utf16(const void *at, size_t bytes)
{
	return etw_legible_utf16(at, (uint32_t)bytes);
}

static bool is_legible_ansi(const char *at)
{
	return etw_legible_ansi((const uint8_t *)at, (uint32_t)strlen(at));
}

static void test_legible__utf16_that_people_write(void **state)
{
	static const uint16_t half_at_the_end[] = {'a', 0xD83D};
	static const uint16_t behind_a_nul[] = {'a', 'b', 'c', 'd', 'e', 0, 0xE000, 1};

	(void)state;
	assert_true(UTF16(""));
	assert_true(UTF16("C:\\Windows\\system32\\ntdll.dll"));
	assert_true(UTF16("lines\r\n\tand tabs"));
	assert_true(UTF16("Stra\u00DFe \u4E2D\u6587 \uAC00\uD55C\uAE00 \U0001F600 \u00A0\u2028"));
	/* Windows-1252 widened byte by byte, as version resources have it. */
	assert_true(UTF16("Microsoft\u00AE Skype"));
	assert_true(is_legible_utf16((const uint16_t[]){'S', 0x99}, 4));
	assert_true(is_legible_utf16(half_at_the_end, sizeof(half_at_the_end)));
	assert_true(is_legible_utf16(behind_a_nul, sizeof(behind_a_nul)));
}

static void test_legible__utf16_that_is_none(void **state)
{
	static const uint32_t wrong[] = {0x0001, 0x0008, 0x000B, 0x000C, 0x0019, 0x001B, 0x001F,
					 0xD800, 0xDC00, 0xE000, 0xF8FF, 0xFFFE, 0xFFFF};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		for (size_t at = 0; at < 11; at++) {
			uint16_t text[12] = {'a', 'b', 'c', 'd', 'e', 'f',
					     'g', 'h', 'i', 'j', 'k', 'l'};

			text[at] = (uint16_t)wrong[i];
			assert_false(is_legible_utf16(text, sizeof(text)));
		}
	}
	assert_false(UTF16("\U000F0000"));
	assert_false(UTF16("abcd\U0010FFFD"));
}

static void test_legible__ansi(void **state)
{
	(void)state;
	assert_true(is_legible_ansi("plain, \t\r\n and \x80\x99\xFF"));
	assert_false(is_legible_ansi("a\x01"));
	assert_false(is_legible_ansi("\x1B[0m"));
	assert_true(etw_legible_ansi((const uint8_t *)"a\0\x01", 3));
	assert_true(etw_legible_ansi(NULL, 0));
	assert_true(etw_legible_utf16(NULL, 0));
}

/* The layouts that are looked for, and not those that come with the event. */
static void test_legible__schemas(void **state)
{
	struct etw_field fields[] = {
		{.name = "n", .in_type = TDH_INTYPE_UINT32, .count = 1},
		{.name = "s", .in_type = TDH_INTYPE_UNICODESTRING, .count = 1},
	};
	struct etw_schema schema = {.fields = fields, .field_count = 1, .top_count = 1};

	(void)state;
	assert_false(etw_legible_schema(&schema));
	schema.field_count = schema.top_count = 2;
	assert_true(etw_legible_schema(&schema));
	schema.source = DecodingSourceWbem;
	assert_true(etw_legible_schema(&schema));
	schema.source = DecodingSourceTlg;
	assert_false(etw_legible_schema(&schema));
	schema.source = DecodingSourceWPP;
	assert_false(etw_legible_schema(&schema));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legible__utf16_that_people_write),
		cmocka_unit_test(test_legible__utf16_that_is_none),
		cmocka_unit_test(test_legible__ansi),
		cmocka_unit_test(test_legible__schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
