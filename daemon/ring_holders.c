/* SPDX-License-Identifier: MIT */
/* See ring_holders.h. */
#include "daemon/ring_holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "daemon/log.h"

static struct etwd_held_set *find_set(struct etwd_ring_holder *holder, uint32_t ring_set)
{
	for (size_t i = 0; i < holder->count; i++) {
		if (holder->sets[i].ring_set == ring_set)
			return &holder->sets[i];
	}
	return NULL;
}

static void link_holder(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder)
{
	if (holder->at)
		return;
	holder->next = holders->first;
	holder->at = &holders->first;
	if (holder->next)
		holder->next->at = &holder->next;
	holders->first = holder;
}

static int add_set(struct etwd_ring_holder *holder, uint32_t session_id, uint32_t ring_set)
{
	struct etwd_held_set *sets = reallocarray(holder->sets, holder->count + 1, sizeof(*sets));

	if (!sets)
		return -ENOMEM;
	holder->sets = sets;
	sets[holder->count++] = (struct etwd_held_set){session_id, ring_set, false};
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
	struct etwd_session_refused *refused = &session->refused;

	for (unsigned i = 0; i < refused->count; i++) {
		if (refused->uids[i] == peer->who.uid)
			return;
	}
	if (refused->count == ETWD_REFUSED_MAX)
		return;
	refused->uids[refused->count++] = peer->who.uid;
	etwd_log("user %u gets no rings of session %u, and its events are lost: %s%s",
		 (unsigned)peer->who.uid, (unsigned)session->id, strerror(-why),
		 refused->count == ETWD_REFUSED_MAX ? "; others are not named" : "");
}

int etwd_ring_holders_announce(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder,
			       struct etwd_peer *peer, struct etwd_session *session,
			       uint32_t *ret_ring_set)
{
	CLEANUP(etw_ring_set_close) struct etw_ring_set_fds fds = {-1, -1};
	uid_t uid = peer->who.uid;
	uint32_t ring_set;
	int refusal;

	TRY(etw_session_ring_set(session->engine, uid, &ring_set, NULL, &refusal));
	if (!find_set(holder, ring_set)) {
		/* It may be another one by now. */
		TRY(etw_session_ring_set(session->engine, uid, &ring_set, &fds, &refusal));
		if (refusal < 0)
			note_refusal(peer, session, refusal);
	}
	if (!find_set(holder, ring_set)) {
		TRY(add_set(holder, session->id, ring_set));
		holder->peer = peer;
		link_holder(holders, holder);
		send_ref(peer, WIRE_RING_SET, ring_set, &fds);
	}
	*ret_ring_set = ring_set;
	return 0;
}

static bool is_held(const struct etwd_ring_holders *holders, uint32_t ring_set)
{
	for (struct etwd_ring_holder *holder = holders->first; holder; holder = holder->next) {
		if (find_set(holder, ring_set))
			return true;
	}
	return false;
}

static void give_back_if_unused(struct etwd_ring_holders *holders, uint32_t session_id,
				uint32_t ring_set)
{
	struct etwd_session *session = etwd_sessions_find(holders->sessions, session_id);

	if (is_held(holders, ring_set))
		return;
	if (session && etwd_session_is_usable(session))
		etw_session_ring_set_gone(session->engine, ring_set);
}

/* Tells a process once to unmap a set. */
static void retire_set(const struct etwd_ring_holder *holder, struct etwd_held_set *set)
{
	if (set->is_retiring)
		return;
	set->is_retiring = true;
	send_ref(holder->peer, WIRE_RING_RETIRE, set->ring_set, NULL);
}

void etwd_ring_holders_retire(struct etwd_ring_holders *holders, uint32_t session_id,
			      uint32_t ring_set)
{
	for (struct etwd_ring_holder *holder = holders->first; holder; holder = holder->next) {
		struct etwd_held_set *set = find_set(holder, ring_set);

		if (set)
			retire_set(holder, set);
	}
	give_back_if_unused(holders, session_id, ring_set);
}

/* Returns false when the process was told to keep it. */
static bool drop_set(struct etwd_ring_holder *holder, uint32_t ring_set, uint32_t *ret_session_id)
{
	struct etwd_held_set *set = find_set(holder, ring_set);

	if (!set || !set->is_retiring)
		return false;
	*ret_session_id = set->session_id;
	*set = holder->sets[--holder->count];
	return true;
}

void etwd_ring_holders_returned(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder,
				uint32_t ring_set)
{
	uint32_t session_id;

	if (drop_set(holder, ring_set, &session_id))
		give_back_if_unused(holders, session_id, ring_set);
}

static void leave(struct etwd_ring_holders *holders, uint32_t session_id, uint32_t ring_set)
{
	struct etwd_session *session = etwd_sessions_find(holders->sessions, session_id);

	if (session && etwd_session_is_usable(session))
		etw_session_ring_set_left(session->engine, ring_set, !is_held(holders, ring_set));
}

void etwd_ring_holders_gone(struct etwd_ring_holders *holders, struct etwd_ring_holder *holder)
{
	while (holder->count) {
		struct etwd_held_set set = holder->sets[--holder->count];

		if (set.is_retiring)
			give_back_if_unused(holders, set.session_id, set.ring_set);
		else /* it stays: the next process of this uid writes to it */
			leave(holders, set.session_id, set.ring_set);
	}
	if (holder->at) {
		*holder->at = holder->next;
		if (holder->next)
			holder->next->at = holder->at;
	}
	free(holder->sets);
	*holder = (struct etwd_ring_holder){0};
}

void etwd_ring_holders_session_ended(struct etwd_ring_holders *holders, uint32_t session_id)
{
	for (struct etwd_ring_holder *holder = holders->first; holder; holder = holder->next) {
		for (size_t i = 0; i < holder->count; i++) {
			if (holder->sets[i].session_id == session_id)
				retire_set(holder, &holder->sets[i]);
		}
	}
}
