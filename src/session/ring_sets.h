/* SPDX-License-Identifier: MIT */
/*
 * A session's ring sets: made for a uid, opened again by the next host, retired, closed. When they are retired and
 * closed is session/ring_turnover.h, and what a uid may have of them session/ring_limits.h.
 */
#ifndef ETW_SESSION_RING_SETS_H
#define ETW_SESSION_RING_SETS_H

#include "session/session_internal.h"

/*
 * etw_session_sets_get() - the live set of a uid; made when there is none. As etw_session_ring_set(). Any thread, not
 * holding `lock`.
 */
int etw_session_sets_get(struct etw_session *session, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal);

/* etw_session_sets_look() - whether a uid could be given one more set now; as *@ret_refusal there. Not holding `lock`. */
int etw_session_sets_look(struct etw_session *session, uid_t uid);

/* etw_session_sets_next_id() - a number that no set had yet. Any thread. */
uint32_t etw_session_sets_next_id(void);

/*
 * etw_session_sets_adopt() - opens all sets that the last host left; before the thread runs.
 *
 * A set whose memory the keeper has not got, or that is not sound, is closed; the complaint says so.
 */
void etw_session_sets_adopt(struct etw_session *session);

/* etw_session_sets_mark_left() - a process that had this set has ended; @is_last: no other is connected. Any thread. */
void etw_session_sets_mark_left(struct etw_session *session, uint32_t ring_set, bool is_last);

/* etw_session_sets_mark_gone() - no process maps this set any more. Any thread. */
void etw_session_sets_mark_gone(struct etw_session *session, uint32_t ring_set);

/* etw_session_sets_list() - writes borrowed pointers to all sets; returns how many. Owner thread. */
uint32_t etw_session_sets_list(struct etw_session *session,
			       struct etw_session_set *sets[ETW_STATE_SETS]);

/* etw_session_sets_end() - lets nobody reserve in any set any more, because the session is over. Owner thread. */
void etw_session_sets_end(struct etw_session *session);

/* A set that no connected process has is looked at so often: another may have it by a fork. */
#define ETW_SESSION_SETS_ORPHAN_NS UINT64_C(10000000000)

/*
 * etw_session_sets_retire() - lets nobody reserve in a set any more; whether what is refused counts is in its page already.
 * Nothing for one that is retired. Owner thread, or before it runs.
 *
 * etw_session_sets_retire_replaced() - the same, while the session goes on: the page is kept, because who does not hear of
 * it loses events from now on.
 */
void etw_session_sets_retire(struct etw_session *session, struct etw_session_set *set);
void etw_session_sets_retire_replaced(struct etw_session *session, struct etw_session_set *set);

/*
 * etw_session_sets_close() - a retired set, or any at the end of the session: what its streams counted is settled, its memory
 * and its place are given back. Takes @set. Owner thread, not holding `lock`.
 */
void etw_session_sets_close(struct etw_session *session, struct etw_session_set *set);

/* etw_session_sets_free_all() - without a word to anybody; the thread is gone. */
void etw_session_sets_free_all(struct etw_session *session);

/* etw_session_sets_step_over_id() - a former host gave this number. Any thread. */
void etw_session_sets_step_over_id(uint32_t id);

/* For etw_session_name(): a set's control page, and its rings, by its id. */
#define ETW_SESSION_SETS_PAGE_NAME  "page-%u"
#define ETW_SESSION_SETS_RINGS_NAME "ring-%u"

/* etw_session_sets_forget() - the keeper closes a set's rings, or its control page. Not holding `lock`. */
void etw_session_sets_forget(struct etw_session *session, uint32_t set_id);
void etw_session_sets_forget_page(struct etw_session *session, uint32_t set_id);

#endif
