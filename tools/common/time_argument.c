/* SPDX-License-Identifier: MIT */
#include "tools/common/time_argument.h"

#include <ctype.h>

#include "base/time.h"

#define SECONDS_MAX INT64_C(900000000000) /* nearly the range of FILETIME */

/* "12.3456789" seconds as 100 ns; digits beyond the seventh are dropped. */
static bool parse_seconds(const char *string, int64_t *ret)
{
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
	if (*string == 's')
		string++;
	*ret = value;
	return !*string;
}

bool etw_time_argument_parse(const char *string, struct etw_time_argument *ret)
{
	bool is_relative = *string == '+';
	int64_t value;

	if (is_relative) {
		if (!parse_seconds(string + 1, &value))
			return false;
	} else if (etw_filetime_parse(string, &value) < 0) {
		if (!parse_seconds(string, &value))
			return false;
		is_relative = true;
	}
	*ret = (struct etw_time_argument){true, is_relative, value};
	return true;
}

int64_t etw_time_argument_resolve(const struct etw_time_argument *time, int64_t start_ft,
				  int64_t fallback)
{
	int64_t sum;

	if (!time->is_given)
		return fallback;
	if (!time->is_relative)
		return time->value_ft;
	return __builtin_add_overflow(start_ft, time->value_ft, &sum) ? INT64_MAX : sum;
}
