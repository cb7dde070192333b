/* SPDX-License-Identifier: MIT */
#include "api/provider/private_calls.h"

#include "private/private.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int etw_provider_private_start(const struct wire_session_config *config,
					struct wire_session_info *ret)
{
	return etw_private_start(config, ret);
}

EXPORTED int etw_provider_private_control(const struct wire_control *control,
					  struct wire_session_info *ret)
{
	return etw_private_control(control, ret);
}

EXPORTED int etw_provider_private_find(const char *name, GUID *ret)
{
	return etw_private_find(name, ret);
}

EXPORTED int etw_provider_private_enable(const struct wire_enable_provider *enable)
{
	return etw_private_enable(enable);
}
