/* SPDX-License-Identifier: MIT */
/*
 * Uids that are given no rings for the time being, because a limit is met. Their processes get a set of the smallest
 * size that is retired from its birth: their EventWrite returns what it returns without a free buffer, and each event
 * is counted in the set's control page, as those for replaced rings are (session/rings/pages.h).
 * Source: docs/design/recording.md "Ring memory".
 */
#ifndef ETW_SESSION_RINGS_REFUSALS_H
#define ETW_SESSION_RINGS_REFUSALS_H

#include "session/common/set_table.h"

/*
 * etw_refusals_get() - the refusing set of a uid; made when there is none.
 *
 * @why: complained of, once a session
 * @ret: owned descriptors; NULL: none are needed
 *
 * Returns 0; @why when there are ETW_SESSION_REFUSALS already; -ENOMEM or the errno of making memory. Any thread,
 * not holding `lock`.
 */
int etw_refusals_get(struct etw_session_sets *sets, uid_t uid, int why, uint32_t *ret_ring_set,
		     struct etw_ring_set_fds *ret);

/* etw_refusals_tend() - tells the host of uids that could be given rings again. Owner thread. */
void etw_refusals_tend(struct etw_session_sets *sets, uint64_t now_ns);

/* etw_refusals_due_ns() - when that is to be looked at; UINT64_MAX: there are none. Owner thread. */
uint64_t etw_refusals_due_ns(struct etw_session_sets *sets);

/* etw_refusals_free_all() - closes all of them; the thread is gone. */
void etw_refusals_free_all(struct etw_session_sets *sets);

#endif
