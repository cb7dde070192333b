/* SPDX-License-Identifier: MIT */
/*
 * What a host leaves to the next one beside the sessions' own state: what they have enabled, the grants,
 * the leases, and its own number. Sessions, providers and grants know nothing of it; whoever changes them says so here.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_HANDOVER_H
#define ETW_DAEMON_HANDOVER_H

#include <stdint.h>

#include "daemon/grants.h"
#include "daemon/keeper_store.h"
#include "daemon/private_table.h"
#include "daemon/providers.h"
#include "daemon/sessions.h"
#include "daemon/snapshot.h"

struct etwd_handover {
	struct etwd_snapshot snapshot;
	uint64_t incarnation;            /* of this host: larger than the last one's */
	struct etwd_keeper_store *store; /* borrowed, as the next three: what is handed over */
	struct etwd_sessions *sessions;
	struct etwd_providers *providers;
	struct etwd_grants *grants;
	struct etwd_private_table *private_table; /* borrowed, too */
};

/* etwd_handover_init() - one that is not open; what it borrows is set by the caller. */
void etwd_handover_init(struct etwd_handover *handover);

/* etwd_handover_done() - the next host still finds it. */
void etwd_handover_done(struct etwd_handover *handover);

/* etwd_handover_open() - takes over the last host's snapshot, or makes a new one; counts the incarnation. */
int etwd_handover_open(struct etwd_handover *handover);

/*
 * etwd_handover_recall() - fills providers and grants, and marks leased sessions, from the snapshot.
 *
 * After the sessions were adopted: what belongs to others is left out.
 */
void etwd_handover_recall(struct etwd_handover *handover);

/* etwd_handover_recall_grants() - fills the grants alone: sessions ask for them as soon as they run. */
void etwd_handover_recall_grants(struct etwd_handover *handover);

/* etwd_handover_write() - writes all but the grants anew. Returns 0; -ENOSPC; -ENOMEM. */
int etwd_handover_write(struct etwd_handover *handover);

/* etwd_handover_add_grant() - one grant more, which is in the table. Returns 0; -ENOSPC; -ENOMEM. */
int etwd_handover_add_grant(struct etwd_handover *handover, const struct etwd_grant *grant);

/* etwd_handover_write_grants() - writes the grants anew: a session's are gone. Returns 0; -ENOSPC; -ENOMEM. */
int etwd_handover_write_grants(struct etwd_handover *handover);

#endif
