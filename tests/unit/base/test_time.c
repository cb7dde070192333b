/* SPDX-License-Identifier: MIT */
/* Clocks in exact arithmetic, dates and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/time.h"

#define START INT64_C(133000000000000000)

/* floor((raw - anchor) * filetime / ticks) + start in 128 bits, by long hand. */
static int64_t expected(int64_t raw, int64_t anchor, uint64_t ticks, uint64_t filetime)
{
	__int128 product = ((__int128)raw - anchor) * filetime;
	__int128 value = product / ticks - (product % ticks < 0) + START;

	if (value > INT64_MAX)
		return INT64_MAX;
	return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static const uint64_t frequencies[] = {
	1,       2,        3,          1193182,    1818300,    2994853,     3579545,
	9999999, 10000001, 2600000000, 4294967295, 4294967296, 10000000000, 1000000000000};

static const int64_t deltas[] = {0,
				 1,
				 -1,
				 9,
				 10,
				 11,
				 1818299,
				 1818300,
				 -1818301,
				 36000000000,
				 INT64_C(1) << 40,
				 -(INT64_C(1) << 40),
				 INT64_C(1) << 55,
				 INT64_MAX - 5000000,
				 INT64_MIN + 5000000};

static void test_time__qpc_is_exact_for_every_frequency(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++) {
		struct etw_clock clock;

		etw_clock_init(&clock, ETW_CLOCK_QPC, 1000000, START, frequencies[i], 0);
		for (size_t j = 0; j < ARRAY_SIZE(deltas); j++) {
			int64_t raw = 1000000 + deltas[j];

			assert_int_equal(etw_clock_to_filetime(&clock, raw),
					 expected(raw, 1000000, frequencies[i], 10000000));
		}
	}
}

static void test_time__qpc_is_exact_on_random_ticks(void **state)
{
	uint64_t random = UINT64_C(0x123456789ABCDEF);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++) {
		struct etw_clock clock;

		etw_clock_init(&clock, ETW_CLOCK_QPC, -77, START, frequencies[i], 0);
		for (unsigned j = 0; j < 20000; j++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			int64_t raw = (int64_t)(random >> (j % 60));

			assert_int_equal(etw_clock_to_filetime(&clock, raw),
					 expected(raw, -77, frequencies[i], 10000000));
		}
	}
}

static void test_time__ten_megahertz_is_one_to_one(void **state)
{
	struct etw_clock clock;

	(void)state;
	etw_clock_init(&clock, ETW_CLOCK_QPC, 500, START, 10000000, 0);
	assert_int_equal(etw_clock_to_filetime(&clock, 501), START + 1);
	assert_int_equal(etw_clock_to_filetime(&clock, 499), START - 1);
	etw_clock_init(&clock, ETW_CLOCK_QPC, 500, START, 0, 0);
	assert_int_equal(etw_clock_to_filetime(&clock, 501), START + 1);
}

static void test_time__system_clock_is_filetime(void **state)
{
	struct etw_clock clock;

	(void)state;
	etw_clock_init(&clock, ETW_CLOCK_SYSTEM, 1, 2, 3, 4);
	assert_int_equal(etw_clock_to_filetime(&clock, START), START);
	assert_int_equal(etw_clock_to_filetime(&clock, INT64_MIN), INT64_MIN);
	assert_int_equal(etw_clock_to_filetime(&clock, INT64_MAX), INT64_MAX);
	assert_int_equal(etw_clock_from_filetime(&clock, -5), -5);
}

static void test_time__cycles_count_by_megahertz(void **state)
{
	struct etw_clock clock;

	(void)state;
	etw_clock_init(&clock, ETW_CLOCK_CYCLE, 0, START, 12345, 1992);
	assert_int_equal(etw_clock_to_filetime(&clock, 1992000000), START + 10000000);
	assert_int_equal(etw_clock_to_filetime(&clock, 199), START);
	assert_int_equal(etw_clock_to_filetime(&clock, 200), START + 1);
	assert_int_equal(etw_clock_to_filetime(&clock, -1), START - 1);
	etw_clock_init(&clock, ETW_CLOCK_CYCLE, 0, START, 0, 0);
	assert_int_equal(etw_clock_to_filetime(&clock, 7), START + 70);
}

