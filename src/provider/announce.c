/* SPDX-License-Identifier: MIT */
#include "provider/announce.h"

#include "base/patience.h"
#include "base/time.h"
#include "provider/callback.h"
#include "provider/links.h"
#include "provider/listener.h"
#include "provider/lock.h"
#include "provider/poke.h"

#define REGISTER_WAIT_MS 200
#define MEET_WAIT_MS     500

static struct etw_link *find_awaited(const struct etw_registration *registration)
{
	for (unsigned i = 0; i < etw_links_count(); i++) {
		if (etw_link_is_awaited(etw_links_at(i), registration))
			return etw_links_at(i);
	}
	return NULL;
}

/* Whether the caller has waited for long enough. A machine that stood still has to let the host run first. */
static bool wait_a_step(struct etw_patience *patience)
{
	etw_provider_wait_until(etw_patience_next_ns(patience));
	return etw_patience_look(patience, etw_monotonic_ns());
}

/* Until the hosts that are there have said who wants it. */
static void await_states(const struct etw_registration *registration)
{
	const uint32_t number = etw_registration_number(registration);
	struct etw_patience patience = etw_patience_begin(REGISTER_WAIT_MS, etw_monotonic_ns());
	struct etw_link *link;

	/* In a callback of another thread's the listener may be waiting for its turn. */
	if (etw_listener_is_caller() || etw_callback_is_caller())
		return;
	while ((link = find_awaited(registration))) {
		if (link->state == ETW_LINK_ABSENT)
			etw_poke();
		if (wait_a_step(&patience)) {
			link->is_slow = true; /* the next registration does not wait for it */
			return;
		}
		if (etw_registration_find(number) != registration)
			return;
	}
}

static void pump_all(void)
{
	for (unsigned i = 0; i < etw_links_count(); i++)
		etw_link_pump(etw_links_at(i));
}

void etw_announce_registration(const struct etw_registration *registration)
{
	pump_all();
	await_states(registration);
}

/* Whether a host is there that does not know all of this process yet. */
static bool lacks_registrations(const struct etw_link *link)
{
	if (link->state == ETW_LINK_CONNECTED)
		return link->is_sync_due || link->sync_sent != 0;
	if (link->state == ETW_LINK_CONNECTING && link->is_slow)
		return false;
	return etw_link_has_new_host(link);
}

static bool some_host_lacks_registrations(void)
{
	for (unsigned i = 0; i < etw_links_count(); i++) {
		if (lacks_registrations(etw_links_at(i)))
			return true;
	}
	return false;
}

void etw_announce_meet(void)
{
	struct etw_patience patience = etw_patience_begin(MEET_WAIT_MS, etw_monotonic_ns());
	bool is_enough = false;

	etw_listener_find_fork();
	etw_provider_lock();
	while (etw_listener_is_running() && !etw_listener_is_caller() &&
	       !etw_callback_is_caller() && !is_enough && some_host_lacks_registrations()) {
		etw_poke(); /* a page that appears tells nobody */
		is_enough = wait_a_step(&patience);
	}
	for (unsigned i = 0; i < etw_links_count(); i++) {
		struct etw_link *link = etw_links_at(i);

		link->is_slow |= link->state == ETW_LINK_CONNECTING;
	}
	etw_provider_unlock();
}

void etw_announce_traits(struct etw_registration *registration)
{
	for (unsigned i = 0; i < etw_links_count(); i++)
		etw_link_describe(etw_links_at(i), registration);
	pump_all();
	await_states(registration);
}

void etw_announce_end(const struct etw_registration *registration, uint32_t number)
{
	for (unsigned i = 0; i < etw_links_count(); i++)
		etw_link_withdraw(etw_links_at(i), registration, number);
	if (etw_listener_is_caller())
		return;
	etw_callback_await(number);
}
