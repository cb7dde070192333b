/* SPDX-License-Identifier: MIT */
/* Ring sets of a session; see session/ring_sets.h. */
#include "session/ring_sets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "session/claims.h"
#include "session/output.h"
#include "session/pages.h"
#include "session/refusals.h"
#include "session/ring_limits.h"
#include "wire/etl_buffer.h"

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

static struct etw_state_set *durable_set(struct etw_session *session, uint32_t slot)
{
	return &session->state.head->sets[slot];
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

static struct etw_session_set *new_set(struct etw_session *session, uid_t uid, uint32_t slot)
{
	uint32_t outputs = session->plan.output_count;
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
	set->cache->host = &session->host;
	set->cache->session_id = session->state.head->session_id;
	set->cache->uid = uid;
	if (session->plan.clock_type != ETW_CLOCK_SYSTEM)
		set->cache->raw_per_second = (double)session->host.clock->page->frequency;
	return set;
}

/* Where the record that holds says that a ring was left; nothing for a ring of another set. */
static struct etw_ring_position position_of(const struct etw_session *session,
					    const struct etw_session_set *set, uint32_t output)
{
	const struct etw_state_position *position =
		&etw_state_holding(&session->state, output)->positions[set->slot];

	if (position->set_id != set->id)
		return (struct etw_ring_position){0};
	return (struct etw_ring_position){.slots = position->slots, .offset = position->offset};
}

static int open_readers(struct etw_session *session, struct etw_session_set *set, bool is_adopted)
{
	for (uint32_t i = 0; i < set->stream_count; i++) {
		struct etw_session_stream *stream = &set->streams[i];

		stream->set = set;
		stream->floor_raw = session->state.head->t0_raw;
		stream->claims = etw_state_claims(&session->state, set->slot, i);
		/* How much of it a former host has used up, nobody knows. */
		stream->late = is_adopted ? ETW_CLAIM_LATE : ETW_CLAIM_LATE_FIRST;
		TRY(etw_ring_reader_open(&set->map, i,
					 etw_state_durable(&session->state, set->slot, i),
					 position_of(session, set, i), &stream->reader));
		/* While it got its first buffers nobody wrote to it. */
		if (!is_adopted)
			(void)etw_ring_reader_was_full(stream->reader, &stream->claims->full_seen);
	}
	return 0;
}

static struct etw_ring_set_config config_of(const struct etw_session *session, uid_t uid)
{
	struct etw_ring_set_config config = {
		.cpu_count = session->plan.output_count,
		.buffer_count = session->plan.ring_buffers,
		.buffer_bytes = session->plan.buffer_bytes - WIRE_BUFFER_HEADER_BYTES,
		.session_id = session->state.head->session_id,
		.uid = uid,
		.clock_type = session->plan.clock_type,
		.flags = session->plan.ring_flags,
	};
	const uint64_t most = etw_ring_limits_set_bytes(session, uid);

	while (config.buffer_count > ETW_SESSION_MINIMUM_PER_CPU &&
	       etw_ring_set_bytes(&config) > most)
		config.buffer_count--;
	return config;
}

static int make_set(struct etw_session *session, uid_t uid, uint32_t slot,
		    const struct etw_ring_set_config *config, struct etw_session_set **ret)
{
	CLEANUP(free_setp) struct etw_session_set *set = new_set(session, uid, slot);

	if (!set)
		return -ENOMEM;
	set->id = etw_session_sets_next_id();
	store_relaxed(&set->is_orphan, true); /* until somebody is given it */
	set->orphan_due_ns = etw_monotonic_ns() + ETW_SESSION_SETS_ORPHAN_NS;
	TRY(etw_state_reserve_set(&session->state, slot));
	TRY(etw_ring_set_create(config, &set->fds));
	TRY(etw_ring_set_map(&set->fds, &set->map));
	TRY(open_readers(session, set, /* is_adopted= */ false));
	etw_claims_begin(session, set);
	*ret = TAKE(set);
	return 0;
}

/* Holding lock. */
static struct etw_session_set *find_live(const struct etw_session *session, uid_t uid)
{
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		struct etw_session_set *set = session->sets[i];

		if (set && set->uid == uid && !load_relaxed(&set->is_replaced) &&
		    !load_relaxed(&set->is_retired))
			return set;
	}
	return NULL;
}

