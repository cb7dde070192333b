/* SPDX-License-Identifier: MIT */
/* The handle of etw/fields.h: a path that knows where it leads. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_PATH_H
#define ETW_API_FRIENDLY_PATH_H

#include "decode/path.h"

struct libetw_field {
	char *path; /* owned */
	struct etw_path_cache cache;
};

/* etw_friendly_check_path() - whether it may be one: 0, or -EINVAL, told. */
int etw_friendly_check_path(const char *path);

#endif
