/* SPDX-License-Identifier: MIT */
/*
 * What a host leaves to the next one beside the sessions' own state: what they have enabled, the grants,
 * the leases, and its own number.
 */
#ifndef ETW_DAEMON_HANDOVER_H
#define ETW_DAEMON_HANDOVER_H

#include "daemon/host.h"

/* A lease as the last host left it. */
struct etwd_handover_lease {
	uint32_t session_id;
	uint32_t uid;
};

/* etwd_handover_open() - takes over the last host's snapshot, or makes a new one; counts the incarnation. */
int etwd_handover_open(struct etwd_host *host);

/*
 * etwd_handover_recall() - fills providers and grants, and marks leased sessions, from the snapshot.
 *
 * After the sessions were adopted: what belongs to others is left out.
 */
void etwd_handover_recall(struct etwd_host *host);

/* etwd_handover_recall_grants() - fills the grants alone: sessions ask for them as soon as they run. */
void etwd_handover_recall_grants(struct etwd_host *host);

/* etwd_handover_write() - writes all but the grants anew. Returns 0; -ENOSPC; -ENOMEM. */
int etwd_handover_write(struct etwd_host *host);

/* etwd_handover_add_grant() - one grant more, which is in the table. Returns 0; -ENOSPC; -ENOMEM. */
int etwd_handover_add_grant(struct etwd_host *host, const struct etwd_grant *grant);

/* etwd_handover_write_grants() - writes the grants anew: a session's are gone. Returns 0; -ENOSPC; -ENOMEM. */
int etwd_handover_write_grants(struct etwd_host *host);

#endif
