/* SPDX-License-Identifier: MIT */
#include "provider/enable.h"

#include "provider/loggers.h"

static uint64_t slot_bits_of(unsigned link)
{
	return UINT64_C(0xFF) << (ETW_GATE_SLOTS_SHIFT + link * WIRE_ENABLE_SLOTS) &
	       ETW_GATE_SLOTS_MASK;
}

/* Releases, not plain stores: whoever sees one of them also sees the gate that left this half behind. */
static void copy_slot(struct etw_enable_slot *to, const struct etw_enable_slot *from)
{
	store_release(&to->match_any, load_relaxed(&from->match_any));
	store_release(&to->match_all, load_relaxed(&from->match_all));
	store_release(&to->ring, load_relaxed(&from->ring));
	store_release(&to->level, load_relaxed(&from->level));
	store_release(&to->property, load_relaxed(&from->property));
}

static void copy_filter(struct etw_registration *registration, uint64_t from, uint64_t to,
			unsigned slot)
{
	store_release(&registration->filters[to & 1][slot],
		      load_relaxed(&registration->filters[from & 1][slot]));
}

static bool has_filters(const struct etw_registration *registration, uint64_t version,
			uint64_t bits)
{
	for (unsigned i = 0; i < ETW_PROVIDER_SLOTS; i++) {
		if (bits >> (ETW_GATE_SLOTS_SHIFT + i) & 1 &&
		    load_relaxed(&registration->filters[version & 1][i]))
			return true;
	}
	return false;
}

static struct etw_enable_slot slot_of(const struct etw_enable_wish *wish)
{
	return (struct etw_enable_slot){
		.match_any = wish->match_any ? wish->match_any : UINT64_MAX,
		.match_all = wish->match_all,
		.ring = wish->ring,
		.level = wish->level,
		.property = wish->property,
	};
}

static bool is_same(const struct etw_enable_slot *left, const struct etw_enable_slot *right)
{
	return load_relaxed(&left->match_any) == right->match_any &&
	       load_relaxed(&left->match_all) == right->match_all &&
	       load_relaxed(&left->ring) == right->ring &&
	       load_relaxed(&left->level) == right->level &&
	       load_relaxed(&left->property) == right->property;
}

/* Whether a session asks for what only the general path does. */
static bool is_general(const struct etw_enable_slot *slots, uint64_t bits)
{
	for (bits = etw_gate_slots(bits); bits; bits &= bits - 1) {
		const struct etw_enable_slot *slot = &slots[(unsigned)__builtin_ctzll(bits)];

		if (load_relaxed(&slot->property) & ETW_ENABLE_ITEMS)
			return true;
	}
	return false;
}

static bool has_ring_twice(const struct etw_enable_slot *slots, uint64_t bits)
{
	for (bits = etw_gate_slots(bits); bits; bits &= bits - 1) {
		const struct etw_ring_mapping *ring =
			load_relaxed(&slots[(unsigned)__builtin_ctzll(bits)].ring);

		for (uint64_t others = bits & (bits - 1); others; others &= others - 1) {
			if (load_relaxed(&slots[(unsigned)__builtin_ctzll(others)].ring) == ring)
				return true;
		}
	}
	return false;
}

/* enum etw_general, but for what does not depend on the slots. */
static uint32_t general_of(const struct etw_registration *registration, uint64_t version,
			   uint64_t bits)
{
	const struct etw_enable_slot *slots = registration->states[version & 1];

	return (is_general(slots, bits) ? ETW_GENERAL_ENABLE : 0u) |
	       (has_filters(registration, version, bits) ? ETW_GENERAL_FILTERS : 0u) |
	       (has_ring_twice(slots, bits) ? ETW_GENERAL_TWICE : 0u);
}

/* Behind the version's slots, in front of its gate. @bits: the slots that are used */
static void set_plain(struct etw_registration *registration, uint64_t version, uint64_t bits,
		      uint32_t general)
{
	struct etw_enable_plain *plain = &registration->plain[version & 1];
	const uint32_t slots = etw_gate_slots(bits);

	if (!slots || slots & (slots - 1) || general & (ETW_GENERAL_ENABLE | ETW_GENERAL_FILTERS)) {
		store_release(&plain->handle, UINT64_C(0));
		return;
	}
	copy_slot(&plain->slot, &registration->states[version & 1][(unsigned)__builtin_ctz(slots)]);
	store_release(&plain->handle, etw_registration_handle(registration));
}