static void test_time__saturates_instead_of_overflowing(void **state)
{
	struct etw_clock clock;

	(void)state;
	etw_clock_init(&clock, ETW_CLOCK_QPC, 0, START, 1, 0);
	assert_int_equal(etw_clock_to_filetime(&clock, INT64_MAX), INT64_MAX);
	assert_int_equal(etw_clock_to_filetime(&clock, INT64_MIN), INT64_MIN);
	etw_clock_init(&clock, ETW_CLOCK_QPC, INT64_MIN, INT64_MAX, 10000000, 0);
	assert_int_equal(etw_clock_to_filetime(&clock, INT64_MAX), INT64_MAX);
	etw_clock_init(&clock, ETW_CLOCK_QPC, 0, 0, 2600000000, 0);
	assert_int_equal(etw_clock_from_filetime(&clock, INT64_MAX), INT64_MAX);
	assert_int_equal(etw_clock_from_filetime(&clock, INT64_MIN), INT64_MIN);
	assert_int_equal(etw_filetime_between(3, 5), 2);
	assert_int_equal(etw_filetime_between(5, 3), -2);
	assert_int_equal(etw_filetime_between(-1, INT64_MAX), INT64_MAX);
	assert_int_equal(etw_filetime_between(INT64_MIN, INT64_MAX), INT64_MAX);
	assert_int_equal(etw_filetime_between(INT64_MAX, INT64_MIN), INT64_MIN);
	/* More than 128 bits on the way. */
	etw_clock_init(&clock, ETW_CLOCK_QPC, 0, INT64_MIN, UINT64_MAX, 0);
	assert_int_equal(etw_clock_from_filetime(&clock, INT64_MAX), INT64_MAX);
	etw_clock_init(&clock, ETW_CLOCK_QPC, 0, INT64_MAX, UINT64_MAX, 0);
	assert_int_equal(etw_clock_from_filetime(&clock, INT64_MIN), INT64_MIN);
	assert_int_equal(etw_clock_to_filetime(&clock, INT64_MIN), INT64_MAX - 5000001);
}

static void test_time__from_filetime_is_the_first_not_before(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++) {
		struct etw_clock clock;

		etw_clock_init(&clock, ETW_CLOCK_QPC, 1000, START, frequencies[i], 0);
		for (int64_t ft = START - 50; ft < START + 50; ft++) {
			int64_t raw = etw_clock_from_filetime(&clock, ft);

			assert_true(etw_clock_to_filetime(&clock, raw) >= ft);
			assert_true(etw_clock_to_filetime(&clock, raw - 1) < ft);
		}
	}
}

static void test_time__never_runs_back(void **state)
{
	struct etw_clock clock;
	int64_t last = INT64_MIN;

	(void)state;
	etw_clock_init(&clock, ETW_CLOCK_QPC, 5000, START, 2994853, 0);
	for (int64_t raw = 0; raw < 20000; raw++) {
		int64_t now = etw_clock_to_filetime(&clock, raw);

		assert_true(now >= last);
		last = now;
	}
}

static void assert_date(int64_t filetime, int year, int month, int day, int hour, int minute,
			int second, unsigned ticks)
{
	struct etw_date date;

	assert_true(etw_date_of_filetime(filetime, &date));
	assert_int_equal(date.year, year);
	assert_int_equal(date.month, month);
	assert_int_equal(date.day, day);
	assert_int_equal(date.hour, hour);
	assert_int_equal(date.minute, minute);
	assert_int_equal(date.second, second);
	assert_int_equal(date.ticks, ticks);
}

