/* SPDX-License-Identifier: MIT */
/* What a uid may have of a session's ring sets; see session/ring_limits.h. */
#include "session/ring_limits.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/budget.h"

/* Stopped and hostile processes keep replaced sets: one uid must not take the places of all. */
#define SETS_OF_UID 8

/* Places that uids which are not trusted leave to root and the session's owner. */
#define SETS_FOR_TRUSTED 16

/* Whether the budget is for this uid. */
static bool is_bound(const struct etw_session *session, uid_t uid)
{
	return session->host.budget && !etw_session_is_trusted(session, uid);
}

uint64_t etw_ring_limits_set_bytes(const struct etw_session *session, uid_t uid)
{
	return is_bound(session, uid) ? etw_budget_limits(session->host.budget)->set : UINT64_MAX;
}

/* Holding lock. */
static int find_place(const struct etw_session *session, uid_t uid, uint32_t *ret)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++)
		others += session->sets[i] &&
			  !etw_session_is_trusted(session, session->sets[i]->uid);
	if (!etw_session_is_trusted(session, uid) && others >= ETW_STATE_SETS - SETS_FOR_TRUSTED)
		return -ENOSPC;
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (!session->sets[i] &&
		    load_acquire(&session->state.head->sets[i].status) == ETW_STATE_SET_FREE) {
			*ret = i;
			return 0;
		}
	}
	return -ENOSPC;
}

/* Holding lock. */
static uint32_t count_sets(const struct etw_session *session, uid_t uid)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++)
		count += session->sets[i] && session->sets[i]->uid == uid;
	return count;
}

/* Holding lock. What the uid has in this session, under its budget. */
static uint64_t charged_bytes(const struct etw_session *session, uid_t uid)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (session->sets[i] && session->sets[i]->uid == uid)
			bytes += session->sets[i]->charged_bytes;
	}
	return bytes;
}

int etw_ring_limits_look(const struct etw_session *session, uid_t uid, uint64_t bytes,
			 uint32_t *ret_slot)
{
	const struct etw_budget_limits *limits;

	if (session->wants_stop)
		return -ESHUTDOWN;
	/* Who spoils one set after the other, and gives none back, gets no more. */
	if (count_sets(session, uid) >= SETS_OF_UID)
		return -ENOSPC;
	TRY(find_place(session, uid, ret_slot));
	if (!is_bound(session, uid))
		return 0;
	limits = etw_budget_limits(session->host.budget);
	if (charged_bytes(session, uid) + bytes > limits->session)
		return -EDQUOT;
	return etw_budget_look(session->host.budget, uid, bytes, etw_monotonic_ns());
}

int etw_ring_limits_take(struct etw_session *session, uid_t uid, uint64_t bytes,
			 uint64_t *ret_charged_bytes)
{
	*ret_charged_bytes = 0;
	if (!is_bound(session, uid))
		return 0;
	TRY(etw_budget_take(session->host.budget, uid, bytes, etw_monotonic_ns()));
	*ret_charged_bytes = bytes;
	return 0;
}

uint64_t etw_ring_limits_adopt(struct etw_session *session, uid_t uid, uint64_t bytes)
{
	if (!is_bound(session, uid) || etw_budget_adopt(session->host.budget, uid, bytes) < 0)
		return 0;
	return bytes;
}

void etw_ring_limits_give(struct etw_session *session, uid_t uid, uint64_t charged_bytes)
{
	if (charged_bytes)
		etw_budget_give(session->host.budget, uid, charged_bytes);
}
