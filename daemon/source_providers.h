/* SPDX-License-Identifier: MIT */
/*
 * Enabling providers that a source of the host owns (base/source.h): no process registers them, and what is asked of
 * them the session's source gets. Any session may have them; who enables one needs the rights that recording the kernel
 * takes, and the session takes a place of a system logger.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_SOURCE_PROVIDERS_H
#define ETW_DAEMON_SOURCE_PROVIDERS_H

#include "daemon/session_end.h"

/* etwd_source_provider_is() - whether the request is one of these: it names such a provider, and no group. */
bool etwd_source_provider_is(const struct etwd_session_parts *parts,
			     const struct wire_enable_provider *body);

/*
 * etwd_source_provider_enable() - answers with REPLY when it is done; without waiting where it is refused.
 *
 * -EACCES: who asks may not record the kernel; -EUSERS: no place of a system logger is left; what
 * etw_session_check_provider() and etw_session_change_provider() return; else as etwd_enable_provider().
 */
void etwd_source_provider_enable(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				 const struct wire_enable_provider *body, uint32_t request);

/* etwd_source_provider_enable_own() - the same for the host itself; nobody waits. Returns what is refused at once. */
int etwd_source_provider_enable_own(const struct etwd_session_parts *parts,
				    struct etwd_session *session,
				    const struct wire_enable_provider *body);

/* etwd_source_provider_capture() - asks for its state, as etwd_enable_capture(). */
void etwd_source_provider_capture(const struct etwd_session_parts *parts,
				  struct etwd_session *session, const GUID *guid);

#endif
