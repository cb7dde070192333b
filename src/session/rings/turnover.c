/* SPDX-License-Identifier: MIT */
/* Which ring sets are replaced, retired and closed, and when; see session/rings/turnover.h. */
#include "session/rings/turnover.h"

#include "base/atomic.h"
#include "session/rings/limits.h"
#include "session/rings/refusals.h"
#include "session/rings/sets.h"

/* Adopted retired sets are closed after this, because nobody says who still maps them. */
#define GRACE_NS UINT64_C(1000000000)

/* So long after the end of a process every gap that it left is known. */
#define LEFT_NS UINT64_C(1000000000)

static bool is_worn_out(const struct etw_session_set *set)
{
	for (uint32_t i = 0; i < set->stream_count; i++) {
		if (set->streams[i].counts.quarantined * 2 >= set->map.buffer_count)
			return true;
	}
	return false;
}

/*
 * Whether a process that ended has left a gap here: nobody will ever close it. Any gap there is may be that
 * of a process that only stands still; then the set is replaced in vain, once for each process that ends.
 */
static bool is_left_with_gap(struct etw_session_set *set, uint64_t now_ns)
{
	uint64_t left_ns = load_relaxed(&set->left_ns);
	bool is_open = false;

	if (!left_ns || now_ns < left_ns + LEFT_NS)
		return false;
	for (uint32_t i = 0; i < set->stream_count; i++) {
		const struct etw_session_stream *stream = &set->streams[i];

		if (stream->counts.quarantined > 0)
			return true;
		is_open |= etw_ring_reader_oldest_gap_ns(stream->reader) != 0;
	}
	if (!is_open)
		store_relaxed(&set->left_ns, UINT64_C(0));
	return false;
}

static bool is_read_to_end(const struct etw_session_set *set)
{
	if (set->is_broken)
		return true;
	for (uint32_t i = 0; i < set->stream_count; i++) {
		if (set->streams[i].status != ETW_STREAM_EMPTY)
			return false;
	}
	return true;
}

static bool is_gone(struct etw_session_sets *sets, const struct etw_session_set *set)
{
	bool result;

	pthread_mutex_lock(&sets->lock);
	result = set->is_gone;
	pthread_mutex_unlock(&sets->lock);
	return result;
}

/*
 * How long a retired set stays; after the grace nobody can have a place reserved that is no gap. Of a broken one
 * nothing is read any more, so it stays for nobody.
 */
static uint64_t stay_ns(struct etw_session_sets *sets, const struct etw_session_set *set)
{
	if (set->is_broken || is_gone(sets, set))
		return ETW_STREAM_STALL_NS;
	return sets->context->state.head->hosts > 1 ? GRACE_NS : UINT64_MAX;
}

static bool may_close(struct etw_session_sets *sets, const struct etw_session_set *set,
		      const struct etw_session_round *round)
{
	return round->now_ns - set->retired_ns > stay_ns(sets, set) && is_read_to_end(set);
}

/* When it is to be seen whether anybody has a set; UINT64_MAX: it is known that somebody has. */
static uint64_t orphan_due_ns(struct etw_session_sets *sets, const struct etw_session_set *set)
{
	uint64_t result = UINT64_MAX;

	pthread_mutex_lock(&sets->lock);
	if (set->is_orphan && !set->is_untracked)
		result = set->orphan_due_ns;
	pthread_mutex_unlock(&sets->lock);
	return result;
}

/*
 * Whether nobody has a set any more, nor can get it from now on. Who is given a set, and who asks whether somebody
 * has it, holds the lock.
 */
static bool is_left_by_all(struct etw_session_sets *sets, struct etw_session_set *set,
			   uint64_t now_ns)
{
	bool result = false;

	/* In every round: without the lock for sets that somebody is known to have. */
	if (!load_relaxed(&set->is_orphan) || now_ns < orphan_due_ns(sets, set))
		return false;
	pthread_mutex_lock(&sets->lock);
	if (set->is_orphan && !etw_ring_set_is_lent(set->fds.page)) {
		set->is_gone = true;
		store_relaxed(&set->is_replaced, true);
		result = true;
	}
	set->orphan_due_ns = now_ns + ETW_SESSION_SETS_ORPHAN_NS;
	pthread_mutex_unlock(&sets->lock);
	return result;
}

