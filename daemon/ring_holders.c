/* SPDX-License-Identifier: MIT */
/* See ring_holders.h. */
#include "daemon/ring_holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"

#include "base/macros.h"
#include "daemon/sessions.h"

static struct etwd_peer_ring *find_ring(struct etwd_peer *peer, uint32_t ring_set)
{
	for (size_t i = 0; i < etwd_client_of(peer)->ring_count; i++) {
		if (etwd_client_of(peer)->rings[i].ring_set == ring_set)
			return &etwd_client_of(peer)->rings[i];
	}
	return NULL;
}

static int add_ring(struct etwd_peer *peer, uint32_t session_id, uint32_t ring_set)
{
	struct etwd_peer_ring *rings = reallocarray(
		etwd_client_of(peer)->rings, etwd_client_of(peer)->ring_count + 1, sizeof(*rings));

	if (!rings)
		return -ENOMEM;
	etwd_client_of(peer)->rings = rings;
	rings[etwd_client_of(peer)->ring_count++] = (struct etwd_peer_ring){session_id, ring_set,
									    false};
	return 0;
}

/* @fds: NULL: none go along */
static void send_ref(struct etwd_peer *peer, uint32_t type, uint32_t ring_set,
		     const struct etw_ring_set_fds *fds)
{
	struct wire_message head = {.type = type};
	struct wire_ring_set_ref ref = {ring_set};
	const int list[] = {fds ? fds->page : -1, fds ? fds->rings : -1};

	etwd_peer_send_fds(peer,
			   wire_message_encode_ring_set_ref(&head, &ref, peer->peers->outgoing),
			   list, fds ? 2 : 0);
}

/* One line for a user, who can be refused as often as it likes; and an end of lines for many users. */
static void note_refusal(const struct etwd_peer *peer, struct etwd_session *session, int why)
{
	for (unsigned i = 0; i < session->refused_count; i++) {
		if (session->refused[i] == peer->who.uid)
			return;
	}
	if (session->refused_count == ETWD_REFUSED_MAX)
		return;
	session->refused[session->refused_count++] = peer->who.uid;
	etwd_log("user %u gets no rings of session %u, and its events are lost: %s%s",
		 (unsigned)peer->who.uid, (unsigned)session->id, strerror(-why),
		 session->refused_count == ETWD_REFUSED_MAX ? "; others are not named" : "");
}

int etwd_ring_holders_announce(struct etwd_peer *peer, struct etwd_session *session,
			       uint32_t *ret_ring_set)
{
	CLEANUP(etw_ring_set_close) struct etw_ring_set_fds fds = {-1, -1};
	uid_t uid = peer->who.uid;
	uint32_t ring_set;
	int refusal;

	TRY(etw_session_ring_set(session->engine, uid, &ring_set, NULL, &refusal));
	if (!find_ring(peer, ring_set)) {
		/* It may be another one by now. */
		TRY(etw_session_ring_set(session->engine, uid, &ring_set, &fds, &refusal));
		if (refusal < 0)
			note_refusal(peer, session, refusal);
	}
	if (!find_ring(peer, ring_set)) {
		TRY(add_ring(peer, session->id, ring_set));
		send_ref(peer, WIRE_RING_SET, ring_set, &fds);
	}
	*ret_ring_set = ring_set;
	return 0;
}

static void give_back_if_unused(struct etwd_host *host, uint32_t session_id, uint32_t ring_set)
{
	struct etwd_session *session = etwd_sessions_find(host, session_id);

	for (struct etwd_peer *peer = host->peers.first; peer; peer = peer->next) {
		if (find_ring(peer, ring_set))
			return;
	}
	if (session && etwd_session_is_usable(session))
		etw_session_ring_set_gone(session->engine, ring_set);
}

void etwd_ring_holders_retire(struct etwd_host *host, uint32_t session_id, uint32_t ring_set)
{
	for (struct etwd_peer *peer = host->peers.first; peer; peer = peer->next) {
		struct etwd_peer_ring *ring = find_ring(peer, ring_set);

		if (!ring || ring->is_retiring)
			continue;
		ring->is_retiring = true;
		send_ref(peer, WIRE_RING_RETIRE, ring_set, NULL);
	}
	give_back_if_unused(host, session_id, ring_set);
}

/* Returns false when the peer was told to keep it. */
static bool drop_ring(struct etwd_peer *peer, uint32_t ring_set, uint32_t *ret_session_id)
{
	struct etwd_peer_ring *ring = find_ring(peer, ring_set);

	if (!ring || !ring->is_retiring)
		return false;
	*ret_session_id = ring->session_id;
	*ring = etwd_client_of(peer)->rings[--etwd_client_of(peer)->ring_count];
	return true;
}

void etwd_ring_holders_peer_retired(struct etwd_peer *peer, uint32_t ring_set)
{
	uint32_t session_id;

	if (drop_ring(peer, ring_set, &session_id))
		give_back_if_unused(etwd_host_of(peer), session_id, ring_set);
}

static void leave(struct etwd_host *host, uint32_t session_id, uint32_t ring_set)
{
	struct etwd_session *session = etwd_sessions_find(host, session_id);
	bool is_last = true;

	for (struct etwd_peer *peer = host->peers.first; peer && is_last; peer = peer->next)
		is_last = !find_ring(peer, ring_set);
	if (session && etwd_session_is_usable(session))
		etw_session_ring_set_left(session->engine, ring_set, is_last);
}

void etwd_ring_holders_peer_gone(struct etwd_peer *peer)
{
	struct etwd_client *client = etwd_client_of(peer);

	while (client->ring_count) {
		struct etwd_peer_ring ring = client->rings[--client->ring_count];

		if (ring.is_retiring)
			give_back_if_unused(etwd_host_of(peer), ring.session_id, ring.ring_set);
		else /* it stays: the next process of this uid writes to it */
			leave(etwd_host_of(peer), ring.session_id, ring.ring_set);
	}
	free(client->rings);
	client->rings = NULL;
}

void etwd_ring_holders_session_ended(struct etwd_host *host, uint32_t session_id)
{
	for (struct etwd_peer *peer = host->peers.first; peer; peer = peer->next) {
		for (size_t i = 0; i < etwd_client_of(peer)->ring_count; i++) {
			struct etwd_peer_ring *ring = &etwd_client_of(peer)->rings[i];

			if (ring->session_id != session_id || ring->is_retiring)
				continue;
			ring->is_retiring = true;
			send_ref(peer, WIRE_RING_RETIRE, ring->ring_set, NULL);
		}
	}
}
