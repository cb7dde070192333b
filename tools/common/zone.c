/* SPDX-License-Identifier: MIT */
#include "tools/common/zone.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/time.h"

#define STANDARD_DATE 68
#define STANDARD_BIAS 84
#define DAYLIGHT_DATE 152
#define DAYLIGHT_BIAS 168

#define PER_MINUTE (60 * ETW_FILETIME_PER_SECOND)
#define PER_DAY    (24 * 60 * PER_MINUTE)
#define LAST_WEEK  5 /* of a rule's wDay: the last such weekday of the month */

/* The start of a day in FILETIME; the first of a month may be that of the next year's January. */
static bool find_day(int32_t year, unsigned month, unsigned day, int64_t *ret)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%04d-%02u-%02uT00:00:00Z", year + (month > 12),
		       month > 12 ? 1 : month, day);
	return etw_filetime_parse(text, ret) >= 0;
}

/*
 * A SYSTEMTIME of the zone as local time: a date when it has a year, otherwise the n-th weekday of a
 * month, every year. Returns false when there is no such rule.
 */
static bool find_change(const uint8_t *rule, int32_t year, int64_t *ret)
{
	unsigned month = etw_load16(rule + 2), weekday = etw_load16(rule + 4);
	unsigned day = etw_load16(rule + 6);
	int64_t first, next, at;

	if (!month || month > 12 || !day || day > 31)
		return false;
	if (etw_load16(rule)) {
		if (!find_day(etw_load16(rule), month, day, &at))
			return false;
	} else {
		if (weekday > 6 || day > LAST_WEEK || !find_day(year, month, 1, &first) ||
		    !find_day(year, month + 1, 1, &next))
			return false;
		/* 1601-01-01 was a Monday, which is day 1 of a week. */
		at = first + (weekday + 7 - (first / PER_DAY + 1) % 7) % 7 * PER_DAY +
		     (int64_t)(day - 1) * 7 * PER_DAY;
		while (at >= next)
			at -= 7 * PER_DAY;
	}
	*ret = at + (etw_load16(rule + 8) * 60 + etw_load16(rule + 10)) * PER_MINUTE;
	return true;
}

static int32_t load_bias(const uint8_t *at)
{
	int32_t bias = (int32_t)etw_load32(at);

	return bias >= -24 * 60 && bias <= 24 * 60 ? bias : 0;
}

int32_t etw_zone_bias(const uint8_t *zone, int64_t time_ft, bool *ret_daylight)
{
	int32_t bias = load_bias(zone);
	int32_t standard = bias + load_bias(zone + STANDARD_BIAS);
	int32_t summer = bias + load_bias(zone + DAYLIGHT_BIAS);
	int64_t to_daylight, to_standard;
	struct etw_date date;

	*ret_daylight = false;
	if (time_ft < PER_DAY * 2 || time_ft > INT64_MAX - PER_DAY * 2 ||
	    !etw_date_of_filetime(time_ft - standard * PER_MINUTE, &date))
		return bias;
	if (!find_change(zone + DAYLIGHT_DATE, date.year, &to_daylight) ||
	    !find_change(zone + STANDARD_DATE, date.year, &to_standard))
		return bias;
	/* Each change is written in the time that ends with it. */
	to_daylight += standard * PER_MINUTE;
	to_standard += summer * PER_MINUTE;
	if (to_daylight < to_standard)
		*ret_daylight = time_ft >= to_daylight && time_ft < to_standard;
	else
		*ret_daylight = time_ft >= to_daylight || time_ft < to_standard;
	return *ret_daylight ? summer : standard;
}
