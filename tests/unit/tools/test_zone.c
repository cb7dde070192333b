/* SPDX-License-Identifier: MIT */
/* The zone in force: both hemispheres, the hours around a change, zones without daylight time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/time.h"
#include "tools/common/zone.h"

struct zone_row {
	const char *time;
	int32_t bias;
	bool is_daylight;
};

static void put16(uint8_t *at, const uint16_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		at[2 * i] = (uint8_t)values[i];
		at[2 * i + 1] = (uint8_t)(values[i] >> 8);
	}
}

static void put32(uint8_t *at, int32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)((uint32_t)value >> (8 * i));
}

static void expect(const uint8_t *zone, const struct zone_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_daylight;
		int64_t time;

		assert_true(etw_filetime_parse(rows[i].time, &time) >= 0);
		assert_int_equal(etw_zone_bias(zone, time, &is_daylight), rows[i].bias);
		assert_int_equal(is_daylight, rows[i].is_daylight);
	}
}

static void make(uint8_t zone[172], int32_t bias, const uint16_t to_standard[8],
		 const uint16_t to_daylight[8])
{
	memset(zone, 0, 172);
	put32(zone, bias);
	put32(zone + 168, -60);
	put16(zone + 68, to_standard, 8);
	put16(zone + 152, to_daylight, 8);
}

/* Second Sunday of March and first of November, at two. */
static void test_zone__pacific(void **state)
{
	static const uint16_t november[8] = {0, 11, 0, 1, 2}, march[8] = {0, 3, 0, 2, 2};
	static const struct zone_row rows[] = {
		{"2020-07-29T00:06:19Z", 420, true},  {"2020-01-15T00:00:00Z", 480, false},
		{"2020-03-08T09:59:59Z", 480, false}, {"2020-03-08T10:00:00Z", 420, true},
		{"2020-11-01T08:59:59Z", 420, true},  {"2020-11-01T09:00:00Z", 480, false},
		{"2021-01-01T03:00:00Z", 480, false},
	};
	uint8_t zone[172];

	(void)state;
	make(zone, 480, november, march);
	expect(zone, rows, ARRAY_SIZE(rows));
}

/* First Sunday of April, last one of September: daylight time is around the new year. */
static void test_zone__southern(void **state)
{
	static const uint16_t april[8] = {0, 4, 0, 1, 3}, september[8] = {0, 9, 0, 5, 2};
	static const struct zone_row rows[] = {
		{"2020-01-15T00:00:00Z", -780, true},  {"2020-07-15T00:00:00Z", -720, false},
		{"2020-09-26T13:59:59Z", -720, false}, {"2020-09-26T14:00:00Z", -780, true},
		{"2020-04-04T14:00:00Z", -720, false}, {"2020-04-04T13:59:59Z", -780, true},
	};
	uint8_t zone[172];

	(void)state;
	make(zone, -720, april, september);
	expect(zone, rows, ARRAY_SIZE(rows));
}

static void test_zone__dates_and_nothing(void **state)
{
	static const uint16_t none[8] = {0}, wild[8] = {0, 13, 9, 99, 99};
	static const uint16_t autumn[8] = {2007, 10, 0, 28, 3}, spring[8] = {2007, 3, 0, 25, 2};
	static const struct zone_row plain[] = {{"2020-07-29T00:06:19Z", -60, false}};
	static const struct zone_row dated[] = {{"2007-07-29T00:00:00Z", -120, true},
						{"2007-12-29T00:00:00Z", -60, false}};
	uint8_t zone[172];
	bool is_daylight;

	(void)state;
	make(zone, -60, none, none);
	expect(zone, plain, ARRAY_SIZE(plain));
	make(zone, -60, wild, wild);
	expect(zone, plain, ARRAY_SIZE(plain));
	assert_int_equal(etw_zone_bias(zone, INT64_MAX, &is_daylight), -60);
	assert_int_equal(etw_zone_bias(zone, INT64_MIN, &is_daylight), -60);
	make(zone, -60, autumn, spring);
	expect(zone, dated, ARRAY_SIZE(dated));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zone__pacific),
		cmocka_unit_test(test_zone__southern),
		cmocka_unit_test(test_zone__dates_and_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
