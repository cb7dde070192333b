/* SPDX-License-Identifier: MIT */
/*
 * The sessions that classic providers of this process write to. TraceEvent() and TraceMessage() name a session, not a
 * provider, so that its rings are found by its id. An entry keeps its place as long as its session is wanted: who looks
 * while the table changes does not miss one that stays.
 */
#ifndef ETW_PROVIDER_LOGGERS_H
#define ETW_PROVIDER_LOGGERS_H

#include <stdint.h>

#include "provider/ring_sets.h"

#define ETW_LOGGERS_MAX 512 /* as many sessions as two hosts have */

/* As much of a session's id as handles hold. */
#define ETW_LOGGER_ID_MASK 0xFFFFu

/* etw_loggers_update() - the states of classic registrations have changed. Holding the lock. */
void etw_loggers_update(void);

/*
 * etw_loggers_find() - the rings of a session; NULL: no classic provider of this process is enabled there.
 *
 * For a thread that is inside (provider/thread.h) since before this. Context: any thread, signal-safe.
 */
const struct etw_ring_mapping *etw_loggers_find(uint32_t logger_id);

#endif
