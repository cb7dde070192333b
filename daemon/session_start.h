/* SPDX-License-Identifier: MIT */
/* A session's beginning: START, or what the last host left of one. */
#ifndef ETW_DAEMON_SESSION_START_H
#define ETW_DAEMON_SESSION_START_H

#include <stdint.h>

#include "daemon/session_end.h"

/*
 * etwd_session_start() - starts a session; the peer is answered with SESSION when it runs, or cannot.
 *
 * @config: taken
 *
 * Returns 0; -EINVAL: no name, or one that is no UTF-8, or the kernel logger's GUID under another name; what
 * etwd_sessions_add() said; -EIO; -ENOMEM; errno of making a thread: then the peer is still to be answered.
 */
int etwd_session_start(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		       struct wire_session_config *config, uint32_t request);

/* Of a session that the host starts by itself. First member of what takes the result. */
struct etwd_start_watch {
	/*
	 * started() - it runs, or cannot.
	 *
	 * @session: NULL when it cannot, and @result says why
	 * @sentence: static, more of the reason; NULL: no more is known
	 */
	void (*started)(struct etwd_start_watch *watch, struct etwd_session *session, int result,
			const char *sentence);
};

/*
 * etwd_session_start_own() - starts a session of the host's own uid.
 *
 * @config: taken
 * @watch:  borrowed until it was called, which is never before this returns
 *
 * Returns as etwd_session_start(); the watch is called when it returns 0 alone.
 */
int etwd_session_start_own(const struct etwd_session_parts *parts,
			   struct wire_session_config *config, struct etwd_start_watch *watch);

/* etwd_session_adopt_all() - goes on with the sessions that the last host left. */
void etwd_session_adopt_all(const struct etwd_session_parts *parts);

#endif
