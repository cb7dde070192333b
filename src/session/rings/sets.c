/* SPDX-License-Identifier: MIT */
/* Ring sets of a session; see session/rings/sets.h. */
#include "session/rings/sets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "session/common/claims.h"
#include "session/rings/limits.h"
#include "session/rings/pages.h"
#include "session/rings/refusals.h"
#include "wire/etl_buffer.h"

static struct etw_state_set *durable_set(struct etw_session_sets *sets, uint32_t slot)
{
	return &sets->context->state.head->sets[slot];
}

static void free_set(struct etw_session_set *set)
{
	if (!set)
		return;
	for (uint32_t i = 0; i < set->stream_count; i++)
		etw_ring_reader_close(set->streams[i].reader);
	etw_ring_set_unmap(&set->map);
	etw_ring_set_close(&set->fds);
	free(set->cache);
	free(set);
}

static void free_setp(struct etw_session_set **set)
{
	free_set(*set);
}

/* What counts the messages of TraceMessage() in this session; NULL: nothing does. */
static uint32_t *sequence_of(struct etw_session_context *context)
{
	const uint32_t mode = context->state.head->config.log_file_mode;

	if (mode & EVENT_TRACE_USE_GLOBAL_SEQUENCE)
		return context->host.message_sequence;
	return mode & EVENT_TRACE_USE_LOCAL_SEQUENCE ? &context->message_sequence : NULL;
}

static struct etw_session_set *new_set(struct etw_session_sets *sets, uid_t uid, uint32_t slot)
{
	uint32_t outputs = sets->context->plan.output_count;
	struct etw_session_set *set =
		calloc(1, sizeof(*set) + outputs * sizeof(struct etw_session_stream));

	if (!set)
		return NULL;
	set->fds = (struct etw_ring_set_fds){-1, -1};
	set->uid = uid;
	set->slot = slot;
	set->stream_count = outputs;
	set->cache = calloc(1, sizeof(*set->cache));
	if (!set->cache) {
		free_set(set);
		return NULL;
	}
	set->cache->host = &sets->context->host;
	set->cache->session_id = sets->context->state.head->session_id;
	set->cache->uid = uid;
	set->cache->sequence = sequence_of(sets->context);
	if (sets->context->plan.clock_type != ETW_CLOCK_SYSTEM)
		set->cache->raw_per_second = (double)sets->context->host.clock->page->frequency;
	return set;
}

/* Where the record that holds says that a ring was left; nothing for a ring of another set. */
static struct etw_ring_position position_of(const struct etw_session_sets *sets,
					    const struct etw_session_set *set, uint32_t output)
{
	const struct etw_state_position *position =
		&etw_state_holding(&sets->context->state, output)->positions[set->slot];

	if (position->set_id != set->id)
		return (struct etw_ring_position){0};
	return (struct etw_ring_position){.slots = position->slots, .offset = position->offset};
}

static int open_readers(struct etw_session_sets *sets, struct etw_session_set *set, bool is_adopted)
{
	for (uint32_t i = 0; i < set->stream_count; i++) {
		struct etw_session_stream *stream = &set->streams[i];

		stream->set = set;
		stream->floor_raw = sets->context->state.head->t0_raw;
		stream->claims = etw_state_claims(&sets->context->state, set->slot, i);
		/* How much of it a former host has used up, nobody knows. */
		stream->late = is_adopted ? ETW_CLAIM_LATE : ETW_CLAIM_LATE_FIRST;
		TRY(etw_ring_reader_open(&set->map, i,
					 etw_state_durable(&sets->context->state, set->slot, i),
					 position_of(sets, set, i), &stream->reader));
		/* While it got its first buffers nobody wrote to it. */
		if (!is_adopted)
			(void)etw_ring_reader_was_full(stream->reader, &stream->claims->full_seen);
	}
	return 0;
}

/*
 * Holding `adding`, and not `lock`: the kernel may take a second for the memory of large rings, and meanwhile the
 * session's thread has to go on for everybody else.
 */
static int make_set(struct etw_session_sets *sets, uid_t uid, uint32_t slot,
		    const struct etw_ring_set_config *config, struct etw_session_set **ret)
{
	CLEANUP(free_setp) struct etw_session_set *set = new_set(sets, uid, slot);

	if (!set)
		return -ENOMEM;
	set->id = etw_session_sets_next_id();
	store_relaxed(&set->is_orphan, true); /* until somebody is given it */
	set->orphan_due_ns = etw_monotonic_ns() + ETW_SESSION_SETS_ORPHAN_NS;
	TRY(etw_ring_set_create(config, &set->fds));
	TRY(etw_ring_set_map(&set->fds, &set->map));
	*ret = TAKE(set);
	return 0;
}

