/* SPDX-License-Identifier: MIT */
#include "process/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/macros.h"

void etw_timelines_done(struct etw_timelines *timelines)
{
	for (size_t i = 0; i < timelines->table.count; i++)
		free(timelines->all[i]->moments);
	free(timelines->all);
	etw_table_done(&timelines->table);
	*timelines = (struct etw_timelines){0};
}

static bool has_id(const void *item, const void *key)
{
	return ((const struct etw_timeline *)item)->id == *(const uint32_t *)key;
}

/* Ids come from files: hashed with what nobody can guess, they cannot be made to collide. */
static uint64_t hash_id(uint32_t id)
{
	return etw_hash_mix(etw_hash_seed(), id);
}

const struct etw_timeline *etw_timelines_find(const struct etw_timelines *timelines, uint32_t id)
{
	return etw_table_find(&timelines->table, hash_id(id), has_id, &id);
}

static struct etw_timeline *make_timeline(struct etw_timelines *timelines, struct etw_arena *arena,
					  uint32_t id)
{
	struct etw_timeline *timeline = etw_arena_alloc(arena, sizeof(*timeline));
	size_t count = timelines->table.count;

	if (!timeline)
		return NULL;
	timeline->id = id;
	if (count == timelines->room) {
		size_t room = timelines->room ? timelines->room * 2 : 64;
		struct etw_timeline **all = realloc(timelines->all,
						    room * sizeof(struct etw_timeline *));

		if (!all)
			return NULL;
		timelines->all = all;
		timelines->room = room;
	}
	if (etw_table_insert(&timelines->table, hash_id(id), timeline))
		return NULL;
	timelines->all[count] = timeline;
	return timeline;
}

static int grow(struct etw_timeline *timeline)
{
	uint32_t room = timeline->room ? timeline->room * 2 : 1;
	struct etw_moment *moments = realloc(timeline->moments, room * sizeof(*moments));

	if (!moments)
		return -ENOMEM;
	timeline->moments = moments;
	timeline->room = room;
	return 0;
}

int etw_timelines_add(struct etw_timelines *timelines, struct etw_arena *arena, uint32_t id,
		      int64_t from_ft, void *what)
{
	struct etw_timeline *timeline = etw_table_find(&timelines->table, hash_id(id), has_id, &id);
	struct etw_timeline *made = NULL;

	if (!timeline) {
		/* Room first: a timeline in the table is never empty. */
		struct etw_timeline first = {.id = id};

		TRY(grow(&first));
		made = make_timeline(timelines, arena, id);
		if (!made) {
			free(first.moments);
			return -ENOMEM;
		}
		*made = first;
		timeline = made;
	} else if (timeline->count == timeline->room) {
		TRY(grow(timeline));
	}
	if (timeline->count && from_ft < timeline->moments[timeline->count - 1].from_ft)
		from_ft = timeline->moments[timeline->count - 1].from_ft;
	timeline->moments[timeline->count++] = (struct etw_moment){from_ft, what};
	timelines->moments++;
	return 0;
}

void *etw_timeline_at(const struct etw_timeline *timeline, int64_t time_ft)
{
	size_t from = 0, to;

	if (!timeline || time_ft < timeline->moments[0].from_ft)
		return NULL;
	/* The last moment that is not later. */
	to = timeline->count;
	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (timeline->moments[middle].from_ft <= time_ft)
			from = middle;
		else
			to = middle;
	}
	return timeline->moments[from].what;
}
