/* SPDX-License-Identifier: MIT */
/*
 * Buffers of a history (session/history.h) that a flush has still to write while newer ones take their places: each is
 * copied before it is overwritten, so that the flush has what was there at its moment, however slow its disk is. What all
 * flushes of a host keep so is held to a budget (etw_budget_hold()); a flush that meets it fails, and the session goes on.
 *
 * Buffers are overwritten in the order of their numbers, and taken in that order, so what is kept comes before what is
 * still in the history.
 *
 * Owner: the session's thread, from when it is given the struct until it is told to forget it; before and afterwards
 * whoever made it.
 */
#ifndef ETW_SESSION_OVERWRITTEN_H
#define ETW_SESSION_OVERWRITTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "session/rings/budget.h"

struct etw_overwritten_buffer;

struct etw_overwritten {
	struct etw_budget *budget; /* borrowed; NULL: no limit */
	uint32_t buffer_bytes;
	uint64_t next, end; /* numbers that are still to be taken: from, and behind the last */
	struct etw_overwritten_buffer *first, *last; /* owned: from `next` on */
	int result; /* -ENOMEM: one was overwritten for which there was no room */
};

/* etw_overwritten_keep() - the buffer of this number is about to be overwritten. Keeps it when it is still to be taken. */
void etw_overwritten_keep(struct etw_overwritten *overwritten, uint64_t sequence,
			  const uint8_t *buffer);

/*
 * etw_overwritten_take() - takes the buffer `next`, when it was kept.
 *
 * @ret: buffer_bytes
 *
 * Returns false when it is still in the history.
 */
bool etw_overwritten_take(struct etw_overwritten *overwritten, uint8_t *ret);

/* etw_overwritten_done() - harmless on one that is all zeros. */
void etw_overwritten_done(struct etw_overwritten *overwritten);

#endif
