/* SPDX-License-Identifier: MIT */
/*
 * A session's jobs while it runs, and its end: withdraw from providers, stop the engine, tell everybody. It ends when
 * it is told to, with the controller that holds its lease, and with the host.
 */
#ifndef ETW_DAEMON_SESSION_END_H
#define ETW_DAEMON_SESSION_END_H

#include <stdint.h>

#include "daemon/enable.h"
#include "daemon/grants.h"
#include "daemon/handover.h"
#include "daemon/images.h"
#include "daemon/jobs.h"
#include "daemon/keeper_store.h"
#include "daemon/realtime.h"
#include "daemon/ring_holders.h"
#include "daemon/sessions.h"
#include "daemon/waits.h"

struct etwd_private_parts; /* daemon/private_sessions.h */

#define ETWD_WITHDRAW_MS       200 /* for processes to stop writing to a session that ends */
#define ETWD_SESSION_WAITS_MAX 64  /* requests that wait for a session's job */

/* The parts of the host that a session's life touches. All borrowed. */
struct etwd_session_parts {
	struct etwd_peers *peers;
	struct etwd_sessions *sessions;
	struct etwd_image_table *images;
	struct etwd_grants *grants;
	struct etwd_handover *handover;
	struct etwd_ring_holders *ring_holders;
	struct etwd_realtime *realtime;
	struct etwd_waits *waits;
	struct etwd_keeper_store *store;
	const struct etwd_enable_parts *enable;
	const struct etwd_jobs *jobs;
	const struct etwd_private_parts *private_parts; /* of private sessions in other processes */
};

/*
 * etwd_session_ask() - does what the peer wants, behind what others wanted before, and answers it with SESSION.
 *
 * @request: that the peer waits for
 * @config:  copied; NULL: of a kind that needs none
 *
 * Returns 0; -EBUSY: too many wait for it; -ENOMEM; errno of making a thread.
 */
int etwd_session_ask(const struct etwd_session_parts *parts, struct etwd_session *session,
		     struct etwd_peer *peer, uint32_t request, enum etwd_job_kind kind,
		     const struct wire_session_config *config);

/*
 * etwd_session_ask_kernel() - the same, of what a system logger wants of the kernel.
 *
 * @peer:     NULL: nobody is answered
 * @is_plain: answered with REPLY
 * @change:   copied
 */
int etwd_session_ask_kernel(const struct etwd_session_parts *parts, struct etwd_session *session,
			    struct etwd_peer *peer, uint32_t request, bool is_plain,
			    const struct etw_session_kernel_change *change);

/*
 * etwd_session_ask_provider() - the same, of a provider that a source owns; answered with REPLY.
 *
 * @peer:   NULL: nobody is answered
 * @change: taken in every case
 */
int etwd_session_ask_provider(const struct etwd_session_parts *parts, struct etwd_session *session,
			      struct etwd_peer *peer, uint32_t request,
			      struct etw_session_provider_change *change);

/*
 * etwd_session_stop() - begins the end.
 *
 * @peer: answered with SESSION at the end; NULL: nobody
 *
 * Returns 0; -EBUSY: it has begun already; -ENOMEM.
 */
int etwd_session_stop(const struct etwd_session_parts *parts, struct etwd_session *session,
		      struct etwd_peer *peer, uint32_t request);

/* etwd_session_stop_all() - this host is to leave for good. */
void etwd_session_stop_all(const struct etwd_session_parts *parts);

/* etwd_session_controller_gone() - its leases end, and with them their sessions. */
void etwd_session_controller_gone(const struct etwd_session_parts *parts,
				  const struct etwd_peer *peer);

/* etwd_session_check_leases() - ends those whose controller did not come back. Returns the next time. */
uint64_t etwd_session_check_leases(const struct etwd_session_parts *parts, uint64_t now_ms);

/* etwd_session_answer() - SESSION, with the host's own part filled in. */
void etwd_session_answer(const struct etwd_session *session, struct etwd_peer *peer,
			 uint32_t request, struct wire_session_info *info);

/*
 * etwd_session_not_kept() - the keeper has no room for something of a session: rings are replaced, and a session whose
 * state or file it is ends. Without the rest a host's death loses only what is counted.
 *
 * @name: in the keeper's store; nothing for one that is no session's
 */
void etwd_session_not_kept(const struct etwd_session_parts *parts, const char *name);

/* etwd_session_end_unkept() - ends a running session that is_unkept. */
void etwd_session_end_unkept(const struct etwd_session_parts *parts, struct etwd_session *session);

/* etwd_session_forget_kept() - the keeper gives up whatever was kept for a session that is over. */
void etwd_session_forget_kept(struct etwd_keeper_store *store, uint32_t id);

#endif
