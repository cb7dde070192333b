/* SPDX-License-Identifier: MIT */
/*
 * The writers' end of a ring: reserve, copy, commit. Any thread of any process that maps the set, signal
 * handlers included: no lock, no allocation, no system call but one futex wake at a switch of buffers,
 * and only when the host sleeps.
 */
#ifndef ETW_RING_WRITER_H
#define ETW_RING_WRITER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#endif

#include "base/atomic.h"
#include "base/sched_point.h"
#include "ring/clock.h"
#include "ring/handover.h"
#include "ring/ring_set.h"

#define ETW_RING_EVENT_BYTES_MAX 65535 /* what an event header's size can say */

/* A reserved place. */
struct etw_ring_span {
	uint8_t *at;      /* the event's first byte, 8-aligned */
	uint8_t *mark;    /* its byte of the map */
	int64_t time_raw; /* read inside the reserve: grows with the place in the ring */
};

/* etw_cpu_number_slow() - the calling CPU where rseq does not tell it; 0 when nothing does. */
uint32_t etw_cpu_number_slow(void);

/*
 * etw_cpu_number() - the CPU that runs the caller, as good as any such number: it may have changed since.
 * From the area that glibc shares with the kernel, so that it costs two loads.
 */
static inline uint32_t etw_cpu_number(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	if (LIKELY(__rseq_size >= offsetof(struct rseq, cpu_id) + sizeof(uint32_t))) {
		const uint8_t *area = (const uint8_t *)__builtin_thread_pointer() + __rseq_offset;
		const struct rseq *rseq = (const struct rseq *)(const void *)area;
		int32_t cpu = (int32_t)load_relaxed(&rseq->cpu_id);

		/* Negative: this thread's registration failed. */
		if (LIKELY(cpu >= 0))
			return (uint32_t)cpu;
	}
#endif
	return etw_cpu_number_slow();
}

/*
 * etw_ring_try_reserve() - one attempt, a part of etw_ring_reserve().
 *
 * @units:     of 8 bytes
 * @is_fenced: several CPUs write here, so the clock must not be read before the word is
 *
 * Returns 0; -EAGAIN when another writer or the host was faster; -ENOSPC when the open buffer has not the
 * room, or the word or the queue make no sense; -ESTALE.
 */
static inline int etw_ring_try_reserve(const struct etw_ring_set *set,
				       const struct etw_clock_page *clock, uint8_t *ring,
				       uint32_t units, int is_fenced, struct etw_ring_span *ret)
{
	uint64_t *at = &((struct wire_ring *)(void *)ring)->word;
	/* Pairs with the switch: who sees the word in a slot sees the slot's buffer. */
	uint64_t word = load_acquire(at);
	uint32_t offset = wire_ring_word_offset(word);
	uint32_t slot = wire_ring_word_slot(word) & (set->slot_count - 1);
	uint32_t *queue = (uint32_t *)(void *)(ring + set->queue_at);
	uint32_t buffer = load_relaxed(&queue[slot]) - 1;
	int64_t time_raw;

	/* Behind the load of the word, so that nothing is reserved after a retirement and a bump. */
	if (UNLIKELY(load_relaxed(&etw_ring_set_page(set)->is_retired)))
		return -ESTALE;
	if (UNLIKELY(offset + units > set->buffer_bytes / 8 || buffer >= set->buffer_count))
		return -ENOSPC;
	SCHED_POINT("ring.reserve.loaded");
	if (is_fenced)
		etw_cpu_counter_fence();
	time_raw = etw_clock_now(clock, set->clock_type);
	if (UNLIKELY(!cas_acq_rel(at, &word, word + units)))
		return -EAGAIN;
	/* Others see the place as reserved: until it is committed it is a gap. */
	SCHED_POINT("ring.reserve.claimed");
	ret->at = ring + set->buffers_at + (uint64_t)buffer * set->buffer_bytes +
		  (uint64_t)offset * 8;
	ret->mark = ring + set->maps_at + (uint64_t)buffer * (set->buffer_bytes / 8) + offset;
	ret->time_raw = time_raw;
	etw_ring_take_over(ret->at, units * 8);
	return 0;
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
	uint32_t cpu = etw_cpu_number();

	if (LIKELY(cpu < set->cpu_count && !set->is_shared &&
		   bytes - 1 < ETW_RING_EVENT_BYTES_MAX &&
		   etw_ring_try_reserve(set, clock, etw_ring_at(set, cpu), (bytes + 7) / 8,
					/* is_fenced= */ 0, ret) == 0))
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
