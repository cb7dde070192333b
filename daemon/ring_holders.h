/* SPDX-License-Identifier: MIT */
/*
 * Which processes hold which ring sets: a process holds a set from when it is told of it until it has given it back
 * or is gone. A set that a session retired is given back when nobody holds it any more.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_RING_HOLDERS_H
#define ETW_DAEMON_RING_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/peer.h"
#include "daemon/sessions.h"

/* A ring set that a process was told of. */
struct etwd_held_set {
	uint32_t session_id;
	uint32_t ring_set;
	bool is_retiring; /* RING_RETIRE was sent */
};

/* The part of a client: what it holds. Zeroed: nothing. */
struct etwd_ring_holder {
	struct etwd_ring_holder *next, **at; /* of all; @at NULL: not among them */
	struct etwd_peer *peer;              /* the client's own */
	struct etwd_held_set *sets;          /* owned */
	size_t count;
};

struct etwd_ring_holders {
	struct etwd_ring_holder *first; /* whoever ever held one and is still there */
	uint64_t again_ms;              /* when processes without rings are told anew; 0: none */
	struct etwd_sessions *sessions; /* borrowed */
};

/*
 * etwd_ring_holders_announce() - the set that a process writes to for a session; tells the process of one that it
 * does not hold yet.
 *
 * @holder: of @peer's client
 *
 * Returns 0; -ENOMEM; errno of making the set.
 */
int etwd_ring_holders_announce(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder,
			       struct etwd_peer *peer, struct etwd_session *session,
			       uint32_t *ret_ring_set);

/* etwd_ring_holders_retire() - a session uses a set no longer: every process that has it is told. */
void etwd_ring_holders_retire(struct etwd_ring_holders *holders, uint32_t session_id,
			      uint32_t ring_set);

/* etwd_ring_holders_returned() - a process has unmapped a set. */
void etwd_ring_holders_returned(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder,
				uint32_t ring_set);

/* etwd_ring_holders_gone() - a process is gone, and holds none any more. */
void etwd_ring_holders_gone(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder);

/* etwd_ring_holders_session_ended() - every process unmaps the sets of a session that is over. */
void etwd_ring_holders_session_ended(struct etwd_ring_holders *holders, uint32_t session_id);

#endif
