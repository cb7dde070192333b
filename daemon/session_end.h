/* SPDX-License-Identifier: MIT */
/* A session's jobs while it runs, and its end: withdraw from providers, stop the engine, tell everybody. */
#ifndef ETW_DAEMON_SESSION_END_H
#define ETW_DAEMON_SESSION_END_H

#include "daemon/sessions.h"

/*
 * etwd_session_flush() - flushes and answers the peer with SESSION.
 *
 * Returns 0; -EBUSY: too many wait for it; -ENOMEM; errno of making a thread.
 */
int etwd_session_flush(struct etwd_session *session, struct etwd_peer *peer, uint32_t request);

/*
 * etwd_session_stop() - begins the end.
 *
 * @peer: answered with SESSION at the end; NULL: nobody
 *
 * Returns 0; -EBUSY: it has begun already; -ENOMEM.
 */
int etwd_session_stop(struct etwd_session *session, struct etwd_peer *peer, uint32_t request);

/* etwd_session_answer() - SESSION, with the host's own part filled in. */
void etwd_session_answer(struct etwd_session *session, struct etwd_peer *peer, uint32_t request,
			 struct wire_session_info *info);

/* etwd_session_forget_kept() - the keeper gives up whatever was kept for a session that is over. */
void etwd_session_forget_kept(struct etwd_host *host, uint32_t id);

/* etwd_session_remove() - frees a session and its place in the table. */
void etwd_session_remove(struct etwd_session *session);

#endif
