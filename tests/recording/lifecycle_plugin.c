/* SPDX-License-Identifier: MIT */
/*
 * A plugin that registers a provider, writes events, and goes: well-behaved or not. The library that it is
 * linked with stays loaded; the plugin's own code does not.
 */
#include <stddef.h>
#include <unistd.h>

#include "base/time.h"
#include "recording/enabled.h"
#include "recording/lifecycle_kind.h"

#define PLACE 0

static enum lifecycle_kind kind;
static enum lifecycle_plugin_end wanted_end;

/* Registering waits for the host and the callback, but not for as long as a loaded machine may need. */
static bool await_enabled(bool has_callback)
{
	const uint64_t end_ms = etw_monotonic_ms() + ENABLED_MS;
	bool has_waited = false;

	while (!lifecycle_is_enabled(kind, PLACE) || lifecycle_callbacks() < has_callback) {
		if (etw_monotonic_ms() > end_ms)
			return false;
		has_waited = true;
		usleep(500);
	}
	if (has_waited)
		usleep(100000); /* so that the callback returns before its code goes */
	return true;
}

__attribute__((visibility("default"))) int lifecycle_plugin_run(
	const struct lifecycle_plugin_order *order)
{
	wanted_end = order->end;
	kind = order->kind;
	if (!lifecycle_register(kind, PLACE, order->has_callback) ||
	    !await_enabled(order->has_callback))
		return 1;
	(void)add_acq_rel(order->callbacks, lifecycle_callbacks());
	for (uint32_t i = 0; i < order->events; i++)
		lifecycle_write(kind, PLACE, order->log, order->writer);
	if (wanted_end == LIFECYCLE_UNREGISTER)
		return !lifecycle_unregister(kind, PLACE);
	return 0;
}

__attribute__((destructor)) static void end(void)
{
	if (wanted_end == LIFECYCLE_IN_DESTRUCTOR)
		(void)lifecycle_unregister(kind, PLACE);
}
