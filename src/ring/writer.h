/* SPDX-License-Identifier: MIT */
/*
 * The writers' end of a ring: reserve, copy, commit. Any thread of any process that maps the set, signal
 * handlers included: no lock, no allocation, no system call but one futex wake at a switch of buffers,
 * and only when the host sleeps.
 */
#ifndef ETW_RING_WRITER_H
#define ETW_RING_WRITER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "ring/clock.h"
#include "ring/cpu_number.h"
#include "ring/handover.h"
#include "ring/ring_set.h"

#define ETW_RING_EVENT_BYTES_MAX 65535 /* what an event header's size can say */

/* A reserved place. */
struct etw_ring_span {
	uint8_t *at;      /* the event's first byte, 8-aligned */
	uint8_t *mark;    /* its byte of the map */
	int64_t time_raw; /* read inside the reserve: grows with the place in the ring */
};

/* The place that a ring offered: it may be claimed with a time that is read afterwards. */
struct etw_ring_offer {
	uint64_t *word_at;
	uint64_t word; /* as it was; it changes with every claim and every switch of buffers */
	uint8_t *at, *mark;
};

/*
 * etw_ring_look() - the place that an event of @units of 8 bytes may have in @ring. Claims nothing.
 *
 * Returns 0; -ENOSPC when the open buffer has not the room, or the word or the queue make no sense; -ESTALE.
 */
static ALWAYS_INLINE int etw_ring_look(const struct etw_ring_set *set, uint8_t *ring,
				       uint32_t units, struct etw_ring_offer *ret)
{
	uint64_t *at = &((struct wire_ring *)(void *)ring)->word;
	/* Pairs with the switch: who sees the word in a slot sees the slot's buffer. */
	const uint64_t word = load_acquire(at);
	const uint32_t offset = wire_ring_word_offset(word);
	const uint32_t slot = (uint32_t)(word >> WIRE_RING_OFFSET_BITS) & set->slot_mask;
	const uint32_t *queue = (const uint32_t *)(const void *)(ring + set->queue_at);
	const uint32_t buffer = load_relaxed(&queue[slot]) - 1;
	uint64_t unit;

	/* Behind the load of the word, so that nothing is reserved after a retirement and a bump. */
	if (UNLIKELY(load_relaxed(&etw_ring_set_page(set)->is_retired)))
		return -ESTALE;
	if (UNLIKELY(offset + units > set->buffer_units || buffer >= set->buffer_count))
		return -ENOSPC;
	unit = (uint64_t)buffer * set->buffer_units + offset;
	ret->word_at = at;
	ret->word = word;
	ret->at = ring + set->buffers_at + unit * 8;
	ret->mark = ring + set->maps_at + unit;
	SCHED_POINT("ring.reserve.loaded");
	return 0;
}

/*
 * etw_ring_take() - takes the place that was offered. The event's time is to be read after etw_ring_look(), and before this, so
 * that it grows with the place in the ring.
 *
 * Returns false when another writer or the host was faster.
 */
static ALWAYS_INLINE bool etw_ring_take(const struct etw_ring_offer *offer, uint32_t units)
{
	uint64_t word = offer->word;

	if (UNLIKELY(!cas_acq_rel(offer->word_at, &word, word + units)))
		return false;
	/* Others see the place as reserved: until it is committed it is a gap. */
	SCHED_POINT("ring.reserve.claimed");
	etw_ring_take_over(offer->at, units * 8);
	return true;
}

/* etw_ring_claim() - the same, for one ring alone. */
static ALWAYS_INLINE bool etw_ring_claim(const struct etw_ring_offer *offer, uint32_t units,
					 int64_t time_raw, struct etw_ring_span *ret)
{
	if (UNLIKELY(!etw_ring_take(offer, units)))
		return false;
	ret->at = offer->at;
	ret->mark = offer->mark;
	ret->time_raw = time_raw;
	return true;
}

/*
 * etw_ring_reserve_direct() - one attempt in the calling CPU's ring, for most events.
 *
 * @units: of 8 bytes
 *
 * Returns false where it is not so simple, and nothing has happened: etw_ring_reserve_slow(). Calls nothing, so that a
 * caller which calls nothing either needs few registers kept.
 */
static ALWAYS_INLINE bool etw_ring_reserve_direct(const struct etw_ring_set *set,
						  const struct etw_clock_page *clock,
						  uint32_t units, struct etw_ring_span *ret)
{
	const uint32_t cpu = etw_cpu_number_fast();
	struct etw_ring_offer offer;

	return LIKELY(cpu < set->direct_count) && LIKELY(etw_clock_is_counter(clock->page)) &&
	       LIKELY(etw_ring_look(set, etw_ring_at(set, cpu), units, &offer) == 0) &&
	       LIKELY(etw_ring_claim(&offer, units, etw_clock_of_counter(clock->page), ret));
}

/* etw_ring_reserve_slow() - etw_ring_reserve() where its one attempt does not do. */
int etw_ring_reserve_slow(const struct etw_ring_set *set, const struct etw_clock_page *clock,
			  uint32_t bytes, struct etw_ring_span *ret);

/*
 * etw_ring_reserve() - claims space for one event in the calling CPU's ring.
 *
 * @bytes: of the whole event, header included, 1 .. 65535; padded to 8 inside
 *
 * Returns 0; -ENOBUFS when no buffer is free (counted as lost); -EMSGSIZE when it cannot fit a buffer
 * (counted); -ESTALE when the set is retired (not counted: see etw_ring_refuse()). @ret is untouched on error.
 * Context: any thread, signal-safe.
 * Order: its CAS pairs with the bump of etw_ring_reader_look() and the switch of others.
 */
static inline int etw_ring_reserve(const struct etw_ring_set *set,
				   const struct etw_clock_page *clock, uint32_t bytes,
				   struct etw_ring_span *ret)
{
	if (LIKELY(bytes - 1 < ETW_RING_EVENT_BYTES_MAX &&
		   etw_ring_reserve_direct(set, clock, (bytes + 7) / 8, ret)))
		return 0;
	return etw_ring_reserve_slow(set, clock, bytes, ret);
}

/*
 * etw_ring_refuse() - an event that a retired set did not take, whatever other sets took.
 *
 * Returns 0 when the session is over, or this process has given the set back: nobody wants the event. -ENOBUFS
 * when the session has other rings by now, of which the writer does not know: the event counts as lost.
 * Context: any thread, signal-safe.
 */
int etw_ring_refuse(const struct etw_ring_set *set);

/*
 * etw_ring_count_filtered() - an event that the session's filters took away: counted, and nothing more. Not where the set is
 * retired. Context: any thread, signal-safe.
 */
void etw_ring_count_filtered(const struct etw_ring_set *set);

/*
 * etw_ring_commit() - makes the event visible. Pairs with etw_ring_reader_peek().
 */
static inline void etw_ring_commit(const struct etw_ring_span *span)
{
	SCHED_POINT("ring.commit.before");
	etw_ring_hand_over(span->at);
	store_release(span->mark, (uint8_t)WIRE_RING_COMMITTED);
	SCHED_POINT("ring.commit.done");
}

/*
 * etw_ring_abandon() - gives the place up; the first 8 bytes must hold an event header's first 8 bytes,
 * so that readers can step over it.
 */
static inline void etw_ring_abandon(const struct etw_ring_span *span)
{
	etw_ring_hand_over(span->at);
	store_release(span->mark, (uint8_t)WIRE_RING_ABANDONED);
}

#endif
