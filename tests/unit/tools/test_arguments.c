/* SPDX-License-Identifier: MIT */
/* The pieces that command lines are made of: times, numbers, words that were meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/time.h"
#include "tools/common/number.h"
#include "tools/common/program.h"
#include "tools/common/terminal.h"
#include "tools/common/time_argument.h"

/* In UTC, of a trace of a minute; 7 when nothing is given. */
static int64_t resolve(const struct etw_time_argument *time, int64_t start_ft)
{
	const struct etw_time_context context = {
		.start_ft = start_ft,
		.end_ft = start_ft > INT64_MAX - 600000000 ? INT64_MAX : start_ft + 600000000};

	return etw_time_argument_resolve(time, &context, 7);
}

static void test_time_argument__relative(void **state)
{
	static const struct {
		const char *string;
		int64_t value_ft;
	} rows[] = {
		{"+0", 0},
		{"+1.5", 15000000},
		{"+0.0000001", 1},
		{"+0.00000019", 1},
		{"+3s", 30000000},
		{"+86400.25", 864002500000},
		{"250ms", 2500000},
		{"+10us", 100},
		{"2min", 1200000000},
		{"+1.5h", 54000000000},
		{"2", 20000000},
		{"1.5", 15000000},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_time_argument time = {0};

		assert_true(etw_time_argument_parse(rows[i].string, &time));
		assert_true(time.is_given && time.kind == ETW_TIME_RELATIVE);
		assert_int_equal(time.value_ft, rows[i].value_ft);
		assert_int_equal(resolve(&time, 100), rows[i].value_ft + 100);
	}
}

static void test_time_argument__absolute_and_absent(void **state)
{
	struct etw_time_argument time = {0};

	(void)state;
	assert_int_equal(resolve(&time, 100), 7);
	assert_true(etw_time_argument_parse("2011-01-23T22:06:37.4768585Z", &time));
	assert_int_equal(resolve(&time, 100), 129402939974768585);
	assert_true(etw_time_argument_parse("+800000000000", &time));
	assert_int_equal(resolve(&time, INT64_MAX - 5), INT64_MAX);
}

