/* SPDX-License-Identifier: MIT */
/*
 * The filters of events that sessions have for registrations of this process: made by the listener of what a host says,
 * read by writers that are inside, and given back when none of these can read them any more (provider/reclaim.h).
 */
#ifndef ETW_PROVIDER_FILTERS_H
#define ETW_PROVIDER_FILTERS_H

#include <stdint.h>

#include "provider/reclaim.h"
#include "wire/event_filter.h"

/* The filters of one session for one registration; fixed. */
struct etw_filters {
	struct wire_event_filter filter;
	struct etw_retired retired;
	size_t bytes;
	uint8_t list[]; /* that the filter borrows */
};

/*
 * etw_filters_make() - from a list that a host sent.
 *
 * @present: what there is for the slot; may be NULL
 *
 * Returns 0 with *@ret: @present, where that is the same; NULL for a list without filters; else a new one. -EPROTO: the
 * list is not sound; -ENOMEM. Holding the lock.
 */
int etw_filters_make(struct etw_bytes list, struct etw_filters *present, struct etw_filters **ret);

/*
 * etw_filters_retire() - gives filters back that no gate leads to any more, once the writers that are inside have left.
 *
 * @filters: taken; may be NULL
 *
 * Owner thread (the listener), holding the lock.
 */
void etw_filters_retire(struct etw_filters *filters);

#endif
