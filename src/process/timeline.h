/* SPDX-License-Identifier: MIT */
/*
 * What an id stood for, over time: a row of moments from each of which on it stood for something else. Private to
 * src/process.
 */
#ifndef ETW_PROCESS_TIMELINE_H
#define ETW_PROCESS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

struct etw_moment {
	int64_t from_ft;
	void *what;
};

/* Of one id. */
struct etw_timeline {
	uint32_t id;
	uint32_t room;
	size_t count;
	struct etw_moment *moments; /* by time; owned by the timelines */
};

/* Of all ids of a kind. */
struct etw_timelines {
	struct etw_table table;    /* of timelines, in the arena */
	struct etw_timeline **all; /* owned; to free their moments */
	size_t room;
	size_t moments; /* of all of them */
};

/* etw_timelines_done() - frees everything but what lies in the arena; takes a zeroed struct. */
void etw_timelines_done(struct etw_timelines *timelines);

/* etw_timelines_find() - the moments of this id; NULL when there are none. */
const struct etw_timeline *etw_timelines_find(const struct etw_timelines *timelines, uint32_t id);

/*
 * etw_timelines_add() - from @from_ft on the id stands for @what.
 *
 * A time before the last moment's counts as that. Returns 0 or -ENOMEM.
 */
int etw_timelines_add(struct etw_timelines *timelines, struct etw_arena *arena, uint32_t id,
		      int64_t from_ft, void *what);

/* etw_timeline_at() - what the id stood for; NULL before the first moment, and for no timeline. */
void *etw_timeline_at(const struct etw_timeline *timeline, int64_t time_ft);

/* etw_timeline_last() - what it stands for now; NULL for no timeline. */
static inline void *etw_timeline_last(const struct etw_timeline *timeline)
{
	return timeline ? timeline->moments[timeline->count - 1].what : NULL;
}

#endif
