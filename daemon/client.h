/* SPDX-License-Identifier: MIT */
/*
 * A peer with what the parts of the host keep for it: what it has registered, which ring sets it holds, what it is
 * still to answer, what it reads.
 */
#ifndef ETW_DAEMON_CLIENT_H
#define ETW_DAEMON_CLIENT_H

#include "daemon/images.h"
#include "daemon/peer.h"
#include "daemon/private_table.h"
#include "daemon/providers.h"
#include "daemon/realtime.h"
#include "daemon/ring_holders.h"
#include "daemon/scope.h"
#include "daemon/waits.h"

struct etwd_client {
	struct etwd_peer peer; /* first */
	struct etwd_registrations registrations;
	struct etwd_ring_holder holder;
	struct etwd_answers answers;
	struct etwd_consumer consumer;
	struct etwd_images images;
	struct etwd_scope_process process;                   /* for enables that choose processes */
	uint32_t private_sessions[ETWD_PRIVATE_PER_PROCESS]; /* that it was told of; 0: none */
	uint64_t late_ms; /* so long it could not connect, as it says; 0: it did not say so */
	int late_status;
	bool is_without_rings; /* the host had nothing left for some of a session that wants its events */
};

/* etwd_client_of() - every peer of the host's is the first member of one. */
static inline struct etwd_client *etwd_client_of(struct etwd_peer *peer)
{
	return (struct etwd_client *)(void *)peer;
}

#endif
