/* SPDX-License-Identifier: MIT */
/* What both ends of a ring do in the same way: the words of a slot, and leaving it. */
#ifndef ETW_RING_SLOT_H
#define ETW_RING_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_set.h"

static inline struct wire_ring *etw_ring_head(uint8_t *ring)
{
	return (struct wire_ring *)(void *)ring;
}

/* @slot: below set->slot_count */
static inline uint64_t *etw_ring_end(const struct etw_ring_set *set, uint8_t *ring, uint32_t slot)
{
	return (uint64_t *)(void *)(ring + set->ends_at) + slot;
}

/* @slot: below set->slot_count */
static inline uint32_t *etw_ring_queue(const struct etw_ring_set *set, uint8_t *ring, uint32_t slot)
{
	return (uint32_t *)(void *)(ring + set->queue_at) + slot;
}

/*
 * etw_ring_raise_end() - makes *@end at least @value.
 *
 * Returns false when it was changed under it so often that something must be wrong with the others.
 */
bool etw_ring_raise_end(uint64_t *end, uint64_t value);

/*
 * etw_ring_switch() - moves the word from @word to the next slot, whose buffer the caller has seen.
 *
 * @word: loaded before, its slot below set->slot_count
 *
 * Returns false when the word had changed: look at it again.
 */
bool etw_ring_switch(const struct etw_ring_set *set, uint8_t *ring, uint64_t word);

#endif
