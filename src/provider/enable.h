/* SPDX-License-Identifier: MIT */
/*
 * What sessions want of a registration. The listener writes the half of the state that is not in use and
 * then turns the gate; a writer reads the half that the gate names and then looks whether the gate is
 * still the same. So no event is judged by a mixture of two states, and neither side waits.
 */
#ifndef ETW_PROVIDER_ENABLE_H
#define ETW_PROVIDER_ENABLE_H

#include <errno.h>
#include <string.h>

#include <evntcons.h>

#include "base/atomic.h"
#include "provider/items.h"
#include "provider/registrations.h"
#include "provider/ring_sets.h"
#include "provider/thread.h"

/* One session's wish, with its ring set looked up. */
struct etw_enable_wish {
	const struct etw_ring_mapping *ring; /* NULL: none */
	uint64_t match_any, match_all;
	const struct wire_event_filter *filter; /* NULL: none */
	uint32_t property;
	uint8_t level;
};

/*
 * etw_enable_set() - changes the slots of one link.
 *
 * @wishes: etw_link_slots() of them
 *
 * Returns whether anything changed. Holding the lock.
 * Order: pairs with etw_enable_collect().
 */
bool etw_enable_set(struct etw_registration *registration, unsigned link,
		    const struct etw_enable_wish *wishes);

/*
 * etw_enable_retire_ring() - takes a set out of all slots of all registrations, then retires it.
 *
 * Returns as etw_provider_ring_sets_retire(). Owner thread (the listener), holding the lock.
 */
int etw_enable_retire_ring(struct etw_ring_mapping *ring);

/* What is asked of the slots. */
struct etw_enable_query {
	uint64_t keyword;
	uint8_t level;
	bool is_in_private; /* EVENT_WRITE_FLAG_INPRIVATE */
	uint32_t excluded; /* slots of sessions that are not to have it, as their InstanceId says */
};

#if defined(__x86_64__) && !defined(ETW_THREAD_SANITIZED)
/* Both words in one register: who reads halves of two GUIDs also finds that the gate has turned. */
typedef uint64_t etw_provider_words __attribute__((vector_size(16)));

static inline void etw_enable_load_provider(const struct etw_registration *registration,
					    etw_provider_words *ret)
{
	memcpy(ret, registration->provider, sizeof(*ret));
	__asm__ volatile("" : "+x"(*ret) : : "memory"); /* now, before the gate */
}
#else
typedef uint64_t etw_provider_words[2];

static inline void etw_enable_load_provider(const struct etw_registration *registration,
					    etw_provider_words *ret)
{
	(*ret)[0] = load_acquire(&registration->provider[0]);
	(*ret)[1] = load_acquire(&registration->provider[1]);
}
#endif

/* Whether one of the slots in @excluded is of the session that has @ring, which may have two. */
static inline bool etw_enable_is_excluded(const struct etw_enable_slot *slots, uint32_t excluded,
					  const struct etw_ring_mapping *ring)
{
	for (; excluded; excluded &= excluded - 1) {
		if (load_acquire(&slots[(unsigned)__builtin_ctz(excluded)].ring) == ring)
			return true;
	}
	return false;
}

/* What a writer needs of a registration, of one moment. */
struct etw_enable_view {
	uint64_t gate;
	etw_provider_words provider;
	const struct etw_traits *traits;
	bool is_typed;
	bool is_filtered;  /* `excluded` and `filters` are there, and are still to be applied */
	uint32_t excluded; /* bit i: rings[i] is not to have the event */
	unsigned ring_count;
	const struct etw_ring_mapping *rings[ETW_PROVIDER_SLOTS]; /* that want the event */
	uint32_t
		items[ETW_PROVIDER_SLOTS]; /* of each of these: ETW_ENABLE_ITEMS that it asks for */
	const struct wire_event_filter *filters
		[ETW_PROVIDER_SLOTS]; /* where it is filtered, of each of these; NULL: none */
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
	return gate >> ETW_GATE_SLOTS_SHIFT & ETW_GATE_SLOTS_ALL;
}

