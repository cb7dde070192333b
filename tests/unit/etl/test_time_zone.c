/* SPDX-License-Identifier: MIT */
/* TIME_ZONE_INFORMATION of the C library's zones, by TZ rules that need no time zone files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "etl/time_zone.h"

#define MID_2026 INT64_C(1782000000) /* June */

struct date {
	unsigned month, weekday, day, hour, minute;
};

struct zone_case {
	const char *rule;
	int bias, daylight_bias;
	const char *standard, *daylight;
	struct date to_standard, to_daylight;
};

static const struct zone_case cases[] = {
	{"CET-1CEST,M3.5.0,M10.5.0/3", -60, -60, "CET", "CEST", {10, 0, 5, 3, 0}, {3, 0, 5, 2, 0}},
	{"PST8PDT,M3.2.0,M11.1.0", 480, -60, "PST", "PDT", {11, 0, 1, 2, 0}, {3, 0, 2, 2, 0}},
	/* The southern half: the year begins in daylight time. */
	{"AEST-10AEDT,M10.1.0,M4.1.0/3",
	 -600,
	 -60,
	 "AEST",
	 "AEDT",
	 {4, 0, 1, 3, 0},
	 {10, 0, 1, 2, 0}},
	/* Half an hour. */
	{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
	 -630,
	 -30,
	 "+1030",
	 "+11",
	 {4, 0, 1, 2, 0},
	 {10, 0, 1, 2, 0}},
	/* The fourth Sunday, which in some of the years is the last: 2026-02-22, 2026-10-25. */
	{"AAA3BBB,M2.4.0,M10.4.0/0:30", 180, -60, "AAA", "BBB", {10, 0, 4, 0, 30}, {2, 0, 4, 2, 0}},
	{"AAA3BBB,M2.5.0,M10.5.0/0:30", 180, -60, "AAA", "BBB", {10, 0, 5, 0, 30}, {2, 0, 5, 2, 0}},
	/* Winter time as the exception, as Ireland has it. */
	{"XST-1XWT0,M10.5.0,M3.5.0/1", -60, 60, "XST", "XWT", {3, 0, 5, 1, 0}, {10, 0, 5, 2, 0}},
};

static void assert_name(const uint8_t *at, const char *wanted)
{
	for (unsigned i = 0; i < 32; i++) {
		assert_int_equal(etw_load16(at + (size_t)2 * i), *wanted);
		if (*wanted)
			wanted++;
	}
}

static void assert_date(const uint8_t *at, const struct date *wanted)
{
	assert_int_equal(etw_load16(at), 0); /* comes again each year */
	assert_int_equal(etw_load16(at + 2), wanted->month);
	assert_int_equal(etw_load16(at + 4), wanted->weekday);
	assert_int_equal(etw_load16(at + 6), wanted->day);
	assert_int_equal(etw_load16(at + 8), wanted->hour);
	assert_int_equal(etw_load16(at + 10), wanted->minute);
	assert_int_equal(etw_load32(at + 12), 0);
}

static void write_zone(const char *rule, uint8_t *to)
{
	assert_int_equal(setenv("TZ", rule, 1), 0);
	memset(to, 0x5A, ETW_TIME_ZONE_BYTES + 4);
	etw_time_zone_write(MID_2026, to);
	assert_int_equal(etw_load32(to + ETW_TIME_ZONE_BYTES), 0x5A5A5A5A);
}

static void test_time_zone__rules(void **state)
{
	uint8_t zone[ETW_TIME_ZONE_BYTES + 4];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct zone_case *one = &cases[i];

		print_message("%s\n", one->rule);
		write_zone(one->rule, zone);
		assert_int_equal((int32_t)etw_load32(zone), one->bias);
		assert_name(zone + 0x04, one->standard);
		assert_date(zone + 0x44, &one->to_standard);
		assert_int_equal(etw_load32(zone + 0x54), 0);
		assert_name(zone + 0x58, one->daylight);
		assert_date(zone + 0x98, &one->to_daylight);
		assert_int_equal((int32_t)etw_load32(zone + 0xA8), one->daylight_bias);
	}
}

static void test_time_zone__without_changes(void **state)
{
	static const uint8_t no_date[16];
	uint8_t zone[ETW_TIME_ZONE_BYTES + 4];

	(void)state;
	write_zone("XYZ-5:45", zone);
	assert_int_equal((int32_t)etw_load32(zone), -345);
	assert_name(zone + 0x04, "XYZ");
	assert_memory_equal(zone + 0x44, no_date, sizeof(no_date));
	assert_name(zone + 0x58, "XYZ");
	assert_memory_equal(zone + 0x98, no_date, sizeof(no_date));
	assert_int_equal(etw_load32(zone + 0xA8), 0);
	write_zone("UTC0", zone);
	assert_int_equal(etw_load32(zone), 0);
	assert_name(zone + 0x04, "UTC");
}

static void test_time_zone__long_names_are_cut(void **state)
{
	uint8_t zone[ETW_TIME_ZONE_BYTES + 4];

	(void)state;
	write_zone("<ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789>3", zone);
	assert_name(zone + 0x04, "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_zone__rules),
		cmocka_unit_test(test_time_zone__without_changes),
		cmocka_unit_test(test_time_zone__long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
