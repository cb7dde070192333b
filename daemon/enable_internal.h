/* SPDX-License-Identifier: MIT */
/*
 * What a process is told of a provider that it has registered: what each session wants of it, the rings to write to, and
 * the right to do so. What cannot be told is noted in the session. Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_ENABLE_INTERNAL_H
#define ETW_DAEMON_ENABLE_INTERNAL_H

#include "daemon/enable.h"

/* What a process is told beside the state of the provider. */
struct etwd_telling {
	bool has_callback;
	bool is_withdrawal; /* the callback hears of it later, where the process had heard of the session */
	bool is_owed;                               /* that is now */
	uint32_t session_id;                        /* of the request */
	const struct wire_enable_provider *request; /* NULL: nobody's; source and filter are its */
	struct etwd_wait *wait;                     /* NULL: nobody waits */
};

/* etwd_enable_tell() - a registration's process hears the whole state of its provider, if @telling concerns it. */
void etwd_enable_tell(const struct etwd_enable_parts *parts, struct etwd_registration *registration,
		      const struct etwd_telling *telling);

/* etwd_enable_tell_all() - the same for all registrations of a provider or members of a group, as @session_id wants it. */
void etwd_enable_tell_all(const struct etwd_enable_parts *parts, const struct etwd_enabled *what,
			  uint32_t session_id, const struct etwd_telling *telling);

/*
 * etwd_enable_tell_unable() - a process cannot write to a session, or could not before.
 *
 * @status: why, a negative errno
 * @late_ms: so long it could not; 0: it still cannot, and has refused @events
 */
void etwd_enable_tell_unable(const struct etwd_peer *peer, struct etwd_session *session, int status,
			     uint64_t events, uint64_t late_ms);

#endif
