/* SPDX-License-Identifier: MIT */
/* Events whose size is wrong and still leads to a later event, so that those in between are hidden in it. */
#ifndef ETW_ETL_SWALLOWED_H
#define ETW_ETL_SWALLOWED_H

#include "etl/cursor.h"

struct etw_etl_swallowed {
	struct etw_etl_cursor cursor; /* where the search goes on */
	uint32_t steps_left;          /* events that may still be looked at */
	uint32_t offset; /* of the event that holds others, from the end of the buffer header */
	uint32_t inner;  /* of the first that looks like one in it */
	uint32_t bytes;  /* from there to the event's end */
};

/*
 * etw_etl_swallowed_find() - the next event of a block that seems to hold others.
 *
 * @block: loaded
 * @found: zeroed before the first call
 *
 * What lies inside must be a chain of sound events from an aligned place exactly to the end of the event that holds
 * it, of times within the block's. Returns false when there is no more. A block without any costs one look at each
 * aligned word of its payloads; one that is made to cost more is left after as many steps as it has bytes.
 */
bool etw_etl_swallowed_find(const struct etw_etl_block *block, struct etw_etl_swallowed *found);

#endif
