/* SPDX-License-Identifier: MIT */
/* What the fields of an event are worth in C's types; etw/fields.h says how they are converted. Private. */
#ifndef ETW_API_FRIENDLY_VALUE_H
#define ETW_API_FRIENDLY_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "api/friendly/friendly.h"
#include "api/friendly/path.h"

/* One of the two; a caller may have lost both, which is no path. */
struct etw_where {
	const char *path;
	struct libetw_field *field;
};

/* Each returns as etw/fields.h says. */
int etw_value_unsigned(struct libetw_event *event, const struct etw_where *where, uint64_t max,
		       uint64_t *ret);
int etw_value_signed(struct libetw_event *event, const struct etw_where *where, int64_t min,
		     int64_t max, int64_t *ret);
int etw_value_bool(struct libetw_event *event, const struct etw_where *where, int *ret);
int etw_value_double(struct libetw_event *event, const struct etw_where *where, double *ret);
int etw_value_guid(struct libetw_event *event, const struct etw_where *where, GUID *ret);
int etw_value_filetime(struct libetw_event *event, const struct etw_where *where, int64_t *ret);
int etw_value_time_ns(struct libetw_event *event, const struct etw_where *where, int64_t *ret);
int etw_value_string(struct libetw_event *event, const struct etw_where *where, const char **ret,
		     size_t *ret_bytes);
int etw_value_sid(struct libetw_event *event, const struct etw_where *where, const char **ret,
		  size_t *ret_bytes);
int etw_value_text(struct libetw_event *event, const struct etw_where *where, const char **ret,
		   size_t *ret_bytes);
int etw_value_bytes(struct libetw_event *event, const struct etw_where *where, const void **ret,
		    size_t *ret_bytes);
int etw_value_count(struct libetw_event *event, const struct etw_where *where, size_t *ret);

#endif