/* UINT64_MAX: when somebody says something. */
static uint64_t set_due_ns(struct etw_session_sets *sets, const struct etw_session_set *set)
{
	uint64_t left_ns = load_relaxed(&set->left_ns);
	uint64_t ns;

	if (!set->is_retired) {
		ns = orphan_due_ns(sets, set);
		return left_ns && left_ns + LEFT_NS < ns ? left_ns + LEFT_NS : ns;
	}
	ns = stay_ns(sets, set);
	return ns == UINT64_MAX ? ns : set->retired_ns + ns + 1;
}

uint64_t etw_ring_turnover_due_ns(struct etw_session_sets *sets)
{
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(sets, all);
	uint64_t least_ns = etw_refusals_due_ns(sets);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t due_ns = set_due_ns(sets, all[i]);

		if (due_ns < least_ns)
			least_ns = due_ns;
	}
	return least_ns;
}

/*
 * Sends the processes elsewhere. They go on writing here until they have heard of it, so that the set is
 * retired only when they are gone; but one that is broken takes nothing any more.
 */
static void replace(struct etw_session_sets *sets, struct etw_session_set *set)
{
	store_relaxed(&set->left_ns, UINT64_C(0));
	pthread_mutex_lock(&sets->lock);
	store_relaxed(&set->is_replaced, true);
	pthread_mutex_unlock(&sets->lock);
	if (set->is_broken)
		etw_session_set_retire_replaced(sets, set);
	if (sets->context->host.ring_set_replaced)
		sets->context->host.ring_set_replaced(sets->context->host.context,
						      sets->context->state.head->session_id,
						      set->uid, set->id);
}

/* A uid that has its sets already keeps this one, too; it is looked at again after a while. */
static void replace_if_allowed(struct etw_session_sets *sets, struct etw_session_set *set,
			       struct etw_session_round *round)
{
	if (etw_ring_limits_look_again(sets, set->uid) == 0) {
		replace(sets, set);
		round->has_more = true;
	} else if (load_relaxed(&set->left_ns)) {
		store_relaxed(&set->left_ns, round->now_ns);
	}
}

void etw_ring_turnover_resize(struct etw_session_sets *sets)
{
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(sets, all);

	for (uint32_t i = 0; i < count; i++) {
		struct etw_session_set *set = all[i];

		if (set->is_retired || load_relaxed(&set->is_replaced) ||
		    set->map.buffer_count == etw_ring_limits_config(sets, set->uid).buffer_count)
			continue;
		if (etw_ring_limits_look_again(sets, set->uid) == 0)
			replace(sets, set);
	}
}

/* Returns whether the set is to be closed. */
static bool tend_set(struct etw_session_sets *sets, struct etw_session_set *set,
		     struct etw_session_round *round)
{
	if (set->is_retired)
		return may_close(sets, set, round);
	if (set->is_broken && set->is_replaced) {
		etw_session_set_retire_replaced(sets, set);
	} else if (set->is_replaced) {
		if (!is_gone(sets, set))
			return false;
		etw_session_set_retire_replaced(sets, set);
		round->has_more = true; /* its open buffers end here */
	} else if (set->is_broken) {
		replace(sets, set);
		round->has_more = true;
	} else if (load_relaxed(&set->is_unkept)) {
		/* Whatever the limits say: a set that refuses counts what a dead host's set would lose. */
		replace(sets, set);
		round->has_more = true;
	} else if (is_left_by_all(sets, set, round->now_ns)) {
		/* Without a page: there is nobody who could count there. */
		etw_session_set_retire(sets, set);
		round->has_more = true;
	} else if (is_worn_out(set) || is_left_with_gap(set, round->now_ns)) {
		replace_if_allowed(sets, set, round);
	}
	return false;
}

uint32_t etw_ring_turnover_tend(struct etw_session_sets *sets, struct etw_session_round *round,
				struct etw_session_set *ret_closable[ETW_STATE_SETS])
{
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(sets, all);
	uint32_t closable = 0;

	etw_refusals_tend(sets, round->now_ns);
	for (uint32_t i = 0; i < count; i++) {
		if (tend_set(sets, all[i], round))
			ret_closable[closable++] = all[i];
	}
	return closable;
}
