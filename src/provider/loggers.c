/* SPDX-License-Identifier: MIT */
#include "provider/loggers.h"

#include <stdbool.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "provider/registrations.h"

static const struct etw_ring_mapping *loggers[ETW_LOGGERS_MAX]; /* atomic; NULL: free */
static uint32_t loggers_end; /* atomic; one behind the last that was ever used */

static uint32_t id_of(const struct etw_ring_mapping *ring)
{
	return ring->set.session_id & ETW_LOGGER_ID_MASK;
}

const struct etw_ring_mapping *etw_loggers_find(uint32_t logger_id)
{
	const uint32_t end = load_acquire(&loggers_end);

	for (uint32_t i = 0; i < end; i++) {
		const struct etw_ring_mapping *ring = load_acquire(&loggers[i]);

		if (ring && id_of(ring) == logger_id)
			return ring;
	}
	return NULL;
}

/* The rings that a classic registration has for a session; NULL: it is not enabled there. */
static const struct etw_ring_mapping *rings_for(const struct etw_registration *registration,
						uint32_t logger_id)
{
	const uint64_t gate = load_relaxed(&registration->gate);

	for (unsigned i = 0; i < ETW_PROVIDER_SLOTS; i++) {
		const struct etw_ring_mapping *ring =
			load_relaxed(&registration->states[gate & 1][i].ring);

		if (gate >> (ETW_GATE_SLOTS_SHIFT + i) & 1 && id_of(ring) == logger_id)
			return ring;
	}
	return NULL;
}

static const struct etw_ring_mapping *find_wanted(uint32_t logger_id)
{
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		const struct etw_ring_mapping *ring = i->is_used && i->is_classic
							      ? rings_for(i, logger_id)
							      : NULL;

		if (ring)
			return ring;
	}
	return NULL;
}

static void add(const struct etw_ring_mapping *ring)
{
	for (uint32_t i = 0; i < ETW_LOGGERS_MAX; i++) {
		if (load_relaxed(&loggers[i]))
			continue;
		store_release(&loggers[i], ring); /* pairs with etw_loggers_find() */
		if (i >= load_relaxed(&loggers_end))
			store_release(&loggers_end, i + 1);
		return;
	}
}

static void add_missing(const struct etw_registration *registration)
{
	const uint64_t gate = load_relaxed(&registration->gate);

	for (unsigned i = 0; i < ETW_PROVIDER_SLOTS; i++) {
		const struct etw_ring_mapping *ring =
			load_relaxed(&registration->states[gate & 1][i].ring);

		if (gate >> (ETW_GATE_SLOTS_SHIFT + i) & 1 && !etw_loggers_find(id_of(ring)))
			add(ring);
	}
}

void etw_loggers_update(void)
{
	for (uint32_t i = 0; i < load_relaxed(&loggers_end); i++) {
		const struct etw_ring_mapping *ring = load_relaxed(&loggers[i]);

		if (ring)
			store_release(&loggers[i], find_wanted(id_of(ring)));
	}
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		if (i->is_used && i->is_classic)
			add_missing(i);
	}
}
