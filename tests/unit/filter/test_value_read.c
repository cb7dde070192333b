/* SPDX-License-Identifier: MIT */
/* What can be written as a value, and all that it may mean. */
#include "support.h"

#define N (ETW_FILTER_INTEGER | ETW_FILTER_REAL)
#define T ETW_FILTER_TEXT

static void test_value_read__has_all_readings(void **state)
{
	static const struct {
		const char *word;
		unsigned readings;
	} rows[] = {
		{"12", N | T},
		{"-5", N | T | ETW_FILTER_TIME},
		{"0x1F", N | T},
		{"0xG", T},
		{"0x", T},
		{"1.5", ETW_FILTER_REAL | T},
		{"1.", T},
		{"64KiB", N | T},
		{"1.5MB", ETW_FILTER_REAL | T},
		{"64kib", T},
		{"18446744073709551615", N | T},
		{"18446744073709551616", T},
		{"+1.5s", ETW_FILTER_TIME | T},
		{"+200ms", ETW_FILTER_TIME | T},
		{"+2min", ETW_FILTER_TIME | T},
		{"+2parsec", T},
		{"+", T},
		{"+999999999999999999", T},
		{"2011-01-23T22:06:37.5Z", ETW_FILTER_TIME | T},
		{"2011-01-23", ETW_FILTER_TIME | T},
		{"2011-13-23", T},
		{"11112222-3333-4444-5555-666677778888", ETW_FILTER_GUID | T},
		{"{11112222-3333-4444-5555-666677778888}", ETW_FILTER_GUID | T},
		{"10.0.0.1", ETW_FILTER_ADDRESS | T},
		{"10.0.0.0/8", ETW_FILTER_ADDRESS | T},
		{"10.0.0.0/33", T},
		{"10.0.0.0/", T},
		{"fe80::1", ETW_FILTER_ADDRESS | T},
		{"fe80::/10", ETW_FILTER_ADDRESS | T},
		{"true", ETW_FILTER_TRUTH | T},
		{"false", ETW_FILTER_TRUTH | T},
		{"True", T},
		{"S-1-5-18", T},
		{"", T},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_filter_value value;

		assert_int_equal(
			etw_filter_value_read(rows[i].word, strlen(rows[i].word), false, &value),
			0);
		if (value.readings != rows[i].readings)
			fail_msg("%s: %x", rows[i].word, value.readings);
		assert_string_equal(value.text, rows[i].word);
		etw_filter_value_done(&value);
	}
}

static struct etw_filter_value read_value(const char *word, bool is_quoted)
{
	struct etw_filter_value value;

	assert_int_equal(etw_filter_value_read(word, strlen(word), is_quoted, &value), 0);
	free(value.text);
	value.text = NULL;
	return value;
}

static void test_value_read__has_the_right_worth(void **state)
{
	(void)state;
	assert_true(read_value("-0x10", false).from == -16);
	assert_true(read_value("2TiB", false).from == (etw_filter_integer)2 << 40);
	assert_true(read_value("3KB", false).from == 3000);
	assert_true(read_value("1.5KB", false).from_real == 1500.0);
	assert_true(read_value("0.1", false).from_real == 0.1);
	assert_true(read_value("-1.25", false).from_real == -1.25);
	assert_true(read_value("+1.5", false).from_ft == 15000000);
	assert_true(read_value("+1.5ms", false).from_ft == 15000);
	assert_true(read_value("+250ns", false).from_ft == 2);
	assert_true(read_value("-2us", false).from_ft == -20);
	assert_true(read_value("+1h", false).from_ft == INT64_C(36000000000));
	assert_true(read_value("1970-01-01", false).from_ft == 116444736000000000);
	assert_int_equal(read_value("10.1.2.3/9", false).to_address[1], 127);
	assert_int_equal(read_value("::/0", false).to_address[15], 255);
}

/* In quotes it is a text, but what is no number may still be what a field of that type shows. */
static void test_value_read__of_quotes(void **state)
{
	(void)state;
	assert_int_equal(read_value("12", true).readings, T);
	assert_int_equal(read_value("true", true).readings, T);
	assert_int_equal(read_value("2011-01-23 22:06", true).readings, T | ETW_FILTER_TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_read__has_all_readings),
		cmocka_unit_test(test_value_read__has_the_right_worth),
		cmocka_unit_test(test_value_read__of_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
