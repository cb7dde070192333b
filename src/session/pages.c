/* SPDX-License-Identifier: MIT */
/* See session/pages.h. */
#include "session/pages.h"

#include <errno.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "session/claims.h"
#include "session/ring_sets.h"

static struct etw_state_page *durable_page(const struct etw_session *session, uint32_t place)
{
	return &session->state.head->pages[place];
}

static uint64_t count_at(const struct etw_session *session, uint32_t place)
{
	const struct wire_ring_set *page = session->pages[place];

	return page ? wire_ring_refused(load_acquire(&page->refused)) : 0;
}

uint64_t etw_pages_count_at(const struct etw_session *session, uint32_t place, uint64_t otherwise)
{
	return session->pages[place] ? count_at(session, place) : otherwise;
}

/*
 * Holding lock, or while the session is made and no other thread knows it. Its count stays in the sum, also when
 * the host dies in the middle of this.
 */
static void free_place(struct etw_session *session, uint32_t place)
{
	struct etw_state_head *head = session->state.head;
	struct etw_state_page *durable = durable_page(session, place);
	struct etw_state_user *user = &head->users[durable->user];

	if (load_acquire(&durable->status) != ETW_STATE_PAGE_CLOSING) {
		durable->closed_next = etw_sum_saturated(user->replaced,
							 etw_claims_page(session, place));
		store_release(&durable->status, (uint32_t)ETW_STATE_PAGE_CLOSING);
		SCHED_POINT("session.page.closing");
	}
	user->replaced = durable->closed_next;
	durable->refused = (struct etw_state_claim){0};
	etw_ring_set_unmap_page(TAKE(session->pages[place]));
	durable->set_id = 0;
	store_release(&durable->status, (uint32_t)ETW_STATE_PAGE_FREE);
}

/* Holding lock. ETW_STATE_PAGES: nowhere. */
static uint32_t find_place(const struct etw_session *session, uint32_t set_id)
{
	uint32_t i = 0;

	while (i < ETW_STATE_PAGES && durable_page(session, i)->set_id != set_id)
		i++;
	return i;
}

/* Holding lock. */
static bool is_open(const struct etw_session *session, uint32_t set_id)
{
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (session->sets[i] && session->sets[i]->id == set_id)
			return true;
	}
	return false;
}

/* Holding lock. */
static uint32_t count_of(const struct etw_session *session, uid_t uid)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		count += durable_page(session, i)->set_id && durable_page(session, i)->uid == uid;
	return count;
}

/* Holding lock. */
static uint32_t count_of_others(const struct etw_session *session)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		count += durable_page(session, i)->set_id &&
			 !etw_session_is_trusted(session, durable_page(session, i)->uid);
	return count;
}

/*
 * Holding lock. Whose page goes for one of @uid: of the uids that are trusted as little, or less, the one that has
 * most, and more than @uid; else @uid itself.
 */
static uid_t choose_uid(const struct etw_session *session, uid_t uid)
{
	bool is_trusted = etw_session_is_trusted(session, uid);
	uint32_t most = count_of(session, uid);
	uid_t result = uid;

	if (!is_trusted && most >= ETW_PAGES_OF_UID)
		return uid;
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		uid_t other = durable_page(session, i)->uid;
		uint32_t count;

		if (!durable_page(session, i)->set_id ||
		    (!is_trusted && etw_session_is_trusted(session, other)))
			continue;
		count = count_of(session, other);
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
static uint32_t choose_victim(const struct etw_session *session, uid_t uid)
{
	uint32_t oldest = ETW_STATE_PAGES, unused = ETW_STATE_PAGES;

	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		uint32_t id = durable_page(session, i)->set_id;

		if (!id || durable_page(session, i)->uid != uid || is_open(session, id))
			continue;
		if (oldest == ETW_STATE_PAGES || id < durable_page(session, oldest)->set_id)
			oldest = i;
		if (count_at(session, i) == 0 &&
		    (unused == ETW_STATE_PAGES || id < durable_page(session, unused)->set_id))
			unused = i;
	}
	return unused == ETW_STATE_PAGES ? oldest : unused;
}

/* Holding lock. ETW_STATE_PAGES: a page has to go first, or none is free. */
static uint32_t find_free_place(const struct etw_session *session, uid_t uid)
{
	if (!etw_session_is_trusted(session, uid) &&
	    (count_of(session, uid) >= ETW_PAGES_OF_UID ||
	     count_of_others(session) >= ETW_PAGES_OF_OTHERS))
		return ETW_STATE_PAGES;
	return find_place(session, 0);
}

/* Holding lock. Where the page goes; ETW_STATE_PAGES: nowhere. *@ret_gone: the set whose page had to go, or 0. */
static uint32_t make_place(struct etw_session *session, uid_t uid, uint32_t set_id,
			   uint32_t *ret_gone)
{
	uint32_t place = find_place(session, set_id);

	*ret_gone = 0;
	if (place == ETW_STATE_PAGES)
		place = find_free_place(session, uid);
	if (place != ETW_STATE_PAGES)
		return place;
	place = choose_victim(session, choose_uid(session, uid));
	if (place == ETW_STATE_PAGES)
		return place;
	*ret_gone = durable_page(session, place)->set_id;
	free_place(session, place);
	return place;
}

