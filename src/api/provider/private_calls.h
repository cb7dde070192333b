/* SPDX-License-Identifier: MIT */
/*
 * What the controller's half of the API asks of private sessions in this process; see private/private.h. Exported by
 * libetw-provider.so, which has them, for libetw-core.so alone. The copy of the library that has the registrations has the
 * sessions (api/provider/copies.h).
 */
#ifndef ETW_API_PROVIDER_PRIVATE_CALLS_H
#define ETW_API_PROVIDER_PRIVATE_CALLS_H

#include "wire/message.h"

/* etw_provider_private_start() - as etw_private_start(). Also -EOPNOTSUPP: the first copy is of another version. */
int etw_provider_private_start(const struct wire_session_config *config,
			       struct wire_session_info *ret);

/* etw_provider_private_control() - as etw_private_control(). */
int etw_provider_private_control(const struct wire_control *control, struct wire_session_info *ret);

/* etw_provider_private_find() - as etw_private_find(). */
int etw_provider_private_find(const char *name, GUID *ret);

/* etw_provider_private_enable() - as etw_private_enable(). */
int etw_provider_private_enable(const struct wire_enable_provider *enable);

#endif