static void test_time_argument__zones_and_times_of_day(void **state)
{
	/* A trace that begins at 2011-01-23T22:06:37.4768585Z. */
	static const struct {
		const char *string, *is;
	} rows[] = {
		{"2011-01-23T22:06:37Z", "2011-01-23T22:06:37Z"},
		{"2011-01-23 22:06", "2011-01-23T22:06:00Z"},
		{"2011-01-23T22:06:37+02:00", "2011-01-23T20:06:37Z"},
		{"2011-01-23T22:06:37.5-0730", "2011-01-24T05:36:37.5Z"},
		{"2011-01-23T22:06:37-07", "2011-01-24T05:06:37Z"},
		{"22:06:38", "2011-01-23T22:06:38Z"},
		{"22:07", "2011-01-23T22:07:00Z"},
		{"22:07Z", "2011-01-23T22:07:00Z"},
		{"15:06:40.25-07:00", "2011-01-23T22:06:40.25Z"},
		{"00:06:40+02:00", "2011-01-23T22:06:40Z"},
		/* Within the trace at no day: the nearest. */
		{"21:00", "2011-01-23T21:00:00Z"},
		{"00:30", "2011-01-24T00:30:00Z"},
		{"2011-01-23", "2011-01-23T00:00:00Z"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_time_argument time = {0};
		int64_t expected;

		assert_true(etw_time_argument_parse(rows[i].string, &time));
		assert_int_equal(etw_filetime_parse(rows[i].is, &expected), 0);
		assert_int_equal(resolve(&time, 129402939974768585), expected);
	}
}
static void test_time_argument__refused(void **state)
{
	static const char *const strings[] = {
		"",          "+",          "+x",          "1.5.",
		"+1.",       "+1.5x",      "yesterday",   "+99999999999999",
		"+-1",       "2011-13-01", "25:00",       "22:6",
		"22:06:37+", "22:06+24",   "22:06+02:",   "22:06+02:60",
		"22:06 PM",  "1.5d",       "2011-01-23T", "2011-01-23T22:06:37X"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		struct etw_time_argument time = {0};

		assert_false(etw_time_argument_parse(strings[i], &time));
		assert_false(time.is_given);
	}
}

static void expect_number(void (*write)(struct etw_text *, uint64_t), uint64_t value,
			  const char *expected)
{
	struct etw_text text = {0};

	write(&text, value);
	assert_string_equal(etw_text_string(&text), expected);
	etw_text_done(&text);
}

static void write_duration(struct etw_text *text, uint64_t value)
{
	etw_number_duration(text, (int64_t)value);
}

static void test_number__forms(void **state)
{
	(void)state;
	expect_number(etw_number_grouped, 0, "0");
	expect_number(etw_number_grouped, 999, "999");
	expect_number(etw_number_grouped, 1234567, "1,234,567");
	expect_number(etw_number_grouped, UINT64_MAX, "18,446,744,073,709,551,615");
	expect_number(etw_number_bytes, 1, "1 byte");
	expect_number(etw_number_bytes, 999, "999 bytes");
	expect_number(etw_number_bytes, 42991616, "42.9 MB");
	expect_number(etw_number_bytes, 294912, "295 kB");
	expect_number(write_duration, 0, "0 s");
	expect_number(write_duration, 25, "2.5 us");
	expect_number(write_duration, 112870000, "11.2 s");
	expect_number(write_duration, 1090000000, "1 min 49 s");
	expect_number(write_duration, 106600000000, "2 h 57 min");
	expect_number(write_duration, 1900800000000, "2 d 4 h");
	expect_number(write_duration, (uint64_t)-25, "-2.5 us");
}

static void test_number__shares_tell_no_lies(void **state)
{
	static const struct {
		uint64_t part, whole;
		const char *expected;
	} rows[] = {
		{0, 5, "0%"},        {5, 5, "100%"},  {9999, 10000, "99.9%"},
		{1, 10000, "<0.1%"}, {1, 3, "33.3%"}, {UINT64_MAX - 1, UINT64_MAX, "99.9%"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_text text = {0};

		etw_number_share(&text, rows[i].part, rows[i].whole);
		assert_string_equal(etw_text_string(&text), rows[i].expected);
		etw_text_done(&text);
	}
}

static void test_program__nearest(void **state)
{
	static const char *const words[] = {"summary", NULL, "dump", "info"};

	(void)state;
	assert_string_equal(etw_program_nearest("summry", words, 4), "summary");
	assert_string_equal(etw_program_nearest("DUMP", words, 4), "dump");
	assert_string_equal(etw_program_nearest("inof", words, 4), "info");
	assert_null(etw_program_nearest("record", words, 4));
	assert_null(etw_program_nearest("", words, 4));
	assert_null(
		etw_program_nearest("a word that is much longer than any other word", words, 4));
}

static void test_terminal__colour_words(void **state)
{
	enum etw_colour_mode mode = ETW_COLOUR_AUTO;

	(void)state;
	assert_true(etw_colour_mode_parse("never", &mode));
	assert_false(etw_colour_wanted(1, mode));
	assert_true(etw_colour_mode_parse("always", &mode));
	assert_true(etw_colour_wanted(1, mode));
	assert_false(etw_colour_mode_parse("sometimes", &mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_argument__relative),
		cmocka_unit_test(test_time_argument__absolute_and_absent),
		cmocka_unit_test(test_time_argument__zones_and_times_of_day),
		cmocka_unit_test(test_time_argument__refused),
		cmocka_unit_test(test_number__forms),
		cmocka_unit_test(test_number__shares_tell_no_lies),
		cmocka_unit_test(test_program__nearest),
		cmocka_unit_test(test_terminal__colour_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
