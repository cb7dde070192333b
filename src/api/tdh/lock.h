/* SPDX-License-Identifier: MIT */
/* The lock of what the functions of tdh.h share in a process (api/tdh/shared.h), and what is done under it. */
#ifndef ETW_API_TDH_LOCK_H
#define ETW_API_TDH_LOCK_H

#include <evntcons.h>

#include "api/tdh/shared.h"

/*
 * etw_tdh_lock() - what the process shares, made when there is none; the caller holds the lock then.
 *
 * Returns 0, or -ENOMEM without the lock. Context: any thread.
 */
int etw_tdh_lock(struct etw_tdh_shared **ret);

/* etw_tdh_unlock() - gives the lock back. */
void etw_tdh_unlock(void);

/*
 * etw_tdh_look_again() - a trace is opened: what was registered before that counts for its events.
 *
 * Context: any thread that does not hold the lock.
 */
void etw_tdh_look_again(void);

/*
 * etw_tdh_note_build() - which Windows wrote the events that this thread is given from now on.
 *
 * Questions of this thread are about them; those of a thread that is given none are about the trace that was opened
 * last. Context: any thread.
 */
void etw_tdh_note_build(uint32_t build);

/*
 * etw_tdh_use_known() - how the process uses the table of known providers from now on.
 *
 * @use: LIBETW_TDH_KNOWN_EVENTS, _LISTED, _OFF (etw/schemas.h)
 *
 * Returns 0 or -ENOMEM. Context: any thread.
 */
int etw_tdh_use_known(uint32_t use);

/*
 * etw_tdh_learn() - takes in a schema that an event carries (etw_schema_store_is_metadata()).
 *
 * @record: borrowed for the call
 *
 * Returns 0 or -ENOMEM. Context: any thread that does not hold the lock.
 */
int etw_tdh_learn(const EVENT_RECORD *record);

/* etw_tdh_build() - the Windows that questions of this thread are about (etw_tdh_note_build()); 0: not known. */
uint32_t etw_tdh_build(void);

#endif
