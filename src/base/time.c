/* SPDX-License-Identifier: MIT */
#include "base/time.h"

#include <errno.h>
#include <stdlib.h>

#define DAYS_TO_1970   134774 /* from 1601-01-01 */
#define SECONDS_IN_DAY 86400
#define YEAR_MAX       30827 /* of SYSTEMTIME; FILETIME ends within the next one */
#define BEYOND_64_BITS ((__int128)1 << 100)

void etw_clock_init(struct etw_clock *clock, enum etw_clock_type type, int64_t anchor_raw,
		    int64_t anchor_ft, uint64_t frequency, uint32_t mhz)
{
	*clock = (struct etw_clock){.type = type, .ticks = 1, .filetime = 1};
	if (type == ETW_CLOCK_SYSTEM)
		return;
	clock->anchor_raw = anchor_raw;
	clock->anchor_ft = anchor_ft;
	if (type == ETW_CLOCK_CYCLE) {
		clock->ticks = mhz ? mhz : 1;
		clock->filetime = 10;
	} else if (frequency && frequency != (uint64_t)ETW_FILETIME_PER_SECOND) {
		clock->ticks = frequency;
		clock->filetime = (uint64_t)ETW_FILETIME_PER_SECOND;
	}
	/* Up to here the product of a rest below `ticks` and `filetime` stays within 64 bits. */
	if (clock->ticks > 1 && clock->ticks <= UINT32_MAX)
		clock->inverse = (uint64_t)(((unsigned __int128)1 << 64) / clock->ticks);
}

static int64_t saturate(__int128 value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	if (value < INT64_MIN)
		return INT64_MIN;
	return (int64_t)value;
}

/*
 * @value * @multiplier / @divisor, rounded down; the divisor is positive. Where the product is too large the
 * divisor is at most ETW_FILETIME_PER_SECOND, and hence the quotient is beyond any 64 bits too.
 */
static __int128 scale_down(__int128 value, uint64_t multiplier, uint64_t divisor)
{
	__int128 product, quotient;

	if (__builtin_mul_overflow(value, (__int128)multiplier, &product))
		return value < 0 ? -BEYOND_64_BITS : BEYOND_64_BITS;
	quotient = product / divisor;
	return quotient - (product % divisor < 0);
}

/* The quotient by multiplication: a division would be most of what an event's time costs. */
static inline uint64_t divide(const struct etw_clock *clock, uint64_t value, uint64_t *ret_rest)
{
	uint64_t quotient = (uint64_t)(((unsigned __int128)value * clock->inverse) >> 64);
	uint64_t rest = value - quotient * clock->ticks;

	/* The inverse is too small by less than one part in 2^64, the quotient hence by one at most. */
	if (rest >= clock->ticks) {
		rest -= clock->ticks;
		quotient++;
	}
	*ret_rest = rest;
	return quotient;
}

int64_t etw_clock_scale(const struct etw_clock *clock, int64_t raw)
{
	__int128 delta = (__int128)raw - clock->anchor_raw;

	if (clock->ticks == clock->filetime)
		return saturate(clock->anchor_ft + delta);
	if (delta >= 0 && delta <= INT64_MAX && clock->inverse) {
		/* The same quotient in 64-bit steps, which is what nearly every event takes. */
		uint64_t rest, unused;
		uint64_t whole = divide(clock, (uint64_t)delta, &rest);

		if (whole < UINT64_C(1) << 36)
			return saturate((__int128)clock->anchor_ft +
					(__int128)(whole * clock->filetime +
						   divide(clock, rest * clock->filetime, &unused)));
	}
	return saturate(clock->anchor_ft + scale_down(delta, clock->filetime, clock->ticks));
}

int64_t etw_clock_from_filetime(const struct etw_clock *clock, int64_t filetime)
{
	__int128 delta = (__int128)filetime - clock->anchor_ft;

	if (clock->ticks == clock->filetime)
		return saturate(clock->anchor_raw + delta);
	/* The ceiling is the negated floor of the negated value. */
	return saturate(clock->anchor_raw - scale_down(-delta, clock->ticks, clock->filetime));
}

/* Days since 1601-01-01 of a Gregorian date; 1601 begins a 400-year cycle. */
static int64_t days_of_date(int64_t year, int month, int day)
{
	static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	int64_t since = year - 1601;
	int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return since * 365 + since / 4 - since / 100 + since / 400 + before[month - 1] +
	       (month > 2 && is_leap) + day - 1;
}