bool etw_enable_set(struct etw_registration *registration, unsigned link,
		    const struct etw_enable_wish *wishes)
{
	const uint64_t gate = load_relaxed(&registration->gate);
	const uint64_t version = (gate + 1) & ETW_GATE_VERSION_MASK;
	const struct etw_enable_slot *from = etw_enable_slots(registration, gate);
	struct etw_enable_slot *to = registration->states[version & 1];
	uint64_t bits = gate & ETW_GATE_SLOTS_MASK & ~slot_bits_of(link);
	const uint32_t general = load_relaxed(&registration->general);
	uint32_t next_general;
	bool is_changed = false;

	for (unsigned i = 0; i < ETW_PROVIDER_SLOTS; i++) {
		const uint64_t bit = UINT64_C(1) << (ETW_GATE_SLOTS_SHIFT + i);
		const bool was_used = gate & bit;
		const struct wire_event_filter *filter;
		struct etw_enable_slot slot;

		if (i / WIRE_ENABLE_SLOTS != link) {
			copy_slot(&to[i], &from[i]);
			copy_filter(registration, gate, version, i);
			continue;
		}
		filter = wishes[i % WIRE_ENABLE_SLOTS].filter;
		store_release(&registration->filters[version & 1][i], filter);
		if (filter != load_relaxed(&registration->filters[gate & 1][i]))
			is_changed = true;
		slot = slot_of(&wishes[i % WIRE_ENABLE_SLOTS]);
		copy_slot(&to[i], &slot);
		if (slot.ring)
			bits |= bit;
		if (was_used != (slot.ring != NULL) || (was_used && !is_same(&from[i], &slot)))
			is_changed = true;
	}
	if (!is_changed) /* the half stays unused, and the next change starts anew */
		return false;
	next_general = (general & ETW_GENERAL_TRAITS) | general_of(registration, version, bits);
	set_plain(registration, version, bits, next_general);
	/* No event of either state takes the plain path when its state asks for more. */
	store_release(&registration->general, general | next_general);
	store_release(&registration->gate,
		      (gate & ~(ETW_GATE_SLOTS_MASK | ETW_GATE_VERSION_MASK)) | version | bits);
	store_release(&registration->general, next_general);
	if (registration->is_classic)
		etw_loggers_update();
	return true;
}

static void drop_ring_of(struct etw_registration *registration, const struct etw_ring_mapping *ring)
{
	const uint64_t gate = load_relaxed(&registration->gate);
	const struct etw_enable_slot *from = etw_enable_slots(registration, gate) +
					     ring->link * WIRE_ENABLE_SLOTS;
	struct etw_enable_wish wishes[WIRE_ENABLE_SLOTS];

	for (unsigned i = 0; i < etw_link_slots(ring->link); i++) {
		const unsigned at = ring->link * WIRE_ENABLE_SLOTS + i;
		const bool is_used = gate & slot_bits_of(ring->link) &
				     UINT64_C(1) << (ETW_GATE_SLOTS_SHIFT + at);

		wishes[i] = (struct etw_enable_wish){
			.ring = load_relaxed(&from[i].ring),
			.match_any = load_relaxed(&from[i].match_any),
			.match_all = load_relaxed(&from[i].match_all),
			.level = (uint8_t)load_relaxed(&from[i].level),
			.property = load_relaxed(&from[i].property),
			.filter = load_relaxed(&registration->filters[gate & 1][at]),
		};
		if (!is_used || wishes[i].ring == ring)
			wishes[i].ring = NULL;
	}
	(void)etw_enable_set(registration, ring->link, wishes);
}

int etw_enable_retire_ring(struct etw_ring_mapping *ring)
{
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++)
		drop_ring_of(i, ring);
	return etw_provider_ring_sets_retire(ring);
}