/* Holding lock. The keeper has the memory before a process can have it. */
static int place_set(struct etw_session_sets *sets, struct etw_session_set *set)
{
	struct etw_state_set *durable = durable_set(sets, set->slot);

	if (sets->is_ending)
		return -ESHUTDOWN;
	TRY(etw_state_reserve_set(&sets->context->state, set->slot));
	TRY(open_readers(sets, set, /* is_adopted= */ false));
	etw_claims_begin(sets, set);
	durable->id = set->id;
	durable->uid = set->uid;
	durable->user = etw_claims_user(sets, set->uid);
	store_release(&durable->status, (uint32_t)ETW_STATE_SET_LIVE);
	sets->table[set->slot] = set;
	return 0;
}

/* Holding `adding` and `lock`, which it lets go of meanwhile. The place stays free: nobody else adds a set. */
static int add_set(struct etw_session_sets *sets, uid_t uid, struct etw_session_set **ret)
{
	const struct etw_ring_set_config config = etw_ring_limits_config(sets, uid);
	CLEANUP(free_setp) struct etw_session_set *set = NULL;
	uint64_t charged_bytes;
	uint32_t slot;
	int result;

	TRY(etw_ring_limits_look(sets, uid, etw_ring_set_bytes(&config), &slot));
	TRY(etw_ring_limits_take(sets, uid, etw_ring_set_bytes(&config), &charged_bytes));
	pthread_mutex_unlock(&sets->lock);
	result = make_set(sets, uid, slot, &config, &set);
	pthread_mutex_lock(&sets->lock);
	if (result == 0)
		result = place_set(sets, set);
	if (result < 0) {
		etw_ring_limits_give(sets, uid, charged_bytes);
		return result;
	}
	set->charged_bytes = charged_bytes;
	*ret = TAKE(set);
	return 0;
}

static int keep_set(const struct etw_session_sets *sets, const struct etw_session_set *set)
{
	TRY(etw_context_keep(sets->context, set->fds.page, ETW_SESSION_SETS_PAGE_NAME, set->id));
	return etw_context_keep(sets->context, set->fds.rings, ETW_SESSION_SETS_RINGS_NAME,
				set->id);
}

/* Holding lock. */
static int lend(struct etw_session_set *set, struct etw_ring_set_fds *ret)
{
	int result;

	if (!ret)
		return 0;
	result = etw_ring_set_lend(&set->fds, ret);
	if (result == -ENOENT || result == -EACCES) { /* without /proc */
		set->is_untracked = true;
		ret->page = fcntl(set->fds.page, F_DUPFD_CLOEXEC, 0);
		ret->rings = fcntl(set->fds.rings, F_DUPFD_CLOEXEC, 0);
		result = ret->page < 0 || ret->rings < 0 ? -errno : 0;
		if (result < 0)
			etw_ring_set_close(ret);
	}
	if (result == 0)
		store_relaxed(&set->is_orphan, false);
	return result;
}

/* A limit of the budget's, or of this process: a smaller set that refuses may fit, and is looked at again. */
static bool is_for_later(int result)
{
	return result == -ENOSPC || result == -EDQUOT || result == -EUSERS || result == -EAGAIN ||
	       result == -ENOMEM || result == -EMFILE || result == -ENFILE;
}

int etw_session_sets_get(struct etw_session_sets *sets, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal)
{
	struct etw_session_set *set;
	bool is_new = false;
	int result = 0;

	*ret_refusal = 0;
	pthread_mutex_lock(&sets->adding);
	pthread_mutex_lock(&sets->lock);
	set = etw_session_sets_find_live(sets, uid);
	if (!set) {
		result = add_set(sets, uid, &set);
		is_new = result == 0;
	}
	if (result == 0) {
		*ret_ring_set = set->id;
		result = lend(set, ret);
	}
	pthread_mutex_unlock(&sets->lock);
	pthread_mutex_unlock(&sets->adding);
	/* Without a keeper the set works as well, but not longer than this host. */
	if (is_new && keep_set(sets, set) < 0)
		etw_context_complain(sets->context,
				     "a ring set is not kept and would not survive its host", 0,
				     NULL);
	if (is_new)
		etw_context_kick(
			sets->context); /* its processor may have had one stream until now */
	if (is_for_later(result)) {
		*ret_refusal = result;
		result = etw_refusals_get(sets, uid, result, ret_ring_set, ret);
	}
	return result;
}

