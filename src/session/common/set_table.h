/* SPDX-License-Identifier: MIT */
/*
 * The ring sets of a session, the first of its parts: who may write to it, through which memory, and what these writers
 * say that they lost. Here is the struct of the part, and the table of the sets; what is done with them is, from bottom
 * to top,
 *
 *	session/common/claims.h    what is believed of counters that writers raise
 *	session/rings/pages.h      control pages of sets that were replaced: they count on
 *	session/rings/limits.h     what a uid may have
 *	session/rings/refusals.h   uids that are given nothing for the time being
 *	session/rings/sets.h       making, opening again, retiring, closing a set
 *	session/rings/turnover.h   which sets are replaced, retired and closed, and when
 *
 * Lock: `lock` owns which sets and pages there are, the refusals, the claims (users, sets' and pages' statuses in the
 * state included), and the members of a set that say so. What else a set has is the session's thread's. So a set is
 * taken out of the table by that thread alone, holding `lock`: the thread uses what etw_session_sets_list() gave without
 * it. Under `lock` the budget's is taken, and no other; no function of the host is called. `adding` is held, before `lock`,
 * by who adds a set; the thread never takes it.
 */
#ifndef ETW_SESSION_COMMON_SET_TABLE_H
#define ETW_SESSION_COMMON_SET_TABLE_H

#include <pthread.h>

#include "session/common/context.h"
#include "session/common/set.h"

#define ETW_SESSION_REFUSALS 64

/* A uid that is given no rings for the time being: where its processes count what they lose. */
struct etw_session_refusal {
	uid_t uid;
	uint32_t set_id;
	struct etw_ring_set_fds
		fds;    /* owned; of a set of the smallest size, retired from its birth */
	bool is_unkept; /* the keeper had no room for its page */
};

struct etw_session_sets {
	struct etw_session_context *context;
	pthread_mutex_t adding;
	pthread_mutex_t lock;
	struct etw_session_set *table[ETW_STATE_SETS]; /* owned; NULL: the place is free */
	struct wire_ring_set *pages[ETW_STATE_PAGES];  /* mapped; NULL: none */
	bool is_ending;                                /* no more sets are made */
	bool has_dropped_page;                         /* that there are too many has been said */
	bool has_ended_pages; /* those that come now are of a session that is over */
	bool has_complained_of_refusal;
	bool has_new_disregarded; /* session/common/claims.c has to complain */
	struct etw_session_refusal refusals[ETW_SESSION_REFUSALS]; /* the first refusal_count */
	uint32_t refusal_count;   /* atomic for those without the lock */
	uint64_t refusals_due_ns; /* when their uids are looked at again */
	/* As of the last etw_session_sets_count_free(); atomic. By output: owned, NULL before the first. */
	uint64_t free_buffers;
	uint32_t *free_of;
};

/* etw_session_sets_open() - without sets. */
void etw_session_sets_open(struct etw_session_context *context, struct etw_session_sets *ret);

/* etw_session_sets_close() - behind etw_session_sets_free_all(). */
void etw_session_sets_close(struct etw_session_sets *sets);

/* etw_session_sets_list() - writes borrowed pointers to all sets; returns how many. Owner thread. */
uint32_t etw_session_sets_list(struct etw_session_sets *sets,
			       struct etw_session_set *ret[ETW_STATE_SETS]);

/* etw_session_sets_find() - by its number; NULL: there is none. Holding lock. */
struct etw_session_set *etw_session_sets_find(const struct etw_session_sets *sets,
					      uint32_t ring_set);

/* etw_session_sets_find_live() - the set that a uid's processes write to; NULL: there is none. Holding lock. */
struct etw_session_set *etw_session_sets_find_live(const struct etw_session_sets *sets, uid_t uid);

/* A set that no connected process has is looked at so often: another may have it by a fork. */
#define ETW_SESSION_SETS_ORPHAN_NS UINT64_C(10000000000)

/* etw_session_sets_mark_left() - a process that had this set has ended; @is_last: no other is connected. Any thread. */
void etw_session_sets_mark_left(struct etw_session_sets *sets, uint32_t ring_set, bool is_last);

/* etw_session_sets_mark_unkept() - the keeper has no room for this set: it is to be replaced. Any thread. */
void etw_session_sets_mark_unkept(struct etw_session_sets *sets, uint32_t ring_set);

/* etw_session_sets_mark_gone() - no process maps this set any more. Any thread. */
void etw_session_sets_mark_gone(struct etw_session_sets *sets, uint32_t ring_set);

/* etw_session_sets_forbid() - no more sets are made from now on. Any thread. */
void etw_session_sets_forbid(struct etw_session_sets *sets);

/* etw_session_sets_count_free() - counts what buffers are free now, into free_buffers and free_of. Owner thread. */
void etw_session_sets_count_free(struct etw_session_sets *sets);

/* etw_session_sets_buffers() - how many buffers the rings have; 0: there is no set. Any thread, not holding lock. */
uint32_t etw_session_sets_buffers(struct etw_session_sets *sets);

/* etw_session_sets_free_of() - how many are free of an output's, as counted last. Any thread. */
uint32_t etw_session_sets_free_of(const struct etw_session_sets *sets, uint32_t output);

/* etw_session_sets_next_id() - a number that no set of this process had yet. Any thread. */
uint32_t etw_session_sets_next_id(void);

/* etw_session_sets_step_over_id() - a former host gave this number. Any thread. */
void etw_session_sets_step_over_id(uint32_t id);

/* For etw_context_name(): a set's control page, and its rings, by its id. */
#define ETW_SESSION_SETS_PAGE_NAME  "page-%u"
#define ETW_SESSION_SETS_RINGS_NAME "ring-%u"

/* etw_session_sets_page_count() - what a page's word says; @otherwise: where none is mapped. Holding lock. */
uint64_t etw_session_sets_page_count(const struct etw_session_sets *sets, uint32_t place,
				     uint64_t otherwise);

#endif
