/* SPDX-License-Identifier: MIT */
/*
 * What sessions call, from their own threads: the keeper's store, the clock, who may write what. A ring set that was
 * replaced is handed to the loop, which has its processes told, and so is a session whose file is full, which it ends.
 */
#ifndef ETW_DAEMON_SESSION_CALLS_H
#define ETW_DAEMON_SESSION_CALLS_H

#include "daemon/clock.h"
#include "daemon/enable.h"
#include "daemon/grants.h"
#include "daemon/inbox.h"
#include "daemon/keeper_store.h"
#include "daemon/pids.h"
#include "daemon/session_end.h"
#include "session/common/host.h"

struct etwd_session_calls {
	struct etw_session_host
		environment;       /* what sessions are given; its budget is set by the caller */
	uint32_t message_sequence; /* of the host's sessions with one sequence for all; atomic */
	struct etwd_keeper_store *store; /* borrowed, as all below */
	struct etwd_clock *clock;
	struct etwd_grants *grants;
	struct etwd_pids *pids;
	struct etwd_inbox *inbox;
	const struct etwd_enable_parts *enable;
	const struct etwd_session_parts *session_parts;
};

/* etwd_session_sources() - the sources of events that sessions of this host have; the rest is empty. */
struct etw_session_host etwd_session_sources(void);

/* etwd_session_calls_init() - makes the environment of what was set. */
void etwd_session_calls_init(struct etwd_session_calls *calls);

#endif
