/* SPDX-License-Identifier: MIT */
/* libetw_provider_id() of TraceLoggingProvider.h: in the provider's library, since programs that write use nothing else. */
#include <TraceLoggingProvider.h>

#include <errno.h>

#include "base/guid_name.h"

int libetw_provider_id(const char *name, GUID *ret)
{
	if (!name || !ret)
		return -EINVAL;
	return etw_guid_of_name(name, ret);
}
