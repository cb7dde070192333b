/* SPDX-License-Identifier: MIT */
/* How a slot is left. May run in a signal handler that interrupted itself. Source: docs/design/recording.md "Rings". */
#include "ring/slot.h"

#include "base/atomic.h"
#include "base/sched_point.h"

#define RAISE_TRIES 1000

bool etw_ring_raise_end(uint64_t *end, uint64_t value)
{
	uint64_t seen = load_relaxed(end);

	for (int i = 0; i < RAISE_TRIES; i++) {
		if (!wire_ring_end_is_before(seen, value) || cas_acq_rel(end, &seen, value))
			return true;
	}
	return false;
}

bool etw_ring_switch(const struct etw_ring_set *set, uint8_t *ring, uint64_t word)
{
	uint32_t generation = wire_ring_word_generation(word);
	uint32_t slot = wire_ring_word_slot(word);
	uint32_t next = (slot + 1) & (set->slot_count - 1);

	if (!etw_ring_raise_end(etw_ring_end(set, ring, slot),
				wire_ring_end(generation, wire_ring_word_offset(word))))
		return false;
	/* The slot has an end that may yet be raised; the word is still in it. */
	SCHED_POINT("ring.switch.ended");
	/* seq_cst: the load of `asleep` that follows must not be taken before it. */
	if (!cas_seq_cst(&etw_ring_head(ring)->word, &word,
			 wire_ring_word(generation + 1, next, 0)))
		return false;
	/* The slot is closed, its end final; a host that slept sleeps on. */
	SCHED_POINT("ring.switch.done");
	return true;
}
