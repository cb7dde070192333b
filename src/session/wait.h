/* SPDX-License-Identifier: MIT */
/* How a session's thread sleeps: until a writer leaves a buffer, somebody kicks it, or a time has come. */
#ifndef ETW_SESSION_WAIT_H
#define ETW_SESSION_WAIT_H

#include "session/session_internal.h"

/* etw_wait_arm() - writers wake the thread from now on; a last look must follow before it waits. */
void etw_wait_arm(struct etw_session *session, bool is_armed);

/*
 * etw_wait() - sleeps.
 *
 * @wake:        session->wake as it was before the last look
 * @deadline_ns: CLOCK_MONOTONIC; UINT64_MAX for none
 */
void etw_wait(struct etw_session *session, uint32_t wake, uint64_t deadline_ns);

#endif
