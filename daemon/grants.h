/* SPDX-License-Identifier: MIT */
/*
 * Which uid may write which provider's events to which session: those whose process was told so. A grant
 * stays until the session ends, because events may still lie in a ring when their process is gone.
 *
 * Context: the sessions' threads ask; the loop changes.
 */
#ifndef ETW_DAEMON_GRANTS_H
#define ETW_DAEMON_GRANTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <guiddef.h>

#include "daemon/budget.h"

#define ETWD_GRANTS_BUCKETS 1024

struct etwd_grant {
	uint32_t session_id;
	uint32_t uid;
	GUID provider;
};

/*
 * In the place of a provider: the uid may write classic events and messages to the session. What a classic provider
 * writes names its classes, of which it has as many as it likes, and not the provider.
 */
#define ETWD_GRANT_CLASSIC                                             \
	{                                                              \
		0x5d1c3b0e, 0x7a52, 0x4c5e,                            \
		{                                                      \
			0x8f, 0x13, 0x2b, 0x90, 0xc4, 0x6a, 0x1e, 0x77 \
		}                                                      \
	}

struct etwd_grant_node {
	struct etwd_grant_node *next;
	struct etwd_grant grant;
};

struct etwd_grants {
	pthread_mutex_t lock;
	size_t count;
	struct etwd_budget *budget; /* borrowed; NULL: none */
	struct etwd_grant_node *buckets[ETWD_GRANTS_BUCKETS];
};

/* etwd_grants_init() - none. @budget: borrowed, used by the loop alone; NULL: none */
void etwd_grants_init(struct etwd_grants *grants, struct etwd_budget *budget);

/* etwd_grants_done() - frees all. */
void etwd_grants_done(struct etwd_grants *grants);

/* etwd_grants_add() - returns 1 when it is new, 0 when it was there; -ENOSPC: too many of the uid or of all; -ENOMEM. */
int etwd_grants_add(struct etwd_grants *grants, const struct etwd_grant *grant);

/* etwd_grants_has() - whether it was given. */
bool etwd_grants_has(struct etwd_grants *grants, const struct etwd_grant *grant);

/* etwd_grants_end_session() - takes back what was given for a session. */
void etwd_grants_end_session(struct etwd_grants *grants, uint32_t session_id);

/*
 * etwd_grants_each() - calls @visit for every grant, holding the lock.
 *
 * Returns 0, or what @visit returned when that is negative.
 */
int etwd_grants_each(struct etwd_grants *grants,
		     int (*visit)(void *context, const struct etwd_grant *grant), void *context);

#endif
