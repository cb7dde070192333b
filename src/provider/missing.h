/* SPDX-License-Identifier: MIT */
/*
 * Sessions that want events of this process, and that it has no rings of: there is no memory or no descriptor for them
 * here, or the host gives it none. Their slots lead to a set that was never mapped and counts as replaced from the
 * start, so that the write path does for it what it does for any replaced set: EventWrite returns the error of "no
 * free buffer", and the set counts the event. The host is told of both.
 */
#ifndef ETW_PROVIDER_MISSING_H
#define ETW_PROVIDER_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/ring_sets.h"
#include "wire/message.h"

#define ETW_MISSING_SESSIONS \
	16 /* as many as the slots of a provider; then the oldest gives its place away */

/*
 * etw_missing_find() - the set that stands for a session's rings.
 *
 * @status: why there are none; 0: the host knows
 *
 * Never NULL, and never freed: writers may be inside. Holding the lock.
 */
const struct etw_ring_mapping *etw_missing_find(unsigned link, uint32_t session_id, int status);

/* etw_missing_count() - events that found no rings, of one set. */
uint64_t etw_missing_count(const struct etw_ring_mapping *ring);

/*
 * etw_missing_next() - what the host of a link has not been told yet, one session at a time; told by this.
 *
 * Returns false when there is nothing. Holding the lock.
 */
bool etw_missing_next(unsigned link, struct wire_undelivered *ret, int *ret_status);

/* etw_missing_forget_told() - another host has to be told everything. Holding the lock. */
void etw_missing_forget_told(unsigned link);

#endif
