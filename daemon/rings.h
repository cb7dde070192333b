/* SPDX-License-Identifier: MIT */
/*
 * Which ring sets which process was told of. A set that a session retired is given back when the last
 * process that had it has answered or is gone.
 */
#ifndef ETW_DAEMON_RINGS_H
#define ETW_DAEMON_RINGS_H

#include "daemon/peer.h"

/*
 * etwd_rings_announce() - the set that a peer writes to for a session; tells the peer when it is new to it.
 *
 * Returns 0; -ENOMEM; errno of making the set.
 */
int etwd_rings_announce(struct etwd_peer *peer, struct etwd_session *session,
			uint32_t *ret_ring_set);

/* etwd_rings_retire() - a session uses a set no longer: every process that has it is told. */
void etwd_rings_retire(struct etwd_host *host, uint32_t session_id, uint32_t ring_set);

/* etwd_rings_peer_retired() - a peer has unmapped a set. */
void etwd_rings_peer_retired(struct etwd_peer *peer, uint32_t ring_set);

/* etwd_rings_peer_gone() - a peer has none any more. */
void etwd_rings_peer_gone(struct etwd_peer *peer);

/* etwd_rings_session_ended() - every process is told to unmap the sets of a session that is over. */
void etwd_rings_session_ended(struct etwd_host *host, uint32_t session_id);

#endif
