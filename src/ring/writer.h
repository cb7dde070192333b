/* SPDX-License-Identifier: MIT */
/*
 * The writers' end of a ring: reserve, copy, commit. Any thread of any process that maps the set, signal
 * handlers included: no lock, no allocation, no system call but one futex wake at a switch of buffers,
 * and only when the host sleeps.
 */
#ifndef ETW_RING_WRITER_H
#define ETW_RING_WRITER_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/sched_point.h"
#include "ring/clock.h"
#include "ring/ring_set.h"

/* A reserved place. */
struct etw_ring_span {
	uint8_t *at;      /* the event's first byte, 8-aligned */
	uint8_t *mark;    /* its byte of the map */
	int64_t time_raw; /* read inside the reserve: grows with the place in the ring */
};

/*
 * etw_ring_reserve() - claims space for one event in the calling CPU's ring.
 *
 * @bytes: of the whole event, header included, 1 .. 65535; padded to 8 inside
 *
 * Returns 0; -ENOBUFS when no buffer is free (counted as lost); -EMSGSIZE when it cannot fit a buffer
 * (counted); -ESTALE when the set is retired (not counted). @ret is untouched on error.
 * Context: any thread, signal-safe.
 * Order: its CAS pairs with etw_ring_reader_bump() and the switch of others.
 */
int etw_ring_reserve(const struct etw_ring_set *set, const struct etw_clock_page *clock,
		     uint32_t bytes, struct etw_ring_span *ret);

/*
 * etw_ring_commit() - makes the event visible. Pairs with etw_ring_reader_next().
 */
static inline void etw_ring_commit(const struct etw_ring_span *span)
{
	SCHED_POINT("ring.commit.before");
	store_release(span->mark, (uint8_t)WIRE_RING_COMMITTED);
	SCHED_POINT("ring.commit.done");
}

/*
 * etw_ring_abandon() - gives the place up; the first 8 bytes must hold an event header's first 8 bytes,
 * so that readers can step over it.
 */
static inline void etw_ring_abandon(const struct etw_ring_span *span)
{
	store_release(span->mark, (uint8_t)WIRE_RING_ABANDONED);
}

#endif
