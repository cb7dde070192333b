/* SPDX-License-Identifier: MIT */
#include "tools/common/time_argument.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/time.h"

#define SECONDS_MAX  INT64_C(900000000000) /* nearly the range of FILETIME */
#define MINUTE       (60 * ETW_FILETIME_PER_SECOND)
#define DAY          (24 * 60 * MINUTE)
#define ARGUMENT_MAX 64
#define EAST_MAX     (24 * 60)

/* "12.3456789" as 100 ns of the unit behind it; digits beyond the seventh are dropped. */
static bool parse_distance(const char *string, int64_t *ret)
{
	static const struct {
		const char *name;
		int64_t multiple, part; /* of a second */
	} units[] = {
		{"", 1, 1},         {"s", 1, 1},    {"ms", 1, 1000},
		{"us", 1, 1000000}, {"min", 60, 1}, {"h", 3600, 1},
	};
	int64_t value = 0;
	int digits = 0;

	if (!isdigit((unsigned char)*string))
		return false;
	for (; isdigit((unsigned char)*string); string++) {
		value = value * 10 + (*string - '0');
		if (value > SECONDS_MAX)
			return false;
	}
	value *= ETW_FILETIME_PER_SECOND;
	if (*string == '.') {
		int64_t unit = ETW_FILETIME_PER_SECOND / 10;

		for (string++; isdigit((unsigned char)*string); string++, unit /= 10, digits++)
			value += unit * (*string - '0');
		if (!digits)
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(string, units[i].name))
			return !__builtin_mul_overflow(value / units[i].part, units[i].multiple,
						       ret);
	}
	return false;
}

static bool read_two(const char *at, int32_t limit, int32_t *ret)
{
	if (!isdigit((unsigned char)at[0]) || !isdigit((unsigned char)at[1]))
		return false;
	*ret = (at[0] - '0') * 10 + (at[1] - '0');
	return *ret <= limit;
}

/* "+02:00", "-0730", "+02": the offset that @at begins with. */
static bool parse_offset(const char *at, int32_t *ret)
{
	int32_t hours, minutes = 0;
	const char *rest = at + 3;

	if (!read_two(at + 1, 23, &hours))
		return false;
	rest += *rest == ':';
	if (*rest && (!read_two(rest, 59, &minutes) || rest[2]))
		return false;
	if (!*rest && rest != at + 3)
		return false;
	*ret = (*at == '-' ? -1 : 1) * (hours * 60 + minutes);
	return true;
}

/* Cuts a zone off the end of a time of day. Returns false when there is one that is none. */
static bool take_zone(char *time_of_day, struct etw_time_argument *time)
{
	size_t bytes = strlen(time_of_day);
	char *sign = strpbrk(time_of_day, "+-");

	if (sign) {
		if (!parse_offset(sign, &time->east_minutes))
			return false;
		time->has_zone = true;
		*sign = '\0';
	} else if (bytes && time_of_day[bytes - 1] == 'Z') {
		time->has_zone = true;
		time_of_day[bytes - 1] = '\0';
	}
	return true;
}

static bool is_clock(const char *string)
{
	return isdigit((unsigned char)string[0]) && isdigit((unsigned char)string[1]) &&
	       string[2] == ':';
}

/* The time of day of a date of its own, for etw_filetime_parse(). */
static bool parse_clock(const char *string, struct etw_time_argument *time)
{
	char text[ARGUMENT_MAX + 32];
	int64_t value, day;
	int bytes = snprintf(text, sizeof(text), "2000-01-01T%s", string);

	if (bytes < 0 || (size_t)bytes >= sizeof(text) || !take_zone(text + 11, time))
		return false;
	/* Seconds may be missing. */
	if (strlen(text) == strlen("2000-01-01T22:06"))
		strcat(text, ":00");
	if (etw_filetime_parse(text, &value) < 0 || etw_filetime_parse("2000-01-01", &day) < 0)
		return false;
	time->kind = ETW_TIME_CLOCK;
	time->value_ft = value - day;
	return true;
}

static bool parse_date(const char *string, struct etw_time_argument *time)
{
	char text[ARGUMENT_MAX + 8];
	size_t bytes = strlen(string);
	char *of_day;

	if (bytes > ARGUMENT_MAX)
		return false;
	memcpy(text, string, bytes + 1);
	of_day = strpbrk(text, "T ");
	if (of_day && !take_zone(of_day + 1, time))
		return false;
	if (of_day && strlen(of_day + 1) == strlen("22:06"))
		strcat(text, ":00");
	time->kind = ETW_TIME_DATE;
	return etw_filetime_parse(text, &time->value_ft) >= 0;
}

bool etw_time_argument_parse(const char *string, struct etw_time_argument *ret)
{
	struct etw_time_argument time = {.is_given = true, .kind = ETW_TIME_RELATIVE};
	bool is_good;

	if (*string == '+')
		is_good = parse_distance(string + 1, &time.value_ft);
	else if (is_clock(string))
		is_good = parse_clock(string, &time);
	else
		is_good = parse_distance(string, &time.value_ft) || parse_date(string, &time);
	if (is_good)
		*ret = time;
	return is_good;
}

static int64_t add(int64_t left, int64_t right)
{
	int64_t sum;

	if (!__builtin_add_overflow(left, right, &sum))
		return sum;
	return right < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t to_utc(const struct etw_time_argument *time, const struct etw_time_context *context,
		      int64_t wall_ft)
{
	if (time->has_zone)
		return add(wall_ft, -time->east_minutes * MINUTE);
	return context->local ? etw_local_time_to_utc(context->local, wall_ft) : wall_ft;
}

static int64_t to_wall(const struct etw_time_argument *time, const struct etw_time_context *context)
{
	int32_t east = time->has_zone   ? time->east_minutes
		       : context->local ? etw_local_time_east(context->local, context->start_ft)
					: 0;

	return add(context->start_ft, east * MINUTE);
}

static int64_t find_day(const struct etw_time_argument *time,
			const struct etw_time_context *context)
{
	const int64_t wall = to_wall(time, context), midnight = wall - wall % DAY;
	int64_t nearest = INT64_MAX, nearest_apart = INT64_MAX;

	for (int days = -1; days <= 1; days++) {
		int64_t at = to_utc(time, context, add(add(midnight, days * DAY), time->value_ft));
		int64_t apart = etw_filetime_between(context->start_ft, at);

		if (at >= context->start_ft && at <= context->end_ft)
			return at;
		if (apart < 0)
			apart = apart == INT64_MIN ? INT64_MAX : -apart;
		if (apart < nearest_apart) {
			nearest = at;
			nearest_apart = apart;
		}
	}
	return nearest;
}

int64_t etw_time_argument_resolve(const struct etw_time_argument *time,
				  const struct etw_time_context *context, int64_t fallback)
{
	if (!time->is_given)
		return fallback;
	switch (time->kind) {
	case ETW_TIME_RELATIVE:
		return add(context->start_ft, time->value_ft);
	case ETW_TIME_CLOCK:
		return find_day(time, context);
	default:
		return to_utc(time, context, time->value_ft);
	}
}
