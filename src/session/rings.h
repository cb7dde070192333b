/* SPDX-License-Identifier: MIT */
/*
 * A session's ring sets: made for a uid, opened again by the next host, retired when they misbehave, closed
 * when no process maps them any more and everything is read.
 */
#ifndef ETW_SESSION_RINGS_H
#define ETW_SESSION_RINGS_H

#include "session/session_internal.h"

/*
 * etw_rings_get() - the live set of a uid; made when there is none. As etw_session_ring_set(). Any thread, not
 * holding `lock`.
 */
int etw_rings_get(struct etw_session *session, uid_t uid, uint32_t *ret_ring_set,
		  struct etw_ring_set_fds *ret, int *ret_refusal);

/* etw_rings_look() - whether a uid could be given one more set now; as *@ret_refusal there. Not holding `lock`. */
int etw_rings_look(struct etw_session *session, uid_t uid);

/* etw_rings_next_id() - a number that no set had yet. Any thread. */
uint32_t etw_rings_next_id(void);

/*
 * etw_rings_adopt() - opens all sets that the last host left; before the thread runs.
 *
 * A set whose memory the keeper has not got, or that is not sound, is closed; the complaint says so.
 */
void etw_rings_adopt(struct etw_session *session);

/* etw_rings_mark_left() - a process that had this set has ended; @is_last: no other is connected. Any thread. */
void etw_rings_mark_left(struct etw_session *session, uint32_t ring_set, bool is_last);

/* etw_rings_mark_gone() - no process maps this set any more. Any thread. */
void etw_rings_mark_gone(struct etw_session *session, uint32_t ring_set);

/* etw_rings_list() - writes borrowed pointers to all sets; returns how many. Owner thread. */
uint32_t etw_rings_list(struct etw_session *session, struct etw_session_set *sets[ETW_STATE_SETS]);

/* etw_rings_end() - lets nobody reserve in any set any more, because the session is over. Owner thread. */
void etw_rings_end(struct etw_session *session);

/*
 * etw_rings_tend() - replaces sets that are broken, have too many quarantined buffers, or have one since a
 * process ended, telling the host; retires those that no process has any more; closes retired ones
 * that are read to their end. Owner thread, after a commit of all outputs.
 *
 * @is_stop: closes every set
 */
void etw_rings_tend(struct etw_session *session, bool is_stop);

/* etw_rings_due_ns() - when some set is to be tended; UINT64_MAX: at no certain time. Owner thread. */
uint64_t etw_rings_due_ns(struct etw_session *session);

/* etw_rings_free_all() - without a word to anybody; the thread is gone. */
void etw_rings_free_all(struct etw_session *session);

/* etw_rings_step_over_id() - a former host gave this number. Any thread. */
void etw_rings_step_over_id(uint32_t id);

/* For etw_session_name(): a set's control page, and its rings, by its id. */
#define ETW_RINGS_PAGE_NAME "page-%u"
#define ETW_RINGS_NAME      "ring-%u"

/* etw_rings_forget() - the keeper closes a set's rings, or its control page. Not holding `lock`. */
void etw_rings_forget(struct etw_session *session, uint32_t set_id);
void etw_rings_forget_page(struct etw_session *session, uint32_t set_id);

#endif
