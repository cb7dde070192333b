/* SPDX-License-Identifier: MIT */
/*
 * ENUMERATE: which providers processes have registered here, who has them enabled, which groups they are in. A peer sees
 * what processes of its own uid registered, and of other users' what WMIGUID_QUERY of the provider's descriptor grants;
 * the group that controls the instance, root and the host's own uid see everything.
 * Source: docs/format/security.md "What is seen".
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_ENUMERATE_H
#define ETW_DAEMON_ENUMERATE_H

#include "daemon/enable.h"
#include "daemon/peer.h"
#include "daemon/providers.h"
#include "daemon/sessions.h"

#define ETWD_ENUMERATE_LOOKS_MAX 4096 /* registrations looked at for one part, seen or not */

struct etwd_enumerate_parts {
	const struct etwd_providers *providers;
	const struct etwd_sessions *sessions;
	const struct etwd_enable_parts *enable; /* which providers sources own */
};

/*
 * etwd_enumerate_handle() - answers with ENUMERATED: a part of the list, and where the next one begins.
 *
 * What is there all the while is in the list, and in a part once; later parts may repeat providers and groups. What
 * comes or goes meanwhile may be in it or not. A part may be empty with another behind it. -ENOENT: the peer may see
 * nothing of this provider.
 *
 * Returns 0, or -EPROTO when the body is not sound.
 */
int etwd_enumerate_handle(const struct etwd_enumerate_parts *parts, struct etwd_peer *peer,
			  const struct etw_ipc_message *message);

#endif
