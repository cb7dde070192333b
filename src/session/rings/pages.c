/* SPDX-License-Identifier: MIT */
/* See session/rings/pages.h. */
#include "session/rings/pages.h"

#include <errno.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "session/common/claims.h"

static struct etw_state_page *durable_page(const struct etw_session_sets *sets, uint32_t place)
{
	return &sets->context->state.head->pages[place];
}

/*
 * Holding lock, or while the session is made and no other thread knows it. Its count stays in the sum, also when
 * the host dies in the middle of this.
 */
static void free_place(struct etw_session_sets *sets, uint32_t place)
{
	struct etw_state_head *head = sets->context->state.head;
	struct etw_state_page *durable = durable_page(sets, place);
	struct etw_state_user *user = &head->users[durable->user];

	if (load_acquire(&durable->status) != ETW_STATE_PAGE_CLOSING) {
		durable->closed_next = etw_sum_saturated(user->replaced,
							 etw_claims_page(sets, place));
		store_release(&durable->status, (uint32_t)ETW_STATE_PAGE_CLOSING);
		SCHED_POINT("session.page.closing");
	}
	user->replaced = durable->closed_next;
	durable->refused = (struct etw_state_claim){0};
	etw_ring_set_unmap_page(TAKE(sets->pages[place]));
	durable->set_id = 0;
	store_release(&durable->status, (uint32_t)ETW_STATE_PAGE_FREE);
}

/* Holding lock. ETW_STATE_PAGES: nowhere. */
static uint32_t find_place(const struct etw_session_sets *sets, uint32_t set_id)
{
	uint32_t i = 0;

	while (i < ETW_STATE_PAGES && durable_page(sets, i)->set_id != set_id)
		i++;
	return i;
}

/* Holding lock. */
static uint32_t count_of(const struct etw_session_sets *sets, uid_t uid)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		count += durable_page(sets, i)->set_id && durable_page(sets, i)->uid == uid;
	return count;
}

/* Holding lock. */
static uint32_t count_of_others(const struct etw_session_sets *sets)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		count += durable_page(sets, i)->set_id &&
			 !etw_context_is_trusted(sets->context, durable_page(sets, i)->uid);
	return count;
}

/*
 * Holding lock. Whose page goes for one of @uid: of the uids that are trusted as little, or less, the one that has
 * most, and more than @uid; else @uid itself.
 */
static uid_t choose_uid(const struct etw_session_sets *sets, uid_t uid)
{
	bool is_trusted = etw_context_is_trusted(sets->context, uid);
	uint32_t most = count_of(sets, uid);
	uid_t result = uid;

	if (!is_trusted && most >= ETW_PAGES_OF_UID)
		return uid;
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		uid_t other = durable_page(sets, i)->uid;
		uint32_t count;

		if (!durable_page(sets, i)->set_id ||
		    (!is_trusted && etw_context_is_trusted(sets->context, other)))
			continue;
		count = count_of(sets, other);
		if (count > most) {
			most = count;
			result = other;
		}
	}
	return result;
}

/*
 * Holding lock. Of a uid's pages the oldest one that has counted nothing; when all have, the oldest. Ids grow. The
 * keeper has a set's page for the next host while the set is open. ETW_STATE_PAGES: none.
 */
static uint32_t choose_victim(const struct etw_session_sets *sets, uid_t uid)
{
	uint32_t oldest = ETW_STATE_PAGES, unused = ETW_STATE_PAGES;

	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		uint32_t id = durable_page(sets, i)->set_id;

		if (!id || durable_page(sets, i)->uid != uid || etw_session_sets_find(sets, id))
			continue;
		if (oldest == ETW_STATE_PAGES || id < durable_page(sets, oldest)->set_id)
			oldest = i;
		if (etw_session_sets_page_count(sets, i, 0) == 0 &&
		    (unused == ETW_STATE_PAGES || id < durable_page(sets, unused)->set_id))
			unused = i;
	}
	return unused == ETW_STATE_PAGES ? oldest : unused;
}

/* Holding lock. ETW_STATE_PAGES: a page has to go first, or none is free. */
static uint32_t find_free_place(const struct etw_session_sets *sets, uid_t uid)
{
	if (!etw_context_is_trusted(sets->context, uid) &&
	    (count_of(sets, uid) >= ETW_PAGES_OF_UID ||
	     count_of_others(sets) >= ETW_PAGES_OF_OTHERS))
		return ETW_STATE_PAGES;
	return find_place(sets, 0);
}

/* Holding lock. Where the page goes; ETW_STATE_PAGES: nowhere. *@ret_gone: the set whose page had to go, or 0. */
static uint32_t make_place(struct etw_session_sets *sets, uid_t uid, uint32_t set_id,
			   uint32_t *ret_gone)
{
	uint32_t place = find_place(sets, set_id);

	*ret_gone = 0;
	if (place == ETW_STATE_PAGES)
		place = find_free_place(sets, uid);
	if (place != ETW_STATE_PAGES)
		return place;
	place = choose_victim(sets, choose_uid(sets, uid));
	if (place == ETW_STATE_PAGES)
		return place;
	*ret_gone = durable_page(sets, place)->set_id;
	free_place(sets, place);
	return place;
}

