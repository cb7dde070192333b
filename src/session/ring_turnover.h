/* SPDX-License-Identifier: MIT */
/*
 * The turnover of a session's ring sets: which ones are replaced or retired because they misbehave or nobody has them,
 * and which are closed because no process maps them any more and everything is read. How that is done to a set is
 * session/ring_sets.h.
 */
#ifndef ETW_SESSION_RING_TURNOVER_H
#define ETW_SESSION_RING_TURNOVER_H

#include "session/session_internal.h"

/*
 * etw_ring_turnover_tend() - replaces sets that are broken, have too many quarantined buffers, or have one since a
 * process ended, telling the host; retires those that no process has any more; closes retired ones
 * that are read to their end. Owner thread, after a commit of all outputs.
 *
 * @is_stop: closes every set
 */
void etw_ring_turnover_tend(struct etw_session *session, bool is_stop);

/* etw_ring_turnover_due_ns() - when some set is to be tended; UINT64_MAX: at no certain time. Owner thread. */
uint64_t etw_ring_turnover_due_ns(struct etw_session *session);

#endif