/* Holding lock. */
static int make_charged_set(struct etw_session *session, uid_t uid, uint32_t slot,
			    const struct etw_ring_set_config *config, struct etw_session_set **ret)
{
	uint64_t charged_bytes;
	int result;

	TRY(etw_ring_limits_take(session, uid, etw_ring_set_bytes(config), &charged_bytes));
	result = make_set(session, uid, slot, config, ret);
	if (result < 0)
		etw_ring_limits_give(session, uid, charged_bytes);
	else
		(*ret)->charged_bytes = charged_bytes;
	return result;
}

/* Holding lock. The keeper has the memory before a process can have it. */
static int add_set(struct etw_session *session, uid_t uid, struct etw_session_set **ret)
{
	const struct etw_ring_set_config config = config_of(session, uid);
	struct etw_session_set *set;
	struct etw_state_set *durable;
	uint32_t slot;

	TRY(etw_ring_limits_look(session, uid, etw_ring_set_bytes(&config), &slot));
	TRY(make_charged_set(session, uid, slot, &config, &set));
	durable = durable_set(session, slot);
	durable->id = set->id;
	durable->uid = uid;
	durable->user = etw_claims_user(session, uid);
	store_release(&durable->status, (uint32_t)ETW_STATE_SET_LIVE);
	session->sets[slot] = set;
	*ret = set;
	return 0;
}

static int keep_set(struct etw_session *session, const struct etw_session_set *set)
{
	char name[ETW_SESSION_NAME_BYTES];

	if (!session->host.keep_fd)
		return 0;
	etw_session_name(session, name, ETW_SESSION_SETS_PAGE_NAME, set->id);
	TRY(session->host.keep_fd(session->host.context, name, set->fds.page));
	etw_session_name(session, name, ETW_SESSION_SETS_RINGS_NAME, set->id);
	return session->host.keep_fd(session->host.context, name, set->fds.rings);
}

void etw_session_sets_forget(struct etw_session *session, uint32_t set_id)
{
	char name[ETW_SESSION_NAME_BYTES];

	if (!session->host.forget_fd)
		return;
	etw_session_name(session, name, ETW_SESSION_SETS_RINGS_NAME, set_id);
	session->host.forget_fd(session->host.context, name);
}

