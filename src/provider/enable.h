/* SPDX-License-Identifier: MIT */
/*
 * What sessions want of a registration. The listener writes the half of the state that is not in use and
 * then turns the gate; a writer reads the half that the gate names and then looks whether the gate is
 * still the same. So no event is judged by a mixture of two states, and neither side waits.
 */
#ifndef ETW_PROVIDER_ENABLE_H
#define ETW_PROVIDER_ENABLE_H

#include <errno.h>

#include <evntcons.h>

#include "base/atomic.h"
#include "provider/registry.h"
#include "provider/rings.h"

/* One session's wish, with its ring set looked up. */
struct etw_enable_wish {
	const struct etw_ring_mapping *ring; /* NULL: none */
	uint64_t match_any, match_all;
	uint32_t property;
	uint8_t level;
};

/*
 * etw_enable_set() - changes the slots of one link.
 *
 * @wishes: WIRE_ENABLE_SLOTS
 *
 * Returns whether anything changed. Holding the lock.
 * Order: pairs with etw_enable_collect().
 */
bool etw_enable_set(struct etw_registration *registration, unsigned link,
		    const struct etw_enable_wish *wishes);

/* etw_enable_drop_ring() - takes a set out of all slots of all registrations. Holding the lock. */
void etw_enable_drop_ring(const struct etw_ring_mapping *ring);

/* What is asked of the slots. */
struct etw_enable_query {
	uint64_t keyword;
	uint8_t level;
	bool is_in_private; /* EVENT_WRITE_FLAG_INPRIVATE */
};

/* What a writer needs of a registration, of one moment. */
struct etw_enable_view {
	uint64_t gate;
	uint64_t provider[2];
	const struct etw_traits *traits;
	bool is_typed;
	unsigned ring_count;
	const struct etw_ring_mapping *rings[ETW_PROVIDER_SLOTS]; /* that want the event */
};

/* The slots that @gate names. */
static inline const struct etw_enable_slot *etw_enable_slots(
	const struct etw_registration *registration, uint64_t gate)
{
	return registration->states[gate & 1];
}

/* One bit for each slot that is enabled. */
static inline uint32_t etw_gate_slots(uint64_t gate)
{
	return gate >> ETW_GATE_SLOTS_SHIFT & 0xFFFF;
}

/* Source: docs/design/recording.md "The write path": level 0 and keyword 0 pass every filter. */
static inline bool etw_enable_is_wanted(const struct etw_enable_slot *slot,
					const struct etw_enable_query *query)
{
	const uint32_t property = load_acquire(&slot->property);

	if (query->level > load_acquire(&slot->level))
		return false;
	if (UNLIKELY(query->is_in_private && property & EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE))
		return false;
	if (query->keyword == 0)
		return !(property & EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0);
	return (query->keyword & load_acquire(&slot->match_any)) != 0 &&
	       (~query->keyword & load_acquire(&slot->match_all)) == 0;
}

/*
 * etw_enable_collect() - the rings that an event goes to.
 *
 * Returns 0; -EBADF: no such registration. Context: any thread, signal-safe.
 */
int etw_enable_collect(uint64_t handle, const struct etw_enable_query *query,
		       struct etw_enable_view *ret);

/* etw_provider_wants() - EventEnabled, EventProviderEnabled. False without such a registration. */
bool etw_provider_wants(uint64_t handle, uint8_t level, uint64_t keyword);

#endif
