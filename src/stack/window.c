/* SPDX-License-Identifier: MIT */
#include "stack/window.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "stack/part.h"

#define CANDIDATES_MAX 4096 /* of one time: a hostile file gives all its events the same */

int etw_stack_window_init(struct etw_stack_window *window, uint32_t room)
{
	*window = (struct etw_stack_window){
		.entries = calloc(room, sizeof(struct etw_stack_entry)),
		.buckets = calloc(room, sizeof(uint64_t)),
		.room = room,
	};
	return window->entries && window->buckets ? 0 : -ENOMEM;
}

void etw_stack_window_done(struct etw_stack_window *window)
{
	free(window->entries);
	free(window->buckets);
	*window = (struct etw_stack_window){0};
}

static uint64_t *bucket_of(const struct etw_stack_window *window, int64_t time_raw)
{
	return &window->buckets[etw_hash_mix(etw_hash_seed(), (uint64_t)time_raw) &
				(window->room - 1)];
}

struct etw_stack_entry *etw_stack_window_oldest(const struct etw_stack_window *window)
{
	return window->count < window->room ? NULL
					    : &window->entries[window->count & (window->room - 1)];
}

struct etw_stack_entry *etw_stack_window_add(struct etw_stack_window *window,
					     const struct etw_stack_entry *entry)
{
	struct etw_stack_entry *place = &window->entries[window->count & (window->room - 1)];
	uint64_t *bucket = bucket_of(window, entry->time_raw);

	*place = *entry;
	place->before = *bucket;
	*bucket = ++window->count;
	return place;
}

struct etw_stack_entry *etw_stack_window_at(const struct etw_stack_window *window, uint32_t index)
{
	const uint64_t first = window->count > window->room ? window->count - window->room : 0;

	return first + index < window->count
		       ? &window->entries[(first + index) & (window->room - 1)]
		       : NULL;
}

struct etw_stack_entry *etw_stack_window_find(const struct etw_stack_window *window,
					      int64_t time_raw, uint32_t tid, uint16_t processor)
{
	struct etw_stack_entry *same_thread = NULL, *same_processor = NULL;
	uint64_t number = *bucket_of(window, time_raw);

	for (unsigned i = 0; number && i < CANDIDATES_MAX; i++) {
		struct etw_stack_entry *entry = &window->entries[(number - 1) & (window->room - 1)];

		if (window->count - number >= window->room)
			break; /* overwritten since, and so is all behind it */
		number = entry->before;
		if (entry->time_raw != time_raw)
			continue;
		if (entry->tid == tid && entry->processor == processor)
			return entry;
		if (entry->tid == tid && !same_thread)
			same_thread = entry;
		if (entry->tid == ETW_STACK_NO_THREAD && entry->processor == processor &&
		    !same_processor)
			same_processor = entry;
	}
	return same_thread ? same_thread : same_processor;
}
