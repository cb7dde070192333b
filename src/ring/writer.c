/* SPDX-License-Identifier: MIT */
/*
 * The part of a write that is not for every event: the switch to the next buffer, the wake of a host
 * that sleeps, the account of what finds no room. All of it may run in a signal handler that interrupted
 * itself. Source: docs/design/recording.md "Rings".
 */
#include "ring/writer.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"
#include "ring/slot.h"

/* More often than this no honest writers and host are faster than one that tries: some other changes the words for ever. */
#define RESERVE_TRIES 1000000

/* Pairs with the host's store of 1 before its last look. */
static void wake_host(const struct etw_ring_set *set)
{
	uint32_t *asleep = &etw_ring_set_page(set)->asleep;
	int saved_errno;

	if (load_seq_cst(asleep) != 1 || exchange_seq_cst(asleep, 0u) != 1)
		return;
	saved_errno = errno; /* a signal handler must leave it as it was */
	(void)syscall(SYS_futex, asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved_errno;
}

/*
 * Makes room by leaving the open slot. Returns 0 to look again, or -ENOBUFS when the next slot has no
 * buffer, or the word or the queue are such as no writer leaves them.
 */
static int make_room(const struct etw_ring_set *set, uint8_t *ring)
{
	uint64_t *at = &etw_ring_head(ring)->word;
	uint64_t word = load_acquire(at);
	uint32_t slot = wire_ring_word_slot(word);
	uint32_t next = (slot + 1) & (set->slot_count - 1);

	if (slot < set->slot_count && wire_ring_word_offset(word) <= set->buffer_bytes / 8 &&
	    load_acquire(etw_ring_queue(set, ring, slot)) - 1 < set->buffer_count &&
	    load_acquire(etw_ring_queue(set, ring, next)) - 1 < set->buffer_count) {
		if (etw_ring_switch(set, ring, word))
			wake_host(set);
		return 0;
	}
	/* What the queue said is about this word only if the word is still there. */
	return load_acquire(at) == word ? -ENOBUFS : 0;
}

int etw_ring_refuse(const struct etw_ring_set *set)
{
	struct wire_ring_set *page = etw_ring_set_page(set);
	uint64_t seen;

	/* Whoever retires a set because its session is over says that first. */
	(void)load_acquire(&page->is_retired);
	seen = load_acquire(&page->refused);
	/* Not added blindly: what the host reads when it has said "over" must be the last word. */
	for (unsigned i = 0; i < RESERVE_TRIES; i++) {
		if (seen & WIRE_RING_OVER)
			return 0;
		SCHED_POINT("ring.refuse.loaded");
		if (cas_acq_rel(&page->refused, &seen, seen + 1))
			break;
	}
	return -ENOBUFS;
}

/* A CPU that came after the set was made has no ring of its own. */
static uint8_t *choose_ring(const struct etw_ring_set *set)
{
	return etw_ring_at(
		set, set->flags & WIRE_RING_ONE_STREAM ? 0 : etw_cpu_number() % set->cpu_count);
}

void etw_ring_count_filtered(const struct etw_ring_set *set)
{
	if (!load_acquire(&etw_ring_set_page(set)->is_retired))
		add_relaxed(&etw_ring_head(choose_ring(set))->filtered, 1u);
}

int etw_ring_reserve_slow(const struct etw_ring_set *set, const struct etw_clock_page *clock,
			  uint32_t bytes, struct etw_ring_span *ret)
{
	uint8_t *ring = choose_ring(set);
	uint32_t units = bytes / 8 + (bytes % 8 != 0);
	bool is_too_large = bytes - 1 >= ETW_RING_EVENT_BYTES_MAX || units > set->buffer_units;

	for (unsigned i = 0; i < RESERVE_TRIES; i++) {
		struct etw_ring_offer offer;
		int result;

		if (load_acquire(&etw_ring_set_page(set)->is_retired))
			return -ESTALE;
		if (UNLIKELY(is_too_large)) {
			add_relaxed(&etw_ring_head(ring)->lost_too_large, 1u);
			return -EMSGSIZE;
		}
		result = etw_ring_look(set, ring, units, &offer);
		if (result == -ESTALE)
			return result;
		if (result == 0) {
			/* Other CPUs may write here: then the clock must not be read before the word is. */
			etw_cpu_counter_fence();
			if (etw_ring_claim(&offer, units, etw_clock_now(clock, set->clock_type),
					   ret))
				return 0;
			continue;
		}
		if (make_room(set, ring) < 0) {
			/* A mapping that was retired meanwhile has no buffers either. */
			if (load_acquire(&etw_ring_set_page(set)->is_retired))
				return -ESTALE;
			break;
		}
	}
	add_relaxed(&etw_ring_head(ring)->lost_no_buffer, 1u);
	return -ENOBUFS;
}
