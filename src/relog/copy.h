/* SPDX-License-Identifier: MIT */
/* An event that outlives the callback that showed it. */
#ifndef ETW_RELOG_COPY_H
#define ETW_RELOG_COPY_H

#include "relog/event.h"

/*
 * etw_relog_event_copy() - a copy of an event, its changes included, with all that it points to.
 *
 * @ret_memory: owned, free(); what @ret points to is in it
 *
 * Returns 0 or -ENOMEM.
 */
int etw_relog_event_copy(const struct etw_relog_event *event, struct etw_relog_event *ret,
			 void **ret_memory);

#endif
