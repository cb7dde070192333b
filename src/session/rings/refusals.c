/* SPDX-License-Identifier: MIT */
/* See session/rings/refusals.h. */
#include "session/rings/refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/rings/limits.h"
#include "session/rings/pages.h"

#define AGAIN_NS UINT64_C(2000000000) /* uids are looked at so often */

static const char *reason(int why)
{
	switch (why) {
	case -EDQUOT:
		return "it has all ring memory that one user may have";
	case -EUSERS:
		return "users other than root have all ring memory that they may have";
	case -EAGAIN:
		return "too many rings were made for users other than root";
	case -ENOMEM:
		return "the host has no memory for them";
	case -EMFILE:
	case -ENFILE:
		return "the host has no descriptors for them";
	default:
		return "the session has as many ring sets as it can have";
	}
}

static void complain(struct etw_session_sets *sets, uid_t uid, int why)
{
	char text[160];
	bool is_first;

	pthread_mutex_lock(&sets->lock);
	is_first = !sets->has_complained_of_refusal;
	sets->has_complained_of_refusal = true;
	pthread_mutex_unlock(&sets->lock);
	if (!is_first)
		return;
	(void)snprintf(text, sizeof(text), "user %u got no rings, and its events are lost: %s",
		       (unsigned)uid, reason(why));
	etw_context_complain(sets->context, text, 0, NULL);
}

/* Holding lock. */
static struct etw_session_refusal *find(struct etw_session_sets *sets, uid_t uid)
{
	for (uint32_t i = 0; i < sets->refusal_count; i++) {
		if (sets->refusals[i].uid == uid)
			return &sets->refusals[i];
	}
	return NULL;
}

/* Rings that nobody can write to, however small they are. */
static int make(const struct etw_session_sets *sets, uid_t uid, struct etw_session_refusal *ret)
{
	const struct etw_ring_set_config config = {
		.cpu_count = 1,
		.buffer_count = 2,
		.buffer_bytes = 8,
		.session_id = sets->context->state.head->session_id,
		.uid = uid,
		.clock_type = sets->context->plan.clock_type,
		.flags = sets->context->plan.ring_flags | WIRE_RING_ONE_STREAM,
	};
	struct wire_ring_set *page;
	int result;

	*ret = (struct etw_session_refusal){.uid = uid, .set_id = etw_session_sets_next_id()};
	TRY(etw_ring_set_create(&config, &ret->fds));
	result = etw_ring_set_map_page(ret->fds.page, &page);
	if (result < 0) {
		etw_ring_set_close(&ret->fds);
		return result;
	}
	store_release(&page->is_retired, 1u);
	etw_ring_set_unmap_page(page);
	return 0;
}

static void keep(struct etw_session_sets *sets, const struct etw_session_refusal *refusal)
{
	etw_pages_keep(sets, refusal->uid, refusal->set_id, refusal->fds.page);
	if (etw_pages_has(sets, refusal->set_id))
		(void)etw_context_keep(sets->context, refusal->fds.page, ETW_SESSION_SETS_PAGE_NAME,
				       refusal->set_id);
}

/* Returns 0 or @why. */
static int add(struct etw_session_sets *sets, int why, const struct etw_session_refusal *refusal)
{
	bool is_full;

	pthread_mutex_lock(&sets->lock);
	is_full = sets->refusal_count == ETW_SESSION_REFUSALS;
	if (!is_full) {
		if (sets->refusal_count == 0)
			sets->refusals_due_ns = etw_monotonic_ns() + AGAIN_NS;
		sets->refusals[sets->refusal_count] = *refusal;
		store_relaxed(&sets->refusal_count, sets->refusal_count + 1);
	}
	pthread_mutex_unlock(&sets->lock);
	return is_full ? why : 0;
}

static int give(struct etw_session_sets *sets, uid_t uid, uint32_t *ret_ring_set,
		struct etw_ring_set_fds *ret)
{
	const struct etw_session_refusal *refusal;
	int result = 0;