/*
 * Takes @page. Returns false when there is no place for it. *@ret_gone: the set whose page had to go, or 0;
 * *@ret_is_first: nothing was said of that yet.
 */
static bool put_page(struct etw_session_sets *sets, uid_t uid, uint32_t set_id,
		     struct wire_ring_set *page, uint32_t *ret_gone, bool *ret_is_first)
{
	uint32_t place;

	pthread_mutex_lock(&sets->lock);
	place = make_place(sets, uid, set_id, ret_gone);
	*ret_is_first = !sets->has_dropped_page;
	if (place == ETW_STATE_PAGES || *ret_gone)
		sets->has_dropped_page = true;
	if (place != ETW_STATE_PAGES) {
		/* The set may have been a stopping session's, whose host died before it had stopped. */
		if (sets->has_ended_pages)
			(void)or_acq_rel(&page->refused, WIRE_RING_OVER);
		else
			(void)and_acq_rel(&page->refused, ~WIRE_RING_OVER);
		if (durable_page(sets, place)->set_id != set_id) {
			durable_page(sets, place)->user = etw_claims_user(sets, uid);
			durable_page(sets, place)->refused =
				(struct etw_state_claim){.since_ns = etw_monotonic_ns()};
		}
		durable_page(sets, place)->uid = uid;
		durable_page(sets, place)->set_id = set_id;
		store_release(&durable_page(sets, place)->status, (uint32_t)ETW_STATE_PAGE_KEPT);
		etw_ring_set_unmap_page(sets->pages[place]);
		sets->pages[place] = page;
	}
	pthread_mutex_unlock(&sets->lock);
	if (place == ETW_STATE_PAGES)
		etw_ring_set_unmap_page(page);
	SCHED_POINT("session.page.kept");
	return place != ETW_STATE_PAGES;
}

static void forget(const struct etw_session_sets *sets, uint32_t set_id)
{
	etw_context_forget(sets->context, ETW_SESSION_SETS_PAGE_NAME, set_id);
}

void etw_pages_keep(struct etw_session_sets *sets, uid_t uid, uint32_t set_id, int page_fd)
{
	struct wire_ring_set *page;
	bool is_first, is_kept;
	uint32_t gone;
	int result = etw_ring_set_map_page(page_fd, &page);

	if (result < 0) {
		etw_context_complain(sets->context, "events for replaced rings are not counted",
				     result, NULL);
		return;
	}
	is_kept = put_page(sets, uid, set_id, page, &gone, &is_first);
	if (gone)
		forget(sets, gone);
	if (is_first && (gone || !is_kept))
		etw_context_complain(sets->context,
				     "so many rings were replaced that events for the first ones "
				     "are not counted any more",
				     0, NULL);
}

static int adopt_page(struct etw_session_sets *sets, uid_t uid, uint32_t set_id)
{
	uint32_t gone;
	bool is_first;
	CLEANUP(etw_file_closep) int fd = -ENOENT;
	const struct etw_session_set *set = etw_session_sets_find(sets, set_id);
	struct wire_ring_set *page = NULL;

	/* Whose set is still here is mapped from that: the keeper gives each descriptor once. */
	if (set) {
		TRY(etw_ring_set_map_page(set->fds.page, &page));
	} else {
		fd = etw_context_kept(sets->context, ETW_SESSION_SETS_PAGE_NAME, set_id);
		if (fd < 0)
			return fd;
		TRY(etw_ring_set_map_page(fd, &page));
	}
	(void)put_page(sets, uid, set_id, page, &gone, &is_first);
	return 0;
}

void etw_pages_adopt(struct etw_session_sets *sets)
{
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		const struct etw_state_page *durable = durable_page(sets, i);
		uint32_t status = load_acquire(&durable->status);
		int result;

		if (status == ETW_STATE_PAGE_CLOSING) {
			forget(sets, durable->set_id);
			free_place(sets, i);
		}
		if (status != ETW_STATE_PAGE_KEPT || sets->pages[i])
			continue;
		etw_session_sets_step_over_id(durable->set_id);
		result = adopt_page(sets, durable->uid, durable->set_id);
		if (result == 0)
			continue;
		etw_context_complain(sets->context, "the count of a replaced ring set is lost",
				     result, NULL);
		free_place(sets, i);
	}
}

bool etw_pages_has(struct etw_session_sets *sets, uint32_t set_id)
{
	bool result;

	pthread_mutex_lock(&sets->lock);
	result = find_place(sets, set_id) != ETW_STATE_PAGES;
	pthread_mutex_unlock(&sets->lock);
	return result;
}

void etw_pages_end(struct etw_session_sets *sets)
{
	uint32_t kept[ETW_STATE_PAGES], count = 0;

	pthread_mutex_lock(&sets->lock);
	sets->has_ended_pages = true;
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		struct wire_ring_set *page = sets->pages[i];

		if (!page)
			continue;
		kept[count++] = durable_page(sets, i)->set_id;
		(void)or_acq_rel(&page->refused, WIRE_RING_OVER);
	}
	pthread_mutex_unlock(&sets->lock);
	for (uint32_t i = 0; i < count; i++)
		forget(sets, kept[i]);
}

void etw_pages_free_all(struct etw_session_sets *sets)
{
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		etw_ring_set_unmap_page(TAKE(sets->pages[i]));
}
