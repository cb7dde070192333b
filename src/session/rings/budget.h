/* SPDX-License-Identifier: MIT */
/*
 * How much ring memory a host makes for processes of other users: bytes that are there now, by uid over all
 * sessions and for all uids together, and how fast one set may follow the other. Root and the host's own user are not
 * held to it; what the others can have together leaves the rest of the machine to them. A session's owner has a larger
 * budget of its own, for its rings and whatever else is made for it (session/rings/charge.h).
 *
 * Sets count until they are closed: then their memory is given back, also under a process that still maps them
 * (etw_ring_set_discard()). So what a process keeps of old sets is its own memory, and no part of a budget.
 *
 * Context: any thread.
 * Source: docs/design/recording.md "Ring memory".
 */
#ifndef ETW_SESSION_RINGS_BUDGET_H
#define ETW_SESSION_RINGS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes. */
struct etw_budget_limits {
	uint64_t total;   /* of all uids */
	uint64_t uid;     /* of one, over all sessions */
	uint64_t session; /* of one, in one session */
	uint64_t set;     /* of one set: it gets fewer buffers rather than more memory */
	bool is_unpaced;  /* sets may follow each other as quickly as they like */
};

/* Sets in quick succession; then one each so many ms. */
#define ETW_BUDGET_UID_BURST   32
#define ETW_BUDGET_UID_MS      4000
#define ETW_BUDGET_TOTAL_BURST 128
#define ETW_BUDGET_TOTAL_MS    250

struct etw_budget;

/* etw_budget_limits_of() - the limits that belong to a total; 0: an eighth of the machine's memory. */
struct etw_budget_limits etw_budget_limits_of(uint64_t total);

/* etw_budget_owner_limits_of() - those of sessions' owners beside it, twice as much for all of them. */
struct etw_budget_limits etw_budget_owner_limits_of(uint64_t total);

/* etw_budget_create() - returns 0 or -ENOMEM. etw_budget_free() takes NULL. */
int etw_budget_create(const struct etw_budget_limits *limits, struct etw_budget **ret);
void etw_budget_free(struct etw_budget *budget);

/* etw_budget_limits() - as it was created; borrowed. */
const struct etw_budget_limits *etw_budget_limits(const struct etw_budget *budget);

/*
 * etw_budget_look() - whether etw_budget_take() would succeed. The same results.
 *
 * etw_budget_take() - for a set that is about to be made.
 *
 * @now_ns: CLOCK_MONOTONIC
 *
 * Returns 0; -EDQUOT when the uid has its bytes; -EUSERS when all uids together have theirs; -EAGAIN when there
 * were many sets just now; -ENOMEM.
 */
int etw_budget_look(struct etw_budget *budget, uid_t uid, uint64_t bytes, uint64_t now_ns);
int etw_budget_take(struct etw_budget *budget, uid_t uid, uint64_t bytes, uint64_t now_ns);

/* etw_budget_adopt() - a set that is there already, of the last host. Returns 0 or -ENOMEM. */
int etw_budget_adopt(struct etw_budget *budget, uid_t uid, uint64_t bytes);

/*
 * etw_budget_hold() - for memory that is no ring's, for a while: buffers that a flush has still to write. All of it together
 * is `uid` of the limits at most, whoever asks.
 *
 * Returns 0 or -ENOMEM. etw_budget_let_go() gives it back.
 */
int etw_budget_hold(struct etw_budget *budget, uint64_t bytes);
void etw_budget_let_go(struct etw_budget *budget, uint64_t bytes);

/* etw_budget_give() - a set is closed. */
void etw_budget_give(struct etw_budget *budget, uid_t uid, uint64_t bytes);

#endif
