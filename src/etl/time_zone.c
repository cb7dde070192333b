/* SPDX-License-Identifier: MIT */
/*
 * The C library does not give its rules away, so they are found by asking it for the local time over the year:
 * every change of the offset is a transition, and the years after tell whether the fourth Sunday of a month is
 * meant or the last.
 */
#include "etl/time_zone.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/macros.h"

#define DAY_SECONDS        86400
#define STEP_SECONDS       (DAY_SECONDS / 2) /* no zone changes twice within one */
#define NAME_UNITS         32                /* with the NUL */
#define LAST_WEEK          5                 /* wDay of a recurring date: the last such weekday */
#define YEARS_AHEAD        12 /* a month's fourth and last Sunday differ within these */
#define TRANSITIONS_A_YEAR 2

struct wire_system_time {
	le16 year; /* 0: the date comes again each year */
	le16 month, weekday;
	le16 day; /* then 1 to 5: which such weekday of the month */
	le16 hour, minute, second, milliseconds;
};
static_assert(sizeof(struct wire_system_time) == 16, "layout");

struct wire_time_zone {
	le32 bias; /* minutes: UTC = local + bias + the other bias */
	le16 standard_name[NAME_UNITS];
	struct wire_system_time standard_date; /* when standard time begins, in daylight time */
	le32 standard_bias;
	le16 daylight_name[NAME_UNITS];
	struct wire_system_time daylight_date; /* when daylight time begins, in standard time */
	le32 daylight_bias;
};
static_assert(sizeof(struct wire_time_zone) == ETW_TIME_ZONE_BYTES, "layout");

/* A change of the offset. */
struct transition {
	struct tm before; /* the local time it would be then without the change */
	struct tm after;
};

static struct tm local_time(int64_t unix_time)
{
	time_t time = (time_t)unix_time;
	struct tm result = {0};

	(void)localtime_r(&time, &result);
	return result;
}

static bool is_same_rule(const struct tm *one, const struct tm *other)
{
	return one->tm_gmtoff == other->tm_gmtoff && !one->tm_isdst == !other->tm_isdst;
}

static int64_t year_start(int year)
{
	struct tm first = {.tm_year = year - 1900, .tm_mday = 1};

	return timegm(&first);
}

/* @from and @to have different offsets. */
static struct transition find_between(int64_t from, int64_t to)
{
	struct tm old = local_time(from);
	struct transition result;
	time_t would_be;

	while (to - from > 1) {
		int64_t middle = from + (to - from) / 2;
		struct tm there = local_time(middle);

		if (is_same_rule(&there, &old))
			from = middle;
		else
			to = middle;
	}
	would_be = (time_t)(to + old.tm_gmtoff);
	(void)gmtime_r(&would_be, &result.before);
	result.before.tm_gmtoff = old.tm_gmtoff;
	result.before.tm_isdst = old.tm_isdst;
	result.before.tm_zone = old.tm_zone;
	result.after = local_time(to);
	return result;
}

/* Returns how many there are, of which the first TRANSITIONS_A_YEAR are found. */
static unsigned find_transitions(int year, struct transition *found)
{
	int64_t end = year_start(year + 1);
	unsigned count = 0;

	for (int64_t at = year_start(year); at < end; at += STEP_SECONDS) {
		int64_t next = at + STEP_SECONDS < end ? at + STEP_SECONDS : end;
		struct tm one = local_time(at), other = local_time(next);

		if (is_same_rule(&one, &other))
			continue;
		if (count < TRANSITIONS_A_YEAR)
			found[count] = find_between(at, next);
		count++;
	}
	return count;
}

static int week_of(const struct tm *date)
{
	return (date->tm_mday - 1) / 7 + 1;
}

static int month_days(const struct tm *date)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = date->tm_year + 1900;
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[date->tm_mon] + (is_leap && date->tm_mon == 1);
}

/*
 * A fourth weekday that is the last too is taken for the last, unless a year to come shows the same
 * transition on the fourth of five.
 */
static int recurring_week(const struct tm *date, unsigned index)
{
	int year = date->tm_year + 1900;

	if (date->tm_mday + 7 <= month_days(date))
		return week_of(date);
	for (int i = 1; i <= YEARS_AHEAD; i++) {
		struct transition found[TRANSITIONS_A_YEAR];
		const struct tm *there = &found[index].before;

		if (find_transitions(year + i, found) != TRANSITIONS_A_YEAR ||
		    there->tm_mon != date->tm_mon || there->tm_wday != date->tm_wday)
			break;
		if (there->tm_mday + 7 <= month_days(there))
			return week_of(date);
	}
	return LAST_WEEK;
}

static struct wire_system_time recurring_date(const struct transition *transition, unsigned index)
{
	const struct tm *date = &transition->before;

	return (struct wire_system_time){
		.month = le16_of((uint16_t)(date->tm_mon + 1)),
		.weekday = le16_of((uint16_t)date->tm_wday),
		.day = le16_of((uint16_t)recurring_week(date, index)),
		.hour = le16_of((uint16_t)date->tm_hour),
		.minute = le16_of((uint16_t)date->tm_min),
		.second = le16_of((uint16_t)date->tm_sec),
	};
}

static void put_name(const char *name, le16 *to)
{
	for (unsigned i = 0; name && name[i] && i + 1 < NAME_UNITS; i++)
		to[i] = le16_of((uint16_t)(unsigned char)name[i]);
}

static le32 minutes_of(long seconds)
{
	return le32_of((uint32_t)(int32_t)(seconds / 60));
}

static void put_changing(const struct transition *found, struct wire_time_zone *zone)
{
	unsigned to_daylight = found[0].after.tm_isdst > 0 ? 0 : 1;
	const struct transition *into_daylight = &found[to_daylight];
	const struct transition *into_standard = &found[!to_daylight];
	long standard_offset = into_standard->after.tm_gmtoff;

	zone->bias = minutes_of(-standard_offset);
	zone->daylight_bias = minutes_of(standard_offset - into_daylight->after.tm_gmtoff);
	zone->standard_date = recurring_date(into_standard, !to_daylight);
	zone->daylight_date = recurring_date(into_daylight, to_daylight);
	put_name(into_standard->after.tm_zone, zone->standard_name);
	put_name(into_daylight->after.tm_zone, zone->daylight_name);
}

void etw_time_zone_write(int64_t now_unix, uint8_t to[ETW_TIME_ZONE_BYTES])
{
	struct wire_time_zone zone = {0};
	struct transition found[TRANSITIONS_A_YEAR];
	struct tm now;

	tzset();
	now = local_time(now_unix);
	if (find_transitions(now.tm_year + 1900, found) == TRANSITIONS_A_YEAR &&
	    !found[0].after.tm_isdst != !found[1].after.tm_isdst) {
		put_changing(found, &zone);
	} else {
		zone.bias = minutes_of(-now.tm_gmtoff);
		put_name(now.tm_zone, zone.standard_name);
		put_name(now.tm_zone, zone.daylight_name);
	}
	memcpy(to, &zone, sizeof(zone));
}
