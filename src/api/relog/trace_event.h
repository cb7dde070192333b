/* SPDX-License-Identifier: MIT */
/* ITraceEvent: an event of src/relog as an object of COM. */
#ifndef ETW_API_RELOG_TRACE_EVENT_H
#define ETW_API_RELOG_TRACE_EVENT_H

#include <relogger.h>

#include "relog/event.h"

struct etw_com_event {
	ITraceEvent base;
	uint32_t refs;     /* atomic */
	const void *owner; /* the relogger that made it; compared alone */
	struct etw_relog_event event;
	void *memory;  /* owned: what the event points to; NULL: the pass lends it */
	void *payload; /* owned: of SetPayload; NULL: there was none */
};

/* etw_com_event_create() - an event without anything, with one reference. Returns 0 or -ENOMEM. */
int etw_com_event_create(const void *owner, struct etw_com_event **ret);

/* etw_com_event_of() - the object behind an interface; NULL for one that is no object of this library's. */
struct etw_com_event *etw_com_event_of(ITraceEvent *event);

/* etw_com_event_keep() - copies what the pass lent. Returns 0 or -ENOMEM, and the event is empty then. */
int etw_com_event_keep(struct etw_com_event *event);

/* etw_com_event_unref() - gives a reference back; takes NULL. Returns how many are left. */
ULONG etw_com_event_unref(struct etw_com_event *event);

/* etw_hresult_of() - a module's result as an HRESULT. */
HRESULT etw_hresult_of(int result);

#endif
