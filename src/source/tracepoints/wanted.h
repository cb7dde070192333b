/* SPDX-License-Identifier: MIT */
/* Which tracepoints of a provider a session wants, by level, keywords and the filters of its enable. */
#ifndef ETW_SOURCE_TRACEPOINTS_WANTED_H
#define ETW_SOURCE_TRACEPOINTS_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "wire/event_filter.h"

/* One request, with its filters made ready. Not to be moved: the filters lie in it. */
struct etw_tracepoint_wish {
	struct etw_source_provider provider;
	struct wire_event_filter filter; /* borrows from `provider` */
	struct wire_event_filter
		rest; /* what is left to ask of each event, once tracepoints are chosen */
};

/* etw_tracepoint_wish_read() - @wish: with its provider set. Returns as wire_event_filter_read(). */
int etw_tracepoint_wish_read(struct etw_tracepoint_wish *wish);

/*
 * etw_tracepoint_wish_takes() - whether it wants a tracepoint.
 *
 * Names of a filter may have "*" in them.
 */
bool etw_tracepoint_wish_takes(const struct etw_tracepoint_wish *wish, const char *name,
			       const EVENT_DESCRIPTOR *descriptor);

/* etw_tracepoint_wish_takes_stack() - whether its events are to have stacks. */
bool etw_tracepoint_wish_takes_stack(const struct etw_tracepoint_wish *wish, const char *name,
				     const EVENT_DESCRIPTOR *descriptor);

#endif
