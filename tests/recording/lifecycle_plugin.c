/* SPDX-License-Identifier: MIT */
/*
 * A plugin that registers a provider, writes events, and goes: well-behaved or not. The library that it is
 * linked with stays loaded; the plugin's own code does not.
 */
#include <stddef.h>
#include <unistd.h>

#include <winerror.h>

#include "recording/enabled.h"
#include "recording/lifecycle_shared.h"

static REGHANDLE provider;
static enum lifecycle_plugin_end wanted_end;
static uint32_t *callbacks;

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)context;
	(void)add_acq_rel(callbacks, 1u);
}

/* EventRegister waits for the host and the callback, but not for as long as a loaded machine may need. */
static bool await_enabled(uint32_t callbacks_wanted)
{
	uint64_t end_ms = etw_monotonic_ms() + ENABLED_MS;

	if (EventProviderEnabled(provider, 0, 0) && load_acquire(callbacks) == callbacks_wanted)
		return true;
	while (load_acquire(callbacks) != callbacks_wanted) {
		if (etw_monotonic_ms() > end_ms)
			return false;
		usleep(500);
	}
	usleep(100000); /* so that the callback returns before its code goes */
	return becomes_enabled(provider);
}

__attribute__((visibility("default"))) int lifecycle_plugin_run(
	const struct lifecycle_plugin_order *order)
{
	uint32_t callbacks_wanted = load_acquire(order->callbacks) + order->has_callback;

	wanted_end = order->end;
	callbacks = order->callbacks;
	if (EventRegister(&lifecycle_plugin_provider, order->has_callback ? on_enable : NULL, NULL,
			  &provider) ||
	    !await_enabled(callbacks_wanted))
		return 1;
	for (uint32_t i = 0; i < order->events; i++)
		lifecycle_write(provider, order->log, order->writer);
	if (wanted_end == LIFECYCLE_UNREGISTER)
		return EventUnregister(provider) != ERROR_SUCCESS;
	return 0;
}

__attribute__((destructor)) static void end(void)
{
	if (wanted_end == LIFECYCLE_IN_DESTRUCTOR)
		(void)EventUnregister(provider);
}