static void test_time__dates(void **state)
{
	struct etw_date date = {.year = -1};

	(void)state;
	assert_date(0, 1601, 1, 1, 0, 0, 0, 0);
	assert_date(ETW_FILETIME_UNIX_EPOCH, 1970, 1, 1, 0, 0, 0, 0);
	assert_date(INT64_C(129402939974768585), 2011, 1, 23, 22, 6, 37, 4768585);
	assert_date(INT64_C(125911583999999999), 1999, 12, 31, 23, 59, 59, 9999999);
	assert_date(INT64_C(125962560000000000), 2000, 2, 29, 0, 0, 0, 0);
	assert_date(INT64_MAX, 30828, 9, 14, 2, 48, 5, 4775807);
	assert_false(etw_date_of_filetime(-1, &date));
	assert_int_equal(date.year, -1);
}

static void test_time__every_day_of_a_cycle_comes_back(void **state)
{
	const int64_t day = 86400 * ETW_FILETIME_PER_SECOND;

	(void)state;
	for (int64_t i = 0; i < 146097 + 366; i++) {
		struct etw_date date;
		char text[32];
		int64_t filetime = 0;

		assert_true(etw_date_of_filetime(i * day, &date));
		(void)snprintf(text, sizeof(text), "%04d-%02u-%02u", date.year, date.month,
			       date.day);
		assert_int_equal(etw_filetime_parse(text, &filetime), 0);
		assert_int_equal(filetime, i * day);
		filetime = -1;
		assert_true(etw_filetime_of_date(&date, &filetime));
		assert_int_equal(filetime, i * day);
	}
}

static void test_time__what_is_no_date_has_no_filetime(void **state)
{
	static const struct etw_date none[] = {
		{1600, 12, 31, 0, 0, 0, 0},      {30828, 1, 1, 0, 0, 0, 0},
		{2023, 0, 1, 0, 0, 0, 0},        {2023, 13, 1, 0, 0, 0, 0},
		{2023, 1, 0, 0, 0, 0, 0},        {2023, 2, 29, 0, 0, 0, 0},
		{2023, 4, 31, 0, 0, 0, 0},       {2023, 1, 1, 24, 0, 0, 0},
		{2023, 1, 1, 0, 60, 0, 0},       {2023, 1, 1, 0, 0, 60, 0},
		{2023, 1, 1, 0, 0, 0, 10000000},
	};
	const struct etw_date last = {30827, 12, 31, 23, 59, 59, 9999999};
	struct etw_date again;
	int64_t filetime = -1;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(etw_filetime_of_date(&none[i], &filetime));
	assert_int_equal(filetime, -1);
	assert_true(etw_filetime_of_date(&last, &filetime));
	assert_true(etw_date_of_filetime(filetime, &again));
	assert_int_equal(again.year, last.year);
	assert_int_equal(again.ticks, last.ticks);
}

static void test_time__parse_takes_what_the_header_says(void **state)
{
	static const struct {
		const char *text;
		int64_t filetime;
	} rows[] = {
		{"2011-01-23T22:06:37.4768585Z", INT64_C(129402939974768585)},
		{"2011-01-23 22:06:37.4768585", INT64_C(129402939974768585)},
		{"2011-01-23T22:06:37.47685859Z", INT64_C(129402939974768585)},
		{"2011-01-23T22:06:37.476858599", INT64_C(129402939974768585)},
		{"2011-01-23T22:06:37.5Z", INT64_C(129402939975000000)},
		{"2011-01-23T22:06:37Z", INT64_C(129402939970000000)},
		{"2011-01-23T22:06Z", INT64_C(129402939600000000)},
		{"2011-01-23Z", INT64_C(129402144000000000)},
		{"1601-01-01", 0},
		{"2000-02-29", INT64_C(125962560000000000)},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t filetime = -1;

		assert_int_equal(etw_filetime_parse(rows[i].text, &filetime), 0);
		assert_int_equal(filetime, rows[i].filetime);
	}
}

