/* SPDX-License-Identifier: MIT */
/* See grants.h. */
#include "daemon/grants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"

void etwd_grants_init(struct etwd_grants *grants, struct etwd_budget *budget)
{
	memset(grants, 0, sizeof(*grants));
	grants->budget = budget;
	pthread_mutex_init(&grants->lock, NULL);
}

void etwd_grants_done(struct etwd_grants *grants)
{
	for (size_t i = 0; i < ETWD_GRANTS_BUCKETS; i++) {
		while (grants->buckets[i]) {
			struct etwd_grant_node *node = grants->buckets[i];

			grants->buckets[i] = node->next;
			free(node);
		}
	}
	grants->count = 0;
	pthread_mutex_destroy(&grants->lock);
}

static size_t bucket_of(const struct etwd_grant *grant)
{
	uint64_t hash = etw_guid_hash(&grant->provider);

	hash = etw_hash_mix(hash, (uint64_t)grant->session_id << 32 | grant->uid);
	return hash % ETWD_GRANTS_BUCKETS;
}

static bool is_there_locked(const struct etwd_grants *grants, size_t bucket,
			    const struct etwd_grant *grant)
{
	for (const struct etwd_grant_node *at = grants->buckets[bucket]; at; at = at->next) {
		if (at->grant.session_id == grant->session_id && at->grant.uid == grant->uid &&
		    etw_guid_equal(&at->grant.provider, &grant->provider))
			return true;
	}
	return false;
}

static int add_locked(struct etwd_grants *grants, const struct etwd_grant *grant)
{
	size_t bucket = bucket_of(grant);
	struct etwd_grant_node *node;
	int r;

	if (is_there_locked(grants, bucket, grant))
		return 0;
	if (grants->count >= ETWD_GRANTS_MAX)
		return -ENOSPC;
	r = etwd_budget_take(grants->budget, grant->uid, ETWD_GRANTS, 1);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOSPC;
	node = malloc(sizeof(*node));
	if (!node) {
		etwd_budget_give(grants->budget, grant->uid, ETWD_GRANTS, 1);
		return -ENOMEM;
	}
	node->grant = *grant;
	node->next = grants->buckets[bucket];
	grants->buckets[bucket] = node;
	grants->count++;
	return 1;
}

int etwd_grants_add(struct etwd_grants *grants, const struct etwd_grant *grant)
{
	int r;

	pthread_mutex_lock(&grants->lock);
	r = add_locked(grants, grant);
	pthread_mutex_unlock(&grants->lock);
	return r;
}

bool etwd_grants_has(struct etwd_grants *grants, const struct etwd_grant *grant)
{
	bool is_given;

	pthread_mutex_lock(&grants->lock);
	is_given = is_there_locked(grants, bucket_of(grant), grant);
	pthread_mutex_unlock(&grants->lock);
	return is_given;
}

void etwd_grants_end_session(struct etwd_grants *grants, uint32_t session_id)
{
	pthread_mutex_lock(&grants->lock);
	for (size_t i = 0; i < ETWD_GRANTS_BUCKETS; i++) {
		struct etwd_grant_node **at = &grants->buckets[i];

		while (*at) {
			struct etwd_grant_node *node = *at;

			if (node->grant.session_id != session_id) {
				at = &node->next;
				continue;
			}
			*at = node->next;
			etwd_budget_give(grants->budget, node->grant.uid, ETWD_GRANTS, 1);
			free(node);
			grants->count--;
		}
	}
	pthread_mutex_unlock(&grants->lock);
}

int etwd_grants_each(struct etwd_grants *grants,
		     int (*visit)(void *context, const struct etwd_grant *grant), void *context)
{
	int r = 0;

	pthread_mutex_lock(&grants->lock);
	for (size_t i = 0; i < ETWD_GRANTS_BUCKETS && r >= 0; i++) {
		for (struct etwd_grant_node *at = grants->buckets[i]; at && r >= 0; at = at->next)
			r = visit(context, &at->grant);
	}
	pthread_mutex_unlock(&grants->lock);
	return r < 0 ? r : 0;
}
