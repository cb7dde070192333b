/* SPDX-License-Identifier: MIT */
/* A peer with what is kept for it: what it has registered, holds, is still to answer, and reads. */
#ifndef ETW_DAEMON_CLIENT_H
#define ETW_DAEMON_CLIENT_H

#include "daemon/peer.h"
#include "daemon/providers.h"
#include "daemon/waits.h"

/* A ring set that this peer was told of. */
struct etwd_peer_ring {
	uint32_t session_id;
	uint32_t ring_set;
	bool is_retiring; /* RING_RETIRE was sent */
};

struct etwd_subscription;

struct etwd_client {
	struct etwd_peer peer; /* first */
	struct etwd_registrations registrations;
	struct etwd_peer_ring *rings; /* owned */
	size_t ring_count;
	struct etwd_answers answers;
	struct etwd_subscription *subscription; /* its session's; NULL: none */
	uint64_t late_ms; /* so long it could not connect, as it says; 0: it did not say so */
	int late_status;
};

/* etwd_client_of() - every peer of the host's is the first member of one. */
static inline struct etwd_client *etwd_client_of(struct etwd_peer *peer)
{
	return (struct etwd_client *)(void *)peer;
}

#endif