void etw_session_sets_forget_page(struct etw_session *session, uint32_t set_id)
{
	char name[ETW_SESSION_NAME_BYTES];

	if (!session->host.forget_fd)
		return;
	etw_session_name(session, name, ETW_SESSION_SETS_PAGE_NAME, set_id);
	session->host.forget_fd(session->host.context, name);
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

int etw_session_sets_get(struct etw_session *session, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal)
{
	struct etw_session_set *set;
	bool is_new = false;
	int result = 0;

	*ret_refusal = 0;
	pthread_mutex_lock(&session->lock);
	set = find_live(session, uid);
	if (!set) {
		result = add_set(session, uid, &set);
		is_new = result == 0;
	}
	if (result == 0) {
		*ret_ring_set = set->id;
		result = lend(set, ret);
	}
	pthread_mutex_unlock(&session->lock);
	/* Without a keeper the set works as well, but not longer than this host. */
	if (is_new && keep_set(session, set) < 0)
		etw_session_complain(
			session, "a ring set is not kept and would not survive its host", 0, NULL);
	if (is_new)
		etw_session_kick(session); /* its processor may have had one stream until now */
	if (result == -ENOSPC || result == -EDQUOT || result == -EUSERS || result == -EAGAIN) {
		*ret_refusal = result;
		result = etw_refusals_get(session, uid, result, ret_ring_set, ret);
	}
	return result;
}

int etw_session_sets_look(struct etw_session *session, uid_t uid)
{
	const struct etw_ring_set_config config = config_of(session, uid);
	uint32_t slot;
	int result;

	pthread_mutex_lock(&session->lock);
	result = etw_ring_limits_look(session, uid, etw_ring_set_bytes(&config), &slot);
	pthread_mutex_unlock(&session->lock);
	return result;
}

/* Its numbers stay in the account, also when the host dies in the middle of this. */
static void begin_close(struct etw_session *session, uint32_t slot, uint64_t no_buffer,
			uint64_t too_large)
{
	struct etw_state_set *durable = durable_set(session, slot);
	const struct etw_state_user *user = &session->state.head->users[durable->user];

	durable->closed_no_buffer_next = etw_sum_saturated(user->no_buffer, no_buffer);
	durable->closed_too_large_next = etw_sum_saturated(user->too_large, too_large);
	store_release(&durable->status, (uint32_t)ETW_STATE_SET_CLOSING);
	SCHED_POINT("session.set.closing");
}

/* Behind begin_close(), when the keeper has nothing of it any more. */
static void free_place(struct etw_session *session, uint32_t slot)
{
	struct etw_state_set *durable = durable_set(session, slot);
	struct etw_state_user *user = &session->state.head->users[durable->user];

	user->no_buffer = durable->closed_no_buffer_next;
	user->too_large = durable->closed_too_large_next;
	durable->id = 0;
	store_release(&durable->status, (uint32_t)ETW_STATE_SET_FREE);
}

/* What processes that still map the rings put there from now on is their own memory. */
static void forget_set(struct etw_session *session, uint32_t set_id, int rings)
{
	(void)etw_ring_set_discard(rings);
	etw_session_sets_forget(session, set_id);
	if (!etw_pages_has(session, set_id))
		etw_session_sets_forget_page(session, set_id);
}

void etw_session_sets_retire(struct etw_session *session, struct etw_session_set *set)
{
	if (set->is_retired)
		return;
	store_relaxed(&set->is_retired, true);
	set->retired_ns = etw_monotonic_ns();
	store_release(&durable_set(session, set->slot)->status, (uint32_t)ETW_STATE_SET_RETIRED);
	/* Pairs with the look at it in etw_ring_reserve(); a bump follows, so that all look again. */
	store_seq_cst(&etw_ring_set_page(&set->map)->is_retired, 1u);
	SCHED_POINT("session.set.retired");
}

void etw_session_sets_retire_replaced(struct etw_session *session, struct etw_session_set *set)
{
	if (set->is_retired)
		return;
	etw_pages_keep(session, set->uid, set->id, set->fds.page);
	etw_session_sets_retire(session, set);
}

void etw_session_sets_end(struct etw_session *session)
{
	struct etw_session_set *sets[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(session, sets);

	etw_pages_end(session);
	for (uint32_t i = 0; i < count; i++) {
		(void)or_acq_rel(&etw_ring_set_page(&sets[i]->map)->refused, WIRE_RING_OVER);
		etw_session_sets_retire(session, sets[i]);
	}
}

/* -ENOENT: the keeper has it no more, or never had it. */
static int take_kept(struct etw_session *session, const char *name)
{
	return session->host.kept_fd ? session->host.kept_fd(session->host.context, name) : -ENOENT;
}

static int take_kept_rings(struct etw_session *session, uint32_t set_id)
{
	char name[ETW_SESSION_NAME_BYTES];

	etw_session_name(session, name, ETW_SESSION_SETS_RINGS_NAME, set_id);
	return take_kept(session, name);
}

static int take_kept_set(struct etw_session *session, struct etw_session_set *set)
{
	char name[ETW_SESSION_NAME_BYTES];

	etw_session_name(session, name, ETW_SESSION_SETS_PAGE_NAME, set->id);
	set->fds.page = take_kept(session, name);
	set->fds.rings = take_kept_rings(session, set->id);
	if (set->fds.page < 0)
		return set->fds.page;
	return set->fds.rings < 0 ? set->fds.rings : 0;
}

/* The rest of closing a set that the last host was about to close, or that is not sound. */
static void forget_lost_set(struct etw_session *session, uint32_t slot)
{
	uint32_t set_id = durable_set(session, slot)->id;
	CLEANUP(etw_file_closep) int rings = take_kept_rings(session, set_id);

	forget_set(session, set_id, rings);
	free_place(session, slot);
}

static int open_kept_set(struct etw_session *session, struct etw_session_set *set)
{
	TRY(take_kept_set(session, set));
	TRY(etw_ring_set_map(&set->fds, &set->map));
	if (set->map.cpu_count != session->plan.output_count ||
	    set->map.buffer_bytes + WIRE_BUFFER_HEADER_BYTES > session->plan.buffer_bytes)
		return -EPROTO;
	TRY(open_readers(session, set, /* is_adopted= */ true));
	if (load_acquire(&durable_set(session, set->slot)->status) == ETW_STATE_SET_RETIRED)
		etw_session_sets_retire_replaced(session, set);
	set->left_ns = etw_monotonic_ns(); /* who died meanwhile does not come back */
	return 0;
}

static int adopt_set(struct etw_session *session, uint32_t slot, struct etw_session_set **ret)
{
	const struct etw_state_set *durable = durable_set(session, slot);
	CLEANUP(free_setp) struct etw_session_set *set = new_set(session, durable->uid, slot);
	int result;

	if (!set)
		return -ENOMEM;
	set->id = durable->id;
	etw_session_sets_step_over_id(set->id);
	result = open_kept_set(session, set);
	if (result < 0) {
		(void)etw_ring_set_discard(set->fds.rings);
		return result;
	}
	set->charged_bytes = etw_ring_limits_adopt(session, set->uid, set->map.total_bytes);
	store_relaxed(&set->is_orphan, true); /* until a process that comes back is given it */
	set->orphan_due_ns = etw_monotonic_ns() + ETW_SESSION_SETS_ORPHAN_NS;
	*ret = TAKE(set);
	return 0;
}

/* What was believed of the set last stays, also where its memory is gone. */
static void close_claims(struct etw_session *session, uint32_t slot)
{
	uint64_t no_buffer = 0, too_large = 0;

	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		const struct etw_state_claims *claims = etw_state_claims(&session->state, slot, i);

		no_buffer = etw_sum_saturated(no_buffer, etw_claim_believed(&claims->no_buffer));
		too_large = etw_sum_saturated(too_large, etw_claim_believed(&claims->too_large));
	}
	begin_close(session, slot, no_buffer, too_large);
}

void etw_session_sets_adopt(struct etw_session *session)
{
	/* First: the sums of their users were made before anything else happens to these. */
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (load_acquire(&durable_set(session, i)->status) == ETW_STATE_SET_CLOSING)
			forget_lost_set(session, i);
	}
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		uint32_t status = load_acquire(&durable_set(session, i)->status);
		int result;

		if (status == ETW_STATE_SET_FREE)
			continue;
		result = adopt_set(session, i, &session->sets[i]);
		if (result < 0) {
			etw_session_complain(session, "a ring set of the last host is lost", result,
					     NULL);
			close_claims(session, i);
			forget_lost_set(session, i);
		}
	}
}

