/* SPDX-License-Identifier: MIT */
/* The table of a session's ring sets; see session/common/set_table.h. */
#include "session/common/set_table.h"

#include <stdlib.h>

#include "base/atomic.h"
#include "base/time.h"

/* Numbers of sets are unique in a process; those that a former host gave are stepped over. */
static uint32_t last_set_id;

uint32_t etw_session_sets_next_id(void)
{
	uint32_t id;

	do {
		id = add_relaxed(&last_set_id, 1u) + 1;
	} while (id == 0);
	return id;
}

void etw_session_sets_step_over_id(uint32_t id)
{
	uint32_t seen = load_relaxed(&last_set_id);

	while (seen < id && !cas_relaxed(&last_set_id, &seen, id))
		;
}

void etw_session_sets_open(struct etw_session_context *context, struct etw_session_sets *ret)
{
	*ret = (struct etw_session_sets){.context = context};
	pthread_mutex_init(&ret->adding, NULL);
	pthread_mutex_init(&ret->lock, NULL);
}

void etw_session_sets_close(struct etw_session_sets *sets)
{
	free(sets->free_of);
	pthread_mutex_destroy(&sets->lock);
	pthread_mutex_destroy(&sets->adding);
}

uint32_t etw_session_sets_list(struct etw_session_sets *sets,
			       struct etw_session_set *ret[ETW_STATE_SETS])
{
	uint32_t count = 0;

	pthread_mutex_lock(&sets->lock);
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (sets->table[i])
			ret[count++] = sets->table[i];
	}
	pthread_mutex_unlock(&sets->lock);
	return count;
}

struct etw_session_set *etw_session_sets_find(const struct etw_session_sets *sets,
					      uint32_t ring_set)
{
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (sets->table[i] && sets->table[i]->id == ring_set)
			return sets->table[i];
	}
	return NULL;
}

struct etw_session_set *etw_session_sets_find_live(const struct etw_session_sets *sets, uid_t uid)
{
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		struct etw_session_set *set = sets->table[i];

		if (set && set->uid == uid && !load_relaxed(&set->is_replaced) &&
		    !load_relaxed(&set->is_retired))
			return set;
	}
	return NULL;
}

void etw_session_sets_mark_gone(struct etw_session_sets *sets, uint32_t ring_set)
{
	struct etw_session_set *set;

	pthread_mutex_lock(&sets->lock);
	set = etw_session_sets_find(sets, ring_set);
	if (set)
		set->is_gone = true;
	pthread_mutex_unlock(&sets->lock);
	etw_context_kick(sets->context);
}

void etw_session_sets_mark_left(struct etw_session_sets *sets, uint32_t ring_set, bool is_last)
{
	struct etw_session_set *set;

	pthread_mutex_lock(&sets->lock);
	set = etw_session_sets_find(sets, ring_set);
	if (set && !load_relaxed(&set->left_ns))
		store_relaxed(&set->left_ns, etw_monotonic_ns());
	if (set && is_last) {
		store_relaxed(&set->is_orphan, true);
		set->orphan_due_ns = etw_monotonic_ns() + ETW_SESSION_SETS_ORPHAN_NS;
	}
	pthread_mutex_unlock(&sets->lock);
	etw_context_kick(sets->context);
}

void etw_session_sets_mark_unkept(struct etw_session_sets *sets, uint32_t ring_set)
{
	struct etw_session_set *set;

	pthread_mutex_lock(&sets->lock);
	set = etw_session_sets_find(sets, ring_set);
	if (set)
		store_relaxed(&set->is_unkept, true);
	for (uint32_t i = 0; i < sets->refusal_count; i++)
		sets->refusals[i].is_unkept |= sets->refusals[i].set_id == ring_set;
	pthread_mutex_unlock(&sets->lock);
	etw_context_kick(sets->context);
}

void etw_session_sets_forbid(struct etw_session_sets *sets)
{
	pthread_mutex_lock(&sets->lock);
	sets->is_ending = true;
	pthread_mutex_unlock(&sets->lock);
}

/* Of one output's ring in each set. */
static uint32_t count_free_of(struct etw_session_set *const *all, uint32_t count, uint32_t output)
{
	uint32_t result = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct etw_ring_counts counts;

		if (all[i]->is_broken || output >= all[i]->stream_count)
			continue;
		etw_ring_reader_counts(all[i]->streams[output].reader, &counts);
		result += counts.free_buffers + counts.idle_buffers;
	}
	return result;
}

void etw_session_sets_count_free(struct etw_session_sets *sets)
{
	uint32_t outputs = sets->context->plan.output_count;
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(sets, all);
	uint32_t *free_of = sets->free_of;
	uint64_t free_buffers = 0;

	if (!free_of)
		free_of = calloc(outputs, sizeof(*free_of));
	for (uint32_t i = 0; i < outputs; i++) {
		uint32_t own = count_free_of(all, count, i);

		free_buffers += own;
		if (free_of)
			store_relaxed(&free_of[i], own);
	}
	store_release(&sets->free_of, free_of); /* pairs with etw_session_sets_free_of() */
	store_relaxed(&sets->free_buffers, free_buffers);
}

uint32_t etw_session_sets_free_of(const struct etw_session_sets *sets, uint32_t output)
{
	/* Pairs with etw_session_sets_count_free(). */
	const uint32_t *free_of = load_acquire(&sets->free_of);

	return free_of ? load_relaxed(&free_of[output]) : 0;
}

uint32_t etw_session_sets_buffers(struct etw_session_sets *sets)
{
	uint32_t buffers = 0;

	pthread_mutex_lock(&sets->lock);
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		const struct etw_session_set *set = sets->table[i];

		buffers += set ? set->map.buffer_count * set->stream_count : 0;
	}
	pthread_mutex_unlock(&sets->lock);
	return buffers;
}

uint64_t etw_session_sets_page_count(const struct etw_session_sets *sets, uint32_t place,
				     uint64_t otherwise)
{
	const struct wire_ring_set *page = sets->pages[place];

	return page ? wire_ring_refused(load_acquire(&page->refused)) : otherwise;
}
