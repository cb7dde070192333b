/* SPDX-License-Identifier: MIT */
/*
 * Which processes hold which ring sets: a process holds a set from when it is told of it until it has given it back
 * or is gone. A set that a session retired is given back when nobody holds it any more.
 */
#ifndef ETW_DAEMON_RING_HOLDERS_H
#define ETW_DAEMON_RING_HOLDERS_H

#include "daemon/client.h"
#include "daemon/host.h"

/*
 * etwd_ring_holders_announce() - the set that a peer writes to for a session; tells the peer of one that it does
 * not hold yet.
 *
 * Returns 0; -ENOMEM; errno of making the set.
 */
int etwd_ring_holders_announce(struct etwd_peer *peer, struct etwd_session *session,
			       uint32_t *ret_ring_set);

/* etwd_ring_holders_retire() - a session uses a set no longer: every process that has it is told. */
void etwd_ring_holders_retire(struct etwd_host *host, uint32_t session_id, uint32_t ring_set);

/* etwd_ring_holders_peer_retired() - a peer has unmapped a set. */
void etwd_ring_holders_peer_retired(struct etwd_peer *peer, uint32_t ring_set);

/* etwd_ring_holders_peer_gone() - a peer has none any more. */
void etwd_ring_holders_peer_gone(struct etwd_peer *peer);

/* etwd_ring_holders_session_ended() - every process unmaps the sets of a session that is over. */
void etwd_ring_holders_session_ended(struct etwd_host *host, uint32_t session_id);

#endif
