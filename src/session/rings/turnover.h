/* SPDX-License-Identifier: MIT */
/*
 * The turnover of a session's ring sets: which ones are replaced or retired because they misbehave or nobody has them,
 * and which are closed because no process maps them any more and everything is read. How that is done to a set is
 * session/rings/sets.h.
 */
#ifndef ETW_SESSION_RINGS_TURNOVER_H
#define ETW_SESSION_RINGS_TURNOVER_H

#include "session/common/round.h"
#include "session/common/set_table.h"

/*
 * etw_ring_turnover_tend() - replaces sets that are broken, have too many quarantined buffers, or have one since a
 * process ended, telling the host; retires those that no process has any more. Owner thread, after a commit of all
 * outputs.
 *
 * @round:        is told when there is more to do at once
 * @ret_closable: retired sets that are read to their end: to be closed by the caller, when the outputs have settled
 *                what these had counted (session/rings/sets.h)
 *
 * Returns how many these are.
 */
uint32_t etw_ring_turnover_tend(struct etw_session_sets *sets, struct etw_session_round *round,
				struct etw_session_set *ret_closable[ETW_STATE_SETS]);

/*
 * etw_ring_turnover_resize() - replaces the sets that have another number of buffers than one that is made now, as far
 * as their uids may have more sets. Owner thread, after a commit of all outputs.
 */
void etw_ring_turnover_resize(struct etw_session_sets *sets);

/* etw_ring_turnover_due_ns() - when some set is to be tended; UINT64_MAX: at no certain time. Owner thread. */
uint64_t etw_ring_turnover_due_ns(struct etw_session_sets *sets);

#endif