/*
 * Takes @page. Returns false when there is no place for it. *@ret_gone: the set whose page had to go, or 0;
 * *@ret_is_first: nothing was said of that yet.
 */
static bool put_page(struct etw_session *session, uid_t uid, uint32_t set_id,
		     struct wire_ring_set *page, uint32_t *ret_gone, bool *ret_is_first)
{
	uint32_t place;

	pthread_mutex_lock(&session->lock);
	place = make_place(session, uid, set_id, ret_gone);
	*ret_is_first = !session->has_dropped_page;
	if (place == ETW_STATE_PAGES || *ret_gone)
		session->has_dropped_page = true;
	if (place != ETW_STATE_PAGES) {
		/* The set may have been a stopping session's, whose host died before it had stopped. */
		if (session->has_ended_pages)
			(void)or_acq_rel(&page->refused, WIRE_RING_OVER);
		else
			(void)and_acq_rel(&page->refused, ~WIRE_RING_OVER);
		if (durable_page(session, place)->set_id != set_id) {
			durable_page(session, place)->user = etw_claims_user(session, uid);
			durable_page(session, place)->refused =
				(struct etw_state_claim){.since_ns = etw_monotonic_ns()};
		}
		durable_page(session, place)->uid = uid;
		durable_page(session, place)->set_id = set_id;
		store_release(&durable_page(session, place)->status, (uint32_t)ETW_STATE_PAGE_KEPT);
		etw_ring_set_unmap_page(session->pages[place]);
		session->pages[place] = page;
	}
	pthread_mutex_unlock(&session->lock);
	if (place == ETW_STATE_PAGES)
		etw_ring_set_unmap_page(page);
	SCHED_POINT("session.page.kept");
	return place != ETW_STATE_PAGES;
}

void etw_pages_keep(struct etw_session *session, uid_t uid, uint32_t set_id, int page_fd)
{
	struct wire_ring_set *page;
	bool is_first, is_kept;
	uint32_t gone;
	int result = etw_ring_set_map_page(page_fd, &page);

	if (result < 0) {
		etw_session_complain(session, "events for replaced rings are not counted", result,
				     NULL);
		return;
	}
	is_kept = put_page(session, uid, set_id, page, &gone, &is_first);
	if (gone)
		etw_session_sets_forget_page(session, gone);
	if (is_first && (gone || !is_kept))
		etw_session_complain(session,
				     "so many rings were replaced that events for the first ones "
				     "are not counted any more",
				     0, NULL);
}

static int adopt_page(struct etw_session *session, uid_t uid, uint32_t set_id)
{
	uint32_t gone;
	bool is_first;
	CLEANUP(etw_file_closep) int fd = -ENOENT;
	struct wire_ring_set *page = NULL;
	char name[ETW_SESSION_NAME_BYTES];

	/* Whose set is still here is mapped from that: the keeper gives each descriptor once. */
	for (uint32_t i = 0; i < ETW_STATE_SETS && !page; i++) {
		if (session->sets[i] && session->sets[i]->id == set_id)
			TRY(etw_ring_set_map_page(session->sets[i]->fds.page, &page));
	}
	if (!page) {
		etw_session_name(session, name, ETW_SESSION_SETS_PAGE_NAME, set_id);
		if (session->host.kept_fd)
			fd = session->host.kept_fd(session->host.context, name);
		if (fd < 0)
			return fd;
		TRY(etw_ring_set_map_page(fd, &page));
	}
	(void)put_page(session, uid, set_id, page, &gone, &is_first);
	return 0;
}

void etw_pages_adopt(struct etw_session *session)
{
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		const struct etw_state_page *durable = durable_page(session, i);
		uint32_t status = load_acquire(&durable->status);
		int result;

		if (status == ETW_STATE_PAGE_CLOSING) {
			etw_session_sets_forget_page(session, durable->set_id);
			free_place(session, i);
		}
		if (status != ETW_STATE_PAGE_KEPT || session->pages[i])
			continue;
		etw_session_sets_step_over_id(durable->set_id);
		result = adopt_page(session, durable->uid, durable->set_id);
		if (result == 0)
			continue;
		etw_session_complain(session, "the count of a replaced ring set is lost", result,
				     NULL);
		free_place(session, i);
	}
}

bool etw_pages_has(struct etw_session *session, uint32_t set_id)
{
	bool result;

	pthread_mutex_lock(&session->lock);
	result = find_place(session, set_id) != ETW_STATE_PAGES;
	pthread_mutex_unlock(&session->lock);
	return result;
}

void etw_pages_end(struct etw_session *session)
{
	uint32_t kept[ETW_STATE_PAGES], count = 0;

	pthread_mutex_lock(&session->lock);
	session->has_ended_pages = true;
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		struct wire_ring_set *page = session->pages[i];

		if (!page)
			continue;
		kept[count++] = durable_page(session, i)->set_id;
		(void)or_acq_rel(&page->refused, WIRE_RING_OVER);
	}
	pthread_mutex_unlock(&session->lock);
	for (uint32_t i = 0; i < count; i++)
		etw_session_sets_forget_page(session, kept[i]);
}

void etw_pages_free_all(struct etw_session *session)
{
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		etw_ring_set_unmap_page(TAKE(session->pages[i]));
}
