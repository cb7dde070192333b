/* SPDX-License-Identifier: MIT */
/*
 * The private sessions of this process, as its providers see them: the rings of each, and which providers it has
 * enabled. What collects the events is src/private, which is above this and tells it what changes.
 *
 * A session wants a provider by its GUID, also one that is registered later. Its registrations have the slots of
 * ETW_PRIVATE_LINK for it; one of RegisterTraceGuids() is the last session's that enabled it. A forked child has none of
 * its parent's sessions, and leaves their rings (provider/leave.h). All of this holding the lock, which callbacks give up.
 */
#ifndef ETW_PROVIDER_OWN_SESSIONS_H
#define ETW_PROVIDER_OWN_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_set.h"
#include "wire/message.h"

#define ETW_OWN_SESSIONS_MAX 16 /* at once */

/*
 * etw_own_session_open() - the rings of a session, which no provider is enabled in yet. There is a listener, which gives
 * memory back.
 *
 * @ring_set: number of the set, unique in the process
 * @fds, @clock_fd: borrowed; of the set, and of the clock page
 *
 * Returns 0; -ENOSPC: too many; those of etw_provider_ring_sets_add() and
 * etw_provider_ring_sets_clock().
 */
int etw_own_session_open(uint32_t session_id, uint32_t ring_set, const struct etw_ring_set_fds *fds,
			 int clock_fd);

/*
 * etw_own_session_replace() - the session has other rings from now on; nobody writes to the former ones any more when this
 * returns, but for who is in the middle of a write. As etw_own_session_open(); -ENOENT: no such session.
 */
int etw_own_session_replace(uint32_t session_id, uint32_t ring_set,
			    const struct etw_ring_set_fds *fds);

/*
 * etw_own_session_enable() - EnableTraceEx2 of a private session. The callbacks of the provider's registrations have
 * run when it returns.
 *
 * Returns 0, also for disabling what is not enabled; -ENOENT: no such session, or one that was withdrawn; -ENOSPC:
 * ETW_PRIVATE_SLOTS sessions have the provider enabled; -EOPNOTSUPP: a filter that is not for the callback; -ENOMEM.
 */
int etw_own_session_enable(uint32_t session_id, const struct wire_enable_provider *enable);

/*
 * etw_own_session_wants() - whether a session has enabled a provider with the same level, keywords and property. Filters
 * are not compared: they are for the callback alone.
 */
bool etw_own_session_wants(uint32_t session_id, const struct wire_enable_provider *enable);

/* When the callbacks hear that nothing is enabled any more. */
enum etw_own_news {
	ETW_OWN_NEWS_NOW,   /* on this thread */
	ETW_OWN_NEWS_LATER, /* from the listener */
	ETW_OWN_NEWS_NONE,  /* never: the program ends */
};

/*
 * etw_own_session_withdraw() - no provider is enabled in the session any more, nor ever again. Who is in the middle of a write
 * may still commit it.
 */
void etw_own_session_withdraw(uint32_t session_id, enum etw_own_news news);

/* etw_own_session_close() - gives the rings back, of a session that was withdrawn. */
void etw_own_session_close(uint32_t session_id);

struct etw_registration;

/* etw_own_sessions_meet() - sessions may want what was registered just now. */
void etw_own_sessions_meet(struct etw_registration *registration);

/* etw_own_sessions_tell() - runs the callbacks that were put off. The listener. */
void etw_own_sessions_tell(void);

/* etw_own_sessions_forget() - in a forked child: it has none. */
void etw_own_sessions_forget(void);

#endif
