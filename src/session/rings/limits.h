/* SPDX-License-Identifier: MIT */
/*
 * What a uid may have of a session's ring sets: how many, in which place, and how many bytes under the host's budget
 * (session/rings/budget.h). Making and closing them is session/rings/sets.h.
 *
 * The budget binds neither a uid that is trusted, nor anybody where the host has none; then nothing is charged.
 */
#ifndef ETW_SESSION_RINGS_LIMITS_H
#define ETW_SESSION_RINGS_LIMITS_H

#include "session/common/set_table.h"

/*
 * etw_ring_limits_config() - the set that the uid would get: as the session's plan says, with fewer buffers where the
 * budget has not so many bytes for one set. Any thread.
 */
struct etw_ring_set_config etw_ring_limits_config(const struct etw_session_sets *sets, uid_t uid);

/*
 * etw_ring_limits_look() - whether the uid may have one more set now, and in which place. Holding `lock`.
 *
 * Returns 0; -ESHUTDOWN when the session is about to stop; -EMFILE when the keeper has no
 * room for it; -ENOSPC when the uid has its sets, or no place is free for
 * it; -EDQUOT when it has its bytes in this session; else as etw_budget_look(). *@ret_slot counts with 0 alone.
 */
int etw_ring_limits_look(const struct etw_session_sets *sets, uid_t uid, uint64_t bytes,
			 uint32_t *ret_slot);

/* etw_ring_limits_look_again() - the same of the set that the uid would get. Any thread, not holding `lock`. */
int etw_ring_limits_look_again(struct etw_session_sets *sets, uid_t uid);

/*
 * etw_ring_limits_take() - charges the uid for a set that is about to be made. Any thread.
 *
 * @ret_charged_bytes: what is to be given back; 0 for a uid that is not bound, and on error
 *
 * Returns as etw_budget_take().
 */
int etw_ring_limits_take(struct etw_session_sets *sets, uid_t uid, uint64_t bytes,
			 uint64_t *ret_charged_bytes);

/*
 * etw_ring_limits_adopt() - charges for a set of the last host, which is there whatever the limits say. Any thread.
 *
 * Returns what is to be given back; 0 for a uid that is not bound, and when the budget has no memory to note it.
 */
uint64_t etw_ring_limits_adopt(struct etw_session_sets *sets, uid_t uid, uint64_t bytes);

/* etw_ring_limits_give() - gives back what a set was charged; 0: nothing. Any thread. */
void etw_ring_limits_give(struct etw_session_sets *sets, uid_t uid, uint64_t charged_bytes);

#endif
