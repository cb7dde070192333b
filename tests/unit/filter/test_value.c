/* SPDX-License-Identifier: MIT */
/* Ranges, bounds and texts. */
#include "support.h"

static struct etw_filter_value read_value(const char *word)
{
	struct etw_filter_value value;

	assert_int_equal(etw_filter_value_read(word, strlen(word), false, &value), 0);
	return value;
}

static void test_value__extends_to_ranges(void **state)
{
	static const struct {
		const char *from, *to;
		unsigned readings;
	} rows[] = {
		{"1", "5", ETW_FILTER_INTEGER | ETW_FILTER_REAL},
		{"5", "1", 0},
		{"-5", "5", ETW_FILTER_INTEGER | ETW_FILTER_REAL},
		{"1.5", "2", ETW_FILTER_REAL},
		{"+1s", "+2s", ETW_FILTER_TIME},
		{"+2s", "+1s", 0},
		{"2020-01-01", "2020-01-02", ETW_FILTER_TIME},
		{"2020-01-01", "+1s", 0},
		{"10.0.0.1", "10.0.0.9", ETW_FILTER_ADDRESS},
		{"10.0.0.9", "10.0.0.1", 0},
		{"10.0.0.1", "::1", 0},
		{"a", "b", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_filter_value from = read_value(rows[i].from);
		struct etw_filter_value to = read_value(rows[i].to);

		assert_int_equal(etw_filter_value_extend(&from, &to), rows[i].readings != 0);
		assert_int_equal(from.readings, rows[i].readings);
		etw_filter_value_done(&from);
		etw_filter_value_done(&to);
	}
}

static void test_value__bounds(void **state)
{
	struct etw_filter_value below = read_value("18446744073709551615");
	struct etw_filter_value above = read_value("18446744073709551615");
	struct etw_filter_value most = read_value("1.5"), word = read_value("word");

	(void)state;
	assert_true(etw_filter_value_bound(&below, ETW_FILTER_BELOW));
	assert_true(etw_filter_value_has_integer(&below, -1));
	assert_true(etw_filter_value_has_integer(&below, UINT64_MAX - 1));
	assert_false(etw_filter_value_has_integer(&below, UINT64_MAX));
	assert_true(etw_filter_value_bound(&above, ETW_FILTER_ABOVE));
	assert_false(etw_filter_value_has_integer(&above, UINT64_MAX));
	assert_true(etw_filter_value_bound(&most, ETW_FILTER_UP_TO));
	assert_true(etw_filter_value_has_real(&most, 1.5));
	assert_false(etw_filter_value_has_real(&most, 1.51));
	assert_false(etw_filter_value_has_real(&most, __builtin_nan("")));
	assert_false(etw_filter_value_bound(&word, ETW_FILTER_FROM));
	etw_filter_value_done(&below);
	etw_filter_value_done(&above);
	etw_filter_value_done(&most);
	etw_filter_value_done(&word);
}

static bool has_text(const char *word, enum etw_filter_how how, bool is_exact, const char *text)
{
	struct etw_filter_value value = read_value(word);
	struct etw_regex_fault fault = {0};
	struct etw_text room = {0};
	bool is_there;

	assert_int_equal(etw_filter_value_set_how(&value, how, is_exact, &fault), 0);
	is_there = etw_filter_value_has_text(&value, text, strlen(text), &room);
	etw_filter_value_done(&value);
	etw_text_done(&room);
	return is_there;
}

static void test_value__compares_texts(void **state)
{
	(void)state;
	assert_true(has_text("Abc", ETW_FILTER_EQUALS, false, "aBC"));
	assert_false(has_text("Abc", ETW_FILTER_EQUALS, true, "aBC"));
	assert_false(has_text("Abc", ETW_FILTER_EQUALS, false, "aBCd"));
	assert_true(has_text("BC", ETW_FILTER_CONTAINS, false, "abcd"));
	assert_true(has_text("", ETW_FILTER_CONTAINS, false, ""));
	assert_true(has_text("", ETW_FILTER_EQUALS, false, ""));
	assert_true(has_text("AB", ETW_FILTER_STARTS, false, "abcd"));
	assert_false(has_text("BC", ETW_FILTER_STARTS, false, "abcd"));
	assert_true(has_text("CD", ETW_FILTER_ENDS, false, "abcd"));
	assert_false(has_text("abcde", ETW_FILTER_ENDS, false, "abcd"));
	assert_true(has_text("a*D", ETW_FILTER_LIKE, false, "Abcd"));
	assert_true(has_text("t*k", ETW_FILTER_PATTERN, false, "Task"));
	assert_false(has_text("t?k", ETW_FILTER_PATTERN, false, "Tak"));
	assert_true(has_text("^A", ETW_FILTER_MATCHES, false, "abc"));
	assert_false(has_text("^A", ETW_FILTER_MATCHES, true, "abc"));
}

static bool like(const char *pattern, const char *text)
{
	return etw_filter_like(pattern, strlen(pattern), text, strlen(text));
}

static void test_value__likes(void **state)
{
	(void)state;
	assert_true(like("", ""));
	assert_true(like("*", ""));
	assert_false(like("?", ""));
	assert_true(like("?", "\xC3\xA4"));
	assert_false(like("??", "\xC3\xA4"));
	assert_true(like("a*b*c", "aXbYbZc"));
	assert_false(like("a*b*c", "aXbYbZ"));
	assert_true(like("*?c", "abc"));
	assert_false(like("*?c", "c"));
	assert_true(like("**", "abc"));
	assert_true(like("a?c", "abc"));
}

static void test_value__has_masks_times_and_addresses(void **state)
{
	struct etw_filter_value mask = read_value("6"), time = read_value("+1s");
	struct etw_filter_value net = read_value("10.1.0.0/16"), none = read_value("x");
	const uint8_t inside[] = {10, 1, 200, 3}, outside[] = {10, 2, 0, 0};
	const GUID guid = TEST_GUID;

	(void)state;
	mask.how = ETW_FILTER_MASK_ANY;
	assert_true(etw_filter_value_has_integer(&mask, 2));
	assert_false(etw_filter_value_has_integer(&mask, 1));
	mask.how = ETW_FILTER_MASK_ALL;
	assert_false(etw_filter_value_has_integer(&mask, 2));
	assert_true(etw_filter_value_has_integer(&mask, 7));
	assert_true(etw_filter_value_has_time(&time, 10000100, 100));
	assert_false(etw_filter_value_has_time(&time, 10000000, 100));
	assert_true(etw_filter_value_has_address(&net, inside, 4));
	assert_false(etw_filter_value_has_address(&net, outside, 4));
	assert_false(etw_filter_value_has_address(&net, inside, 3));
	assert_false(etw_filter_value_has_integer(&none, 0));
	assert_false(etw_filter_value_has_real(&none, 0));
	assert_false(etw_filter_value_has_time(&none, 0, 0));
	assert_false(etw_filter_value_has_guid(&none, &guid));
	etw_filter_value_done(&mask);
	etw_filter_value_done(&time);
	etw_filter_value_done(&net);
	etw_filter_value_done(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value__extends_to_ranges),
		cmocka_unit_test(test_value__bounds),
		cmocka_unit_test(test_value__compares_texts),
		cmocka_unit_test(test_value__likes),
		cmocka_unit_test(test_value__has_masks_times_and_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