/* Holding lock. */
static struct etw_session_set *find_by_id(const struct etw_session *session, uint32_t ring_set)
{
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (session->sets[i] && session->sets[i]->id == ring_set)
			return session->sets[i];
	}
	return NULL;
}

void etw_session_sets_mark_gone(struct etw_session *session, uint32_t ring_set)
{
	struct etw_session_set *set;

	pthread_mutex_lock(&session->lock);
	set = find_by_id(session, ring_set);
	if (set)
		set->is_gone = true;
	pthread_mutex_unlock(&session->lock);
	etw_session_kick(session);
}

void etw_session_sets_mark_left(struct etw_session *session, uint32_t ring_set, bool is_last)
{
	struct etw_session_set *set;

	pthread_mutex_lock(&session->lock);
	set = find_by_id(session, ring_set);
	if (set && !load_relaxed(&set->left_ns))
		store_relaxed(&set->left_ns, etw_monotonic_ns());
	if (set && is_last) {
		store_relaxed(&set->is_orphan, true);
		set->orphan_due_ns = etw_monotonic_ns() + ETW_SESSION_SETS_ORPHAN_NS;
	}
	pthread_mutex_unlock(&session->lock);
	etw_session_kick(session);
}

uint32_t etw_session_sets_list(struct etw_session *session,
			       struct etw_session_set *sets[ETW_STATE_SETS])
{
	uint32_t count = 0;

	pthread_mutex_lock(&session->lock);
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (session->sets[i])
			sets[count++] = session->sets[i];
	}
	pthread_mutex_unlock(&session->lock);
	return count;
}

void etw_session_sets_close(struct etw_session *session, struct etw_session_set *set)
{
	for (uint32_t i = 0; i < set->stream_count; i++)
		etw_output_settle_stream(session, &session->outputs[i], &set->streams[i]);
	for (uint32_t i = 0; i < session->plan.output_count; i++)
		session->outputs[i].stream_count = 0; /* gathered anew in the next round */
	/* Who sums up claims, which judges them, does so before this or does not look at the rings any more. */
	pthread_mutex_lock(&session->lock);
	close_claims(session, set->slot);
	pthread_mutex_unlock(&session->lock);
	forget_set(session, set->id, set->fds.rings);
	pthread_mutex_lock(&session->lock);
	free_place(session, set->slot);
	session->sets[set->slot] = NULL;
	pthread_mutex_unlock(&session->lock);
	etw_ring_limits_give(session, set->uid, set->charged_bytes);
	free_set(set);
}

void etw_session_sets_free_all(struct etw_session *session)
{
	etw_refusals_free_all(session);
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		struct etw_session_set *set = session->sets[i];

		if (set)
			etw_ring_limits_give(session, set->uid, set->charged_bytes);
		free_set(set);
		session->sets[i] = NULL;
	}
}
