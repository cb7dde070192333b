/* SPDX-License-Identifier: MIT */
/*
 * A session's ring sets: made for a uid, opened again by the next host, retired, closed. When they are retired and
 * closed is session/rings/turnover.h, and what a uid may have of them session/rings/limits.h.
 */
#ifndef ETW_SESSION_RINGS_SETS_H
#define ETW_SESSION_RINGS_SETS_H

#include "session/common/set_table.h"

/*
 * etw_session_sets_get() - the live set of a uid; made when there is none. As etw_session_ring_set(). Any thread, not
 * holding `lock`.
 */
int etw_session_sets_get(struct etw_session_sets *sets, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal);

/*
 * etw_session_sets_adopt() - opens all sets that the last host left; before the thread runs.
 *
 * A set whose memory the keeper has not got, or that is not sound, is closed; the complaint says so.
 */
void etw_session_sets_adopt(struct etw_session_sets *sets);

/* etw_session_sets_end() - lets nobody reserve in any set any more, because the session is over. Owner thread. */
void etw_session_sets_end(struct etw_session_sets *sets);

/*
 * etw_session_set_retire() - lets nobody reserve in a set any more; whether what is refused counts is in its page already.
 * Nothing for one that is retired. Owner thread, or before it runs.
 *
 * etw_session_set_retire_replaced() - the same, while the session goes on: the page is kept, because who does not hear of
 * it loses events from now on.
 */
void etw_session_set_retire(struct etw_session_sets *sets, struct etw_session_set *set);
void etw_session_set_retire_replaced(struct etw_session_sets *sets, struct etw_session_set *set);

/*
 * etw_session_set_close() - a retired set, or any at the end of the session, when the outputs have settled what its
 * streams counted and have forgotten them: its memory and its place are given back. Takes @set. Owner thread, not
 * holding `lock`.
 */
void etw_session_set_close(struct etw_session_sets *sets, struct etw_session_set *set);

/* etw_session_sets_free_all() - without a word to anybody; the thread is gone. */
void etw_session_sets_free_all(struct etw_session_sets *sets);

#endif
