/* SPDX-License-Identifier: MIT */
#include "api/provider/private_calls.h"

#include <errno.h>
#include <stdbool.h>

#include "api/provider/copies.h"
#include "private/private.h"

#define EXPORTED __attribute__((visibility("default")))

/*
 * The first copy has the registrations, and so the sessions. One of another version takes none of this copy's structs: it
 * has no session that could be meant here, and none can be started.
 */
static bool has_sessions(void)
{
	return !etw_copy_is_strange() &&
	       (!etw_first_copy || etw_first_copy->protocol_version == WIRE_PROTOCOL_VERSION);
}

EXPORTED int etw_provider_private_start(const struct wire_session_config *config,
					struct wire_session_info *ret)
{
	if (!has_sessions())
		return -EOPNOTSUPP;
	return etw_first_copy ? etw_first_copy->private_start(config, ret)
			      : etw_private_start(config, ret);
}

EXPORTED int etw_provider_private_control(const struct wire_control *control,
					  struct wire_session_info *ret)
{
	if (!has_sessions())
		return -ENOENT;
	return etw_first_copy ? etw_first_copy->private_control(control, ret)
			      : etw_private_control(control, ret);
}

EXPORTED int etw_provider_private_find(const char *name, GUID *ret)
{
	if (!has_sessions())
		return -ENOENT;
	return etw_first_copy ? etw_first_copy->private_find(name, ret)
			      : etw_private_find(name, ret);
}

EXPORTED int etw_provider_private_enable(const struct wire_enable_provider *enable)
{
	if (!has_sessions())
		return -ENOENT;
	return etw_first_copy ? etw_first_copy->private_enable(enable) : etw_private_enable(enable);
}
