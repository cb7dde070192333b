/* SPDX-License-Identifier: MIT */
/* Points in time as people type them. */
#ifndef ETW_TOOLS_COMMON_TIME_ARGUMENT_H
#define ETW_TOOLS_COMMON_TIME_ARGUMENT_H

#include <stdbool.h>
#include <stdint.h>

struct etw_time_argument {
	bool is_given;
	bool is_relative; /* to the start of the trace */
	int64_t value_ft; /* FILETIME, or 100 ns since the start */
};

/*
 * etw_time_argument_parse() - "2011-01-23T22:06:37.5Z", or "+1.5" or "1.5": seconds from the start.
 *
 * Returns whether @string is one of them; @ret is untouched otherwise.
 */
bool etw_time_argument_parse(const char *string, struct etw_time_argument *ret);

/* etw_time_argument_resolve() - as FILETIME; @fallback when nothing was given. Saturates. */
int64_t etw_time_argument_resolve(const struct etw_time_argument *time, int64_t start_ft,
				  int64_t fallback);

#endif