static void test_time__parse_refuses_the_rest(void **state)
{
	static const char *const texts[] = {"",
					    "2011",
					    "2011-1-2",
					    "1600-12-31",
					    "2011-00-01",
					    "2011-13-01",
					    "2011-01-00",
					    "2011-01-32",
					    "2011-02-29",
					    "1900-02-29",
					    "2011-01-23T",
					    "2011-01-23T22",
					    "2011-01-23T24:00",
					    "2011-01-23T22:60",
					    "2011-01-23T22:06:60",
					    "2011-01-23T22:06:37.",
					    "2011-01-23T22:06:37.1234567890",
					    "2011-01-23T22:06:37ZZ",
					    "2011-01-23x",
					    " 2011-01-23",
					    "2011-01-23T22:06:37+01:00"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		int64_t filetime = 4711;

		assert_int_equal(etw_filetime_parse(texts[i], &filetime), -EINVAL);
		assert_int_equal(filetime, 4711);
	}
}

static void test_time__the_systems_clocks_agree_with_one_another(void **state)
{
	uint64_t before_ns = etw_time_read_ns(CLOCK_MONOTONIC), between_ns = etw_monotonic_ns();
	uint64_t after_ms = etw_monotonic_ms();
	int64_t before_ft = etw_filetime_now();
	uint64_t unix_ns = etw_time_read_ns(CLOCK_REALTIME);
	struct etw_date date;

	(void)state;
	assert_true(between_ns >= before_ns);
	assert_true(after_ms >= between_ns / 1000000);
	assert_true(after_ms < UINT64_C(1) << 53); /* not nanoseconds */
	assert_true(etw_date_of_filetime(before_ft, &date));
	assert_true(date.year == (int32_t)(1970 + unix_ns / 1000000000 / 31556952) ||
		    date.month == 12 || date.month == 1);
}

static void test_time__timespec_has_seconds_and_the_rest(void **state)
{
	struct timespec time = etw_timespec_of_ns(UINT64_C(5999999999));

	(void)state;
	assert_int_equal(time.tv_sec, 5);
	assert_int_equal(time.tv_nsec, 999999999);
	time = etw_timespec_of_ns(UINT64_C(6000000000));
	assert_int_equal(time.tv_sec, 6);
	assert_int_equal(time.tv_nsec, 0);
}

static void test_time__a_deadline_of_zero_is_none(void **state)
{
	(void)state;
	assert_int_equal(etw_earlier_zero_is_none(3, 5), 3);
	assert_int_equal(etw_earlier_zero_is_none(5, 3), 3);
	assert_int_equal(etw_earlier_zero_is_none(0, 5), 5);
	assert_int_equal(etw_earlier_zero_is_none(5, 0), 5);
	assert_int_equal(etw_earlier_zero_is_none(0, 0), 0);
	assert_int_equal(etw_earlier_zero_is_none(0, UINT64_MAX), UINT64_MAX);
	assert_int_equal(etw_earlier_zero_is_none(UINT64_MAX, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time__qpc_is_exact_for_every_frequency),
		cmocka_unit_test(test_time__qpc_is_exact_on_random_ticks),
		cmocka_unit_test(test_time__ten_megahertz_is_one_to_one),
		cmocka_unit_test(test_time__system_clock_is_filetime),
		cmocka_unit_test(test_time__cycles_count_by_megahertz),
		cmocka_unit_test(test_time__saturates_instead_of_overflowing),
		cmocka_unit_test(test_time__from_filetime_is_the_first_not_before),
		cmocka_unit_test(test_time__never_runs_back),
		cmocka_unit_test(test_time__dates),
		cmocka_unit_test(test_time__every_day_of_a_cycle_comes_back),
		cmocka_unit_test(test_time__what_is_no_date_has_no_filetime),
		cmocka_unit_test(test_time__parse_takes_what_the_header_says),
		cmocka_unit_test(test_time__parse_refuses_the_rest),
		cmocka_unit_test(test_time__the_systems_clocks_agree_with_one_another),
		cmocka_unit_test(test_time__timespec_has_seconds_and_the_rest),
		cmocka_unit_test(test_time__a_deadline_of_zero_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
