/* SPDX-License-Identifier: MIT */
#include "api/friendly/times.h"

#include <errno.h>

#include "base/time.h"

int etw_time_ns_of_filetime(int64_t filetime, int64_t *ret)
{
	int64_t since_1970, ns;

	if (__builtin_sub_overflow(filetime, ETW_FILETIME_UNIX_EPOCH, &since_1970) ||
	    __builtin_mul_overflow(since_1970, (int64_t)ETW_NS_PER_FT, &ns))
		return -ERANGE;
	*ret = ns;
	return 0;
}