/* Source: docs/design/recording.md "The write path": level 0 and keyword 0 pass every filter. */
static inline bool etw_enable_passes(const struct etw_enable_slot *slot, uint8_t level,
				     uint64_t keyword)
{
	if (level > load_acquire(&slot->level))
		return false;
	if (keyword == 0)
		return !(load_acquire(&slot->property) & EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0);
	return (keyword & load_acquire(&slot->match_any)) != 0 &&
	       (~keyword & load_acquire(&slot->match_all)) == 0;
}

static inline bool etw_enable_is_wanted(const struct etw_enable_slot *slot,
					const struct etw_enable_query *query)
{
	if (UNLIKELY(query->is_in_private &&
		     load_acquire(&slot->property) & EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE))
		return false;
	return etw_enable_passes(slot, query->level, query->keyword);
}

/*
 * A session that has enabled both a provider and its group has two slots, and gets an event that both want once, with
 * what either asks for.
 */
static inline void etw_enable_add(struct etw_enable_view *view, const struct etw_ring_mapping *ring,
				  uint32_t items)
{
	unsigned i = 0;

	while (i < view->ring_count && view->rings[i] != ring)
		i++;
	if (LIKELY(i == view->ring_count)) {
		view->rings[view->ring_count++] = ring;
		view->items[i] = 0;
	}
	view->items[i] |= items;
}

/*
 * etw_enable_collect() - the rings that an event goes to.
 *
 * The rings may be used by a thread that is inside (provider/thread.h) since before this. Returns 0; -EBADF: no
 * such registration. Context: any thread, signal-safe.
 */
static inline int etw_enable_collect(uint64_t handle, const struct etw_enable_query *query,
				     struct etw_enable_view *ret)
{
	const struct etw_registration *registration = etw_handle_registration(handle);
	uint64_t gate;

	if (!registration)
		return -EBADF;
	do {
		const struct etw_enable_slot *slots;

		/* Pairs with the release in etw_enable_set() and in registrations.c. */
		gate = load_acquire(&registration->gate);
		if (!etw_handle_is_of(handle, gate))
			return -EBADF;
		slots = etw_enable_slots(registration, gate);
		ret->ring_count = 0;
		ret->excluded = 0;
		ret->is_filtered = load_acquire(&registration->general) & ETW_GENERAL_FILTERS ||
				   query->excluded;
		for (uint32_t bits = etw_gate_slots(gate); bits; bits &= bits - 1) {
			const unsigned at = (unsigned)__builtin_ctz(bits);
			const struct etw_enable_slot *slot = &slots[at];
			const struct etw_ring_mapping *ring;
			uint32_t items;

			if (!etw_enable_is_wanted(slot, query))
				continue;
			ring = load_acquire(&slot->ring);
			/* Of which filters may take the stack away. */
			items = load_acquire(&slot->property) & ETW_ENABLE_ITEMS;
			if (LIKELY(!ret->is_filtered)) {
				etw_enable_add(ret, ring, items);
				continue;
			}
			/* Slots of one session stay apart until it is known which of them want the event. */
			ret->filters[ret->ring_count] =
				load_acquire(&registration->filters[gate & 1][at]);
			if (etw_enable_is_excluded(slots, query->excluded & etw_gate_slots(gate),
						   ring))
				ret->excluded |= 1u << ret->ring_count;
			ret->items[ret->ring_count] = items;
			ret->rings[ret->ring_count++] = ring;
		}
		etw_enable_load_provider(registration, &ret->provider);
		ret->traits = load_acquire(&registration->traits);
		ret->is_typed = load_acquire(&registration->is_typed);
		/* A change has happened meanwhile: the listener got on, so this ends. */
	} while (UNLIKELY(load_relaxed(&registration->gate) != gate));
	ret->gate = gate;
	return 0;
}

#endif
