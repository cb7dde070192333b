/* SPDX-License-Identifier: MIT */
/*
 * How a session's thread sleeps: until a writer leaves a buffer, somebody kicks it, or a time has come. It waits on the
 * words of all ring sets (`asleep`) and on the session's own (`wake`). Owner thread.
 */
#ifndef ETW_SESSION_WAIT_H
#define ETW_SESSION_WAIT_H

#include "session/common/set_table.h"

struct etw_session_wait {
	bool is_armed;    /* the rings' writers wake the thread */
	bool is_spurious; /* the last wait ended at once */
};

/* etw_wait_arm() - writers wake the thread from now on; a last look must follow before it waits. */
void etw_wait_arm(struct etw_session_wait *wait, struct etw_session_sets *sets, bool is_armed);

/*
 * etw_wait() - sleeps.
 *
 * @wake:        context.wake as it was before the last look
 * @deadline_ns: CLOCK_MONOTONIC; UINT64_MAX for none
 */
void etw_wait(struct etw_session_wait *wait, struct etw_session_sets *sets, uint32_t wake,
	      uint64_t deadline_ns);

#endif
