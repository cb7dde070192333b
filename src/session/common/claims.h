/* SPDX-License-Identifier: MIT */
/*
 * Counters that lie in memory of the writers' (lost_no_buffer, lost_too_large, filtered, refused): claims. A process can
 * write there what it likes, so a rise is believed only as far as it can be true, and what a user's processes claim
 * is kept by user, apart from what the host counted itself.
 *
 * A rise is believed when the counter did not fall, rose no faster than processors can count, and for "no free
 * buffer" when the ring had none at some time since the last look. (A writer may count an instant after the ring has
 * got a buffer: there is a credit for as many as may be doing that at once.) What is not believed is disregarded for
 * good, added to the user's sum of such, and complained of once a user.
 *
 * Source: docs/design/recording.md "The account".
 */
#ifndef ETW_SESSION_COMMON_CLAIMS_H
#define ETW_SESSION_COMMON_CLAIMS_H

#include "session/common/set_table.h"
#include "wire/message.h"
#include "wire/session_note.h"

/* An event that is refused takes at least so long, on one processor. */
#define ETW_CLAIM_NS 4
/*
 * Events that may be counted when the ring has a buffer again: one of each thread that had seen that there was none, and
 * was suspended before it counted. So many as there are threads of that user's in the ring at once, and no more: all
 * that Linux has numbers for, unless it is told otherwise (pid_max). That they are many is no rare case: of 256
 * threads that did nothing but write to one full ring 160 stood there. A user gains nothing by claiming so many: while its
 * ring is full it is believed any number that the time allows.
 */
#define ETW_CLAIM_LATE 32768
/* The same, where the ring has never been full: who slept through a whole turn of it. */
#define ETW_CLAIM_LATE_FIRST 64
/* What another user's claims add to EventsLost at most: of all such users together not half of its 32 bits. */
#define ETW_CLAIM_COUNTED_MAX (UINT64_C(1) << 25)

/* etw_claim_believed() - of a counter that was judged. */
static inline uint64_t etw_claim_believed(const struct etw_state_claim *claim)
{
	return claim->seen - claim->offset;
}

/*
 * etw_claims_user() - the place of a uid in the state's table. Holding lock.
 *
 * The session's owner is 0, root 1. ETW_STATE_USERS: one place for all that found no other.
 */
uint32_t etw_claims_user(struct etw_session_sets *sets, uid_t uid);

/* etw_claims_begin() - of a new set: nothing is claimed yet. */
void etw_claims_begin(struct etw_session_sets *sets, const struct etw_session_set *set);

/*
 * etw_claims_look() - judges what the ring's counters say now; stream->counts has what is believed. Owner thread,
 * not holding `lock`, after etw_ring_reader_counts().
 */
void etw_claims_look(struct etw_session_sets *sets, struct etw_session_stream *stream);

/*
 * etw_claims_look_at_filtered() - judges what a set's counters say of events that the session's filters took away.
 * Nothing is lost with these: what cannot be is left out, and complained of nowhere. Holding lock.
 */
void etw_claims_look_at_filtered(struct etw_session_sets *sets, const struct etw_session_set *set);

/*
 * etw_claims_filtered() - events that filters took away, as far as it is believed. Any thread, not holding `lock`.
 *
 * @ret_own: as processes of the owner and of root say
 * @ret_others: as those of all other users say
 */
void etw_claims_filtered(struct etw_session_sets *sets, uint64_t *ret_own, uint64_t *ret_others);

/* etw_claims_page() - what is believed of a page's count. Holding lock. */
uint64_t etw_claims_page(struct etw_session_sets *sets, uint32_t place);

/* etw_claims_sum() - the claims' part of the loss. Any thread, not holding `lock`. */
void etw_claims_sum(struct etw_session_sets *sets, struct wire_session_loss *loss);

/* etw_claims_of_output() - what is believed of one output's rings, of those that are closed too. Holding `lock`. */
void etw_claims_of_output(const struct etw_session_sets *sets, uint32_t output,
			  uint64_t *ret_no_buffer, uint64_t *ret_too_large);

/*
 * etw_claims_gather() - what each user claims, of rings and pages that are gone and of those that are there. Any thread,
 * not holding `lock`.
 */
void etw_claims_gather(struct etw_session_sets *sets,
		       struct etw_state_user users[ETW_STATE_USERS + 1]);

/*
 * etw_claims_note() - what a trace says at its end of the user of a place.
 *
 * @users: as etw_claims_gather() gave them
 *
 * Returns false when there is nothing to say: the owner's and root's believed claims are in the sum of lost events.
 */
bool etw_claims_note(const struct etw_session_sets *sets,
		     const struct etw_state_user users[ETW_STATE_USERS + 1], uint32_t place,
		     struct wire_session_note *ret);

#endif