/* Its numbers stay in the account, also when the host dies in the middle of this. */
static void begin_close(struct etw_session_sets *sets, uint32_t slot, uint64_t no_buffer,
			uint64_t too_large, uint64_t filtered)
{
	struct etw_state_set *durable = durable_set(sets, slot);
	const struct etw_state_user *user = &sets->context->state.head->users[durable->user];

	durable->closed_no_buffer_next = etw_sum_saturated(user->no_buffer, no_buffer);
	durable->closed_too_large_next = etw_sum_saturated(user->too_large, too_large);
	durable->closed_filtered_next = etw_sum_saturated(user->filtered, filtered);
	store_release(&durable->status, (uint32_t)ETW_STATE_SET_CLOSING);
	SCHED_POINT("session.set.closing");
}

/* Behind begin_close(), when the keeper has nothing of it any more. One set at a time is closed. */
static void free_place(struct etw_session_sets *sets, uint32_t slot)
{
	const struct etw_state *state = &sets->context->state;
	struct etw_state_set *durable = durable_set(sets, slot);
	struct etw_state_user *user = &state->head->users[durable->user];

	user->no_buffer = durable->closed_no_buffer_next;
	user->too_large = durable->closed_too_large_next;
	user->filtered = durable->closed_filtered_next;
	for (uint32_t i = 0; i < state->head->output_count; i++) {
		const struct etw_state_claims *claims = etw_state_claims(state, slot, i);
		struct etw_state_output *output = etw_state_output(state, i);

		output->closed_no_buffer = claims->closed_no_buffer_next;
		output->closed_too_large = claims->closed_too_large_next;
	}
	durable->id = 0;
	store_release(&durable->status, (uint32_t)ETW_STATE_SET_FREE);
}

/* What processes that still map the rings put there from now on is their own memory. */
static void forget_set(struct etw_session_sets *sets, uint32_t set_id, int rings)
{
	(void)etw_ring_set_discard(rings);
	etw_context_forget(sets->context, ETW_SESSION_SETS_RINGS_NAME, set_id);
	if (!etw_pages_has(sets, set_id))
		etw_context_forget(sets->context, ETW_SESSION_SETS_PAGE_NAME, set_id);
}

void etw_session_set_retire(struct etw_session_sets *sets, struct etw_session_set *set)
{
	if (set->is_retired)
		return;
	store_relaxed(&set->is_retired, true);
	set->retired_ns = etw_monotonic_ns();
	store_release(&durable_set(sets, set->slot)->status, (uint32_t)ETW_STATE_SET_RETIRED);
	/* Pairs with the look at it in etw_ring_reserve(); a bump follows, so that all look again. */
	store_seq_cst(&etw_ring_set_page(&set->map)->is_retired, 1u);
	SCHED_POINT("session.set.retired");
}

void etw_session_set_retire_replaced(struct etw_session_sets *sets, struct etw_session_set *set)
{
	if (set->is_retired)
		return;
	etw_pages_keep(sets, set->uid, set->id, set->fds.page);
	etw_session_set_retire(sets, set);
}

void etw_session_sets_end(struct etw_session_sets *sets)
{
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(sets, all);

	etw_pages_end(sets);
	for (uint32_t i = 0; i < count; i++) {
		(void)or_acq_rel(&etw_ring_set_page(&all[i]->map)->refused, WIRE_RING_OVER);
		etw_session_set_retire(sets, all[i]);
	}
}

static int take_kept_rings(const struct etw_session_sets *sets, uint32_t set_id)
{
	return etw_context_kept(sets->context, ETW_SESSION_SETS_RINGS_NAME, set_id);
}

static int take_kept_set(const struct etw_session_sets *sets, struct etw_session_set *set)
{
	set->fds.page = etw_context_kept(sets->context, ETW_SESSION_SETS_PAGE_NAME, set->id);
	set->fds.rings = take_kept_rings(sets, set->id);
	if (set->fds.page < 0)
		return set->fds.page;
	return set->fds.rings < 0 ? set->fds.rings : 0;
}

/* The rest of closing a set that the last host was about to close, or that is not sound. */
static void forget_lost_set(struct etw_session_sets *sets, uint32_t slot)
{
	uint32_t set_id = durable_set(sets, slot)->id;
	CLEANUP(etw_file_closep) int rings = take_kept_rings(sets, set_id);

	forget_set(sets, set_id, rings);
	free_place(sets, slot);
}

