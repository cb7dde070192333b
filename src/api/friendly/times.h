/* SPDX-License-Identifier: MIT */
/* Times in this layer's unit. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_TIMES_H
#define ETW_API_FRIENDLY_TIMES_H

#include <stdint.h>

/* etw_time_ns_of_filetime() - ns since 1970; -ERANGE where 64 bits do not reach. */
int etw_time_ns_of_filetime(int64_t filetime, int64_t *ret);

#endif