static int days_in_month(int year, int month)
{
	static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && is_leap);
}

bool etw_filetime_of_date(const struct etw_date *date, int64_t *ret)
{
	int64_t seconds;

	if (date->year < 1601 || date->year > YEAR_MAX || date->month < 1 || date->month > 12 ||
	    date->day < 1 || date->day > days_in_month(date->year, date->month) ||
	    date->hour > 23 || date->minute > 59 || date->second > 59 ||
	    date->ticks >= ETW_FILETIME_PER_SECOND)
		return false;
	seconds = days_of_date(date->year, date->month, date->day) * SECONDS_IN_DAY +
		  date->hour * 3600 + date->minute * 60 + date->second;
	*ret = seconds * ETW_FILETIME_PER_SECOND + date->ticks;
	return true;
}

bool etw_date_of_filetime(int64_t filetime, struct etw_date *ret)
{
	if (filetime < 0)
		return false;

	int64_t seconds = filetime / ETW_FILETIME_PER_SECOND;
	int64_t days = seconds / SECONDS_IN_DAY;
	int of_day = (int)(seconds % SECONDS_IN_DAY);

	/* Civil-from-days with the year beginning in March, so that the leap day comes last. */
	int64_t shifted = days - DAYS_TO_1970 + 719468;
	int64_t era = shifted / 146097;
	int64_t day_of_era = shifted % 146097;
	int64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era -
			      (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t shifted_month = (5 * day_of_year + 2) / 153;
	int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;

	ret->year = (int32_t)(year_of_era + era * 400 + (month <= 2));
	ret->month = (uint8_t)month;
	ret->day = (uint8_t)(day_of_year - (153 * shifted_month + 2) / 5 + 1);
	ret->hour = (uint8_t)(of_day / 3600);
	ret->minute = (uint8_t)(of_day / 60 % 60);
	ret->second = (uint8_t)(of_day % 60);
	ret->ticks = (uint32_t)(filetime % ETW_FILETIME_PER_SECOND);
	return true;
}

/* Reads exactly @digits decimal digits; returns -1 when they are not there. */
static int read_number(const char **at, int digits)
{
	int value = 0;

	for (int i = 0; i < digits; i++) {
		if ((*at)[i] < '0' || (*at)[i] > '9')
			return -1;
		value = value * 10 + ((*at)[i] - '0');
	}
	*at += digits;
	return value;
}

static bool skip_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* The fraction behind the decimal point as 100 ns; -1 when there is no digit or more than nine. */
static int64_t read_fraction(const char **at)
{
	int64_t value = 0;
	int digits = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++, digits++) {
		if (digits < 7)
			value = value * 10 + (**at - '0');
	}
	if (!digits || digits > 9)
		return -1;
	for (; digits < 7; digits++)
		value *= 10;
	return value;
}

/* "HH:MM[:SS[.fraction]]" as 100 ns of the day; -1 when malformed. */
static int64_t read_time_of_day(const char **at)
{
	int hour = read_number(at, 2);
	int minute = hour >= 0 && skip_char(at, ':') ? read_number(at, 2) : -1;
	int second = 0;
	int64_t fraction = 0;

	if (minute < 0 || hour > 23 || minute > 59)
		return -1;
	if (skip_char(at, ':')) {
		second = read_number(at, 2);
		if (second < 0 || second > 59)
			return -1;
		if (skip_char(at, '.'))
			fraction = read_fraction(at);
		if (fraction < 0)
			return -1;
	}
	return ((int64_t)hour * 3600 + minute * 60 + second) * ETW_FILETIME_PER_SECOND + fraction;
}

int etw_filetime_parse(const char *text, int64_t *ret)
{
	const char *at = text;
	int year = read_number(&at, 4);
	int month = year >= 1601 && skip_char(&at, '-') ? read_number(&at, 2) : -1;
	int day = month >= 1 && month <= 12 && skip_char(&at, '-') ? read_number(&at, 2) : -1;
	int64_t of_day = 0;

	if (day < 1 || day > days_in_month(year, month))
		return -EINVAL;
	if (skip_char(&at, 'T') || skip_char(&at, ' ')) {
		of_day = read_time_of_day(&at);
		if (of_day < 0)
			return -EINVAL;
	}
	(void)skip_char(&at, 'Z');
	if (*at)
		return -EINVAL;
	*ret = days_of_date(year, month, day) * SECONDS_IN_DAY * ETW_FILETIME_PER_SECOND + of_day;
	return 0;
}
