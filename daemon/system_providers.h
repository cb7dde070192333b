/* SPDX-License-Identifier: MIT */
/*
 * Enabling the kernel as providers (wire/system_providers.h): what their keywords stand for goes into what the session wants
 * of the kernel, in the place of what the provider's were before.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_SYSTEM_PROVIDERS_H
#define ETW_DAEMON_SYSTEM_PROVIDERS_H

#include "daemon/session_end.h"

/*
 * etwd_system_provider_enable() - answers with REPLY, at once or when it is done.
 *
 * -EINVAL: the session is no system logger; -EOPNOTSUPP: properties, filters, and to capture a state; else as
 * etwd_enable_provider().
 */
void etwd_system_provider_enable(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				 const struct wire_enable_provider *body, uint32_t request);

#endif
