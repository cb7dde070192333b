/* SPDX-License-Identifier: MIT */
/* Points in time as people type them. */
#ifndef ETW_TOOLS_COMMON_TIME_ARGUMENT_H
#define ETW_TOOLS_COMMON_TIME_ARGUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/common/local_time.h"

enum etw_time_kind {
	ETW_TIME_RELATIVE, /* 100 ns from the start of the trace */
	ETW_TIME_DATE,     /* a date, with the time of day or without */
	ETW_TIME_CLOCK,    /* a time of day, of a day of the trace */
};

struct etw_time_argument {
	bool is_given;
	bool has_zone; /* else it is one of the zone in which times are shown */
	enum etw_time_kind kind;
	int32_t east_minutes; /* of the zone */
	int64_t value_ft;     /* as the clock shows it; see `kind` */
};

/* What times are relative to. */
struct etw_time_context {
	int64_t start_ft, end_ft;     /* of the trace */
	struct etw_local_time *local; /* of times without a zone; NULL: UTC */
};

/*
 * etw_time_argument_parse() - one of
 *
 *   "2011-01-23T22:06:37.5Z", "2011-01-23 22:06:37+02:00", "2011-01-23": Z and +02:00 may be missing
 *   "22:06:37.5", "22:06", "22:06-07:00"
 *   "+1.5" or "1.5": seconds from the start, also with a unit: "+1.5s", "250ms", "10us", "2min", "1h"
 *
 * Returns whether @string is one of them; @ret is untouched otherwise.
 */
bool etw_time_argument_parse(const char *string, struct etw_time_argument *ret);

/*
 * etw_time_argument_resolve() - as FILETIME; @fallback when nothing was given. Saturates.
 *
 * A time of day is that of the first day on which it is within the trace; of none, the one nearest to its start.
 */
int64_t etw_time_argument_resolve(const struct etw_time_argument *time,
				  const struct etw_time_context *context, int64_t fallback);

#endif
