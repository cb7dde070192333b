/* SPDX-License-Identifier: MIT */
/* etw/schemas.h: how the functions of tdh.h use the table of known providers. */
#include <errno.h>
#include <etw/schemas.h>

#include "api/friendly/error.h"
#include "api/tdh/lock.h"

int libetw_tdh_use_known(uint32_t use)
{
	if (use > LIBETW_TDH_KNOWN_OFF)
		return etw_friendly_fail(-EINVAL, "known providers have no use %u", use);
	return etw_tdh_use_known(use);
}