	pthread_mutex_lock(&sets->lock);
	refusal = find(sets, uid);
	if (!refusal) {
		result = -ENOENT;
	} else {
		*ret_ring_set = refusal->set_id;
		if (ret) {
			ret->page = fcntl(refusal->fds.page, F_DUPFD_CLOEXEC, 0);
			ret->rings = fcntl(refusal->fds.rings, F_DUPFD_CLOEXEC, 0);
			result = ret->page < 0 || ret->rings < 0 ? -EMFILE : 0;
			if (result < 0)
				etw_ring_set_close(ret);
		}
	}
	pthread_mutex_unlock(&sets->lock);
	return result;
}

int etw_refusals_get(struct etw_session_sets *sets, uid_t uid, int why, uint32_t *ret_ring_set,
		     struct etw_ring_set_fds *ret)
{
	struct etw_session_refusal refusal;
	int result;

	complain(sets, uid, why);
	result = give(sets, uid, ret_ring_set, ret);
	if (result != -ENOENT)
		return result;
	TRY(make(sets, uid, &refusal));
	result = add(sets, why, &refusal);
	if (result < 0) {
		etw_ring_set_close(&refusal.fds);
		return result;
	}
	keep(sets, &refusal);
	etw_context_kick(sets->context); /* it is to look at the uid again */
	return give(sets, uid, ret_ring_set, ret);
}

uint64_t etw_refusals_due_ns(struct etw_session_sets *sets)
{
	uint64_t result;

	pthread_mutex_lock(&sets->lock);
	result = sets->refusal_count ? sets->refusals_due_ns : UINT64_MAX;
	pthread_mutex_unlock(&sets->lock);
	return result;
}

/* Takes one away. Returns false when there is none of this place any more. */
static bool take(struct etw_session_sets *sets, uint32_t place, struct etw_session_refusal *ret)
{
	bool is_there;

	pthread_mutex_lock(&sets->lock);
	is_there = place < sets->refusal_count;
	if (is_there) {
		*ret = sets->refusals[place];
		sets->refusals[place] = sets->refusals[sets->refusal_count - 1];
		store_relaxed(&sets->refusal_count, sets->refusal_count - 1);
	}
	pthread_mutex_unlock(&sets->lock);
	return is_there;
}

/* Again, what the keeper had no room for: its count is all that a next host can know of these events. */
static void keep_again(struct etw_session_sets *sets, uint32_t place)
{
	pthread_mutex_lock(&sets->lock);
	if (place < sets->refusal_count && sets->refusals[place].is_unkept) {
		sets->refusals[place].is_unkept = false;
		(void)etw_context_keep(sets->context, sets->refusals[place].fds.page,
				       ETW_SESSION_SETS_PAGE_NAME, sets->refusals[place].set_id);
	}
	pthread_mutex_unlock(&sets->lock);
}

static bool look(struct etw_session_sets *sets, uint32_t place, uid_t *ret)
{
	bool is_there;

	pthread_mutex_lock(&sets->lock);
	is_there = place < sets->refusal_count;
	if (is_there)
		*ret = sets->refusals[place].uid;
	pthread_mutex_unlock(&sets->lock);
	return is_there;
}

void etw_refusals_tend(struct etw_session_sets *sets, uint64_t now_ns)
{
	struct etw_session_refusal refusal;
	uint32_t place = 0;
	uid_t uid;

	/* In every round: without the lock where nobody is refused. */
	if (!load_relaxed(&sets->refusal_count) || now_ns < etw_refusals_due_ns(sets))
		return;
	while (look(sets, place, &uid)) {
		keep_again(sets, place);
		if (etw_ring_limits_look_again(sets, uid) < 0 || !take(sets, place, &refusal)) {
			place++;
			continue;
		}
		/* Its page stays, for those who do not hear of it. */
		if (sets->context->host.ring_set_replaced)
			sets->context->host.ring_set_replaced(sets->context->host.context,
							      sets->context->state.head->session_id,
							      uid, refusal.set_id);
		etw_ring_set_close(&refusal.fds);
	}
	pthread_mutex_lock(&sets->lock);
	sets->refusals_due_ns = now_ns + AGAIN_NS;
	pthread_mutex_unlock(&sets->lock);
}

void etw_refusals_free_all(struct etw_session_sets *sets)
{
	struct etw_session_refusal refusal;

	while (take(sets, 0, &refusal))
		etw_ring_set_close(&refusal.fds);
}