static int open_kept_set(struct etw_session_sets *sets, struct etw_session_set *set)
{
	TRY(take_kept_set(sets, set));
	TRY(etw_ring_set_map(&set->fds, &set->map));
	if (set->map.cpu_count != sets->context->plan.output_count ||
	    set->map.buffer_bytes + WIRE_BUFFER_HEADER_BYTES > sets->context->plan.buffer_bytes)
		return -EPROTO;
	TRY(open_readers(sets, set, /* is_adopted= */ true));
	if (load_acquire(&durable_set(sets, set->slot)->status) == ETW_STATE_SET_RETIRED)
		etw_session_set_retire_replaced(sets, set);
	set->left_ns = etw_monotonic_ns(); /* who died meanwhile does not come back */
	return 0;
}

static int adopt_set(struct etw_session_sets *sets, uint32_t slot, struct etw_session_set **ret)
{
	const struct etw_state_set *durable = durable_set(sets, slot);
	CLEANUP(free_setp) struct etw_session_set *set = new_set(sets, durable->uid, slot);
	int result;

	if (!set)
		return -ENOMEM;
	set->id = durable->id;
	etw_session_sets_step_over_id(set->id);
	result = open_kept_set(sets, set);
	if (result < 0) {
		(void)etw_ring_set_discard(set->fds.rings);
		return result;
	}
	set->charged_bytes = etw_ring_limits_adopt(sets, set->uid, set->map.total_bytes);
	store_relaxed(&set->is_orphan, true); /* until a process that comes back is given it */
	set->orphan_due_ns = etw_monotonic_ns() + ETW_SESSION_SETS_ORPHAN_NS;
	*ret = TAKE(set);
	return 0;
}

/* What was believed of the set last stays, also where its memory is gone. */
static void close_claims(struct etw_session_sets *sets, uint32_t slot)
{
	const struct etw_state *state = &sets->context->state;
	uint64_t no_buffer = 0, too_large = 0, filtered = 0;

	for (uint32_t i = 0; i < sets->context->plan.output_count; i++) {
		struct etw_state_claims *claims = etw_state_claims(state, slot, i);
		const struct etw_state_output *output = etw_state_output(state, i);
		uint64_t own_no_buffer = etw_claim_believed(&claims->no_buffer);
		uint64_t own_too_large = etw_claim_believed(&claims->too_large);

		no_buffer = etw_sum_saturated(no_buffer, own_no_buffer);
		too_large = etw_sum_saturated(too_large, own_too_large);
		filtered = etw_sum_saturated(filtered, etw_claim_believed(&claims->filtered));
		claims->closed_no_buffer_next = etw_sum_saturated(output->closed_no_buffer,
								  own_no_buffer);
		claims->closed_too_large_next = etw_sum_saturated(output->closed_too_large,
								  own_too_large);
	}
	begin_close(sets, slot, no_buffer, too_large, filtered);
}

void etw_session_sets_adopt(struct etw_session_sets *sets)
{
	/* First: the sums of their users were made before anything else happens to these. */
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (load_acquire(&durable_set(sets, i)->status) == ETW_STATE_SET_CLOSING)
			forget_lost_set(sets, i);
	}
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		uint32_t status = load_acquire(&durable_set(sets, i)->status);
		int result;

		if (status == ETW_STATE_SET_FREE)
			continue;
		result = adopt_set(sets, i, &sets->table[i]);
		if (result < 0) {
			etw_context_complain(sets->context, "a ring set of the last host is lost",
					     result, NULL);
			close_claims(sets, i);
			forget_lost_set(sets, i);
		}
	}
}

void etw_session_set_close(struct etw_session_sets *sets, struct etw_session_set *set)
{
	/* Who sums up claims, which judges them, does so before this or does not look at the rings any more. */
	pthread_mutex_lock(&sets->lock);
	etw_claims_look_at_filtered(sets, set);
	close_claims(sets, set->slot);
	pthread_mutex_unlock(&sets->lock);
	forget_set(sets, set->id, set->fds.rings);
	pthread_mutex_lock(&sets->lock);
	free_place(sets, set->slot);
	sets->table[set->slot] = NULL;
	pthread_mutex_unlock(&sets->lock);
	etw_ring_limits_give(sets, set->uid, set->charged_bytes);
	free_set(set);
}

void etw_session_sets_free_all(struct etw_session_sets *sets)
{
	etw_refusals_free_all(sets);
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		struct etw_session_set *set = sets->table[i];

		if (set)
			etw_ring_limits_give(sets, set->uid, set->charged_bytes);
		free_set(set);
		sets->table[i] = NULL;
	}
}
