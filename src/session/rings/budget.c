/* SPDX-License-Identifier: MIT */
/* See session/rings/budget.h. Uids that have no set, and had none for a while, take no place. */
#include "session/rings/budget.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "base/macros.h"
#include "base/time.h"

#define TOTAL_PART  8 /* of the machine's memory */
#define TOTAL_LEAST (UINT64_C(64) << 20)

/* Sets that may follow at once, in units of time: taking one costs `each_ns`, and time gives it back. */
struct bucket {
	uint64_t paid_until_ns;
};

struct user {
	uid_t uid;
	uint64_t bytes;
	struct bucket bucket;
};

struct etw_budget {
	struct etw_budget_limits limits;
	pthread_mutex_t lock;
	struct user *users; /* owned */
	size_t count, room;
	uint64_t bytes;
	struct bucket bucket;
	uint64_t held_bytes; /* beside those of sets */
};

struct etw_budget_limits etw_budget_limits_of(uint64_t total)
{
	struct sysinfo info;

	if (!total && sysinfo(&info) == 0)
		total = (uint64_t)info.totalram * info.mem_unit / TOTAL_PART;
	if (total < TOTAL_LEAST)
		total = TOTAL_LEAST;
	return (struct etw_budget_limits){
		.total = total, .uid = total / 2, .session = total / 4, .set = total / 16};
}

struct etw_budget_limits etw_budget_owner_limits_of(uint64_t total)
{
	uint64_t twice = 2 * etw_budget_limits_of(total).total;

	return (struct etw_budget_limits){.total = twice,
					  .uid = twice / 2,
					  .session = twice / 2,
					  .set = twice / 8,
					  .is_unpaced = true};
}

int etw_budget_create(const struct etw_budget_limits *limits, struct etw_budget **ret)
{
	struct etw_budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return -ENOMEM;
	budget->limits = *limits;
	pthread_mutex_init(&budget->lock, NULL);
	*ret = budget;
	return 0;
}

void etw_budget_free(struct etw_budget *budget)
{
	if (!budget)
		return;
	pthread_mutex_destroy(&budget->lock);
	free(budget->users);
	free(budget);
}

const struct etw_budget_limits *etw_budget_limits(const struct etw_budget *budget)
{
	return &budget->limits;
}

static bool is_dry(const struct bucket *bucket, uint64_t now_ns, uint32_t burst, uint64_t each_ms)
{
	return bucket->paid_until_ns > now_ns + (burst - 1) * each_ms * ETW_NS_PER_MS;
}

static void pay(struct bucket *bucket, uint64_t now_ns, uint64_t each_ms)
{
	if (bucket->paid_until_ns < now_ns)
		bucket->paid_until_ns = now_ns;
	bucket->paid_until_ns += each_ms * ETW_NS_PER_MS;
}

/* Holding the lock. */
static struct user *find(const struct etw_budget *budget, uid_t uid)
{
	for (size_t i = 0; i < budget->count; i++) {
		if (budget->users[i].uid == uid)
			return &budget->users[i];
	}
	return NULL;
}

/* Holding the lock. */
static void sweep(struct etw_budget *budget, uint64_t now_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < budget->count; i++) {
		const struct user *user = &budget->users[i];

		if (user->bytes || user->bucket.paid_until_ns > now_ns)
			budget->users[left++] = *user;
	}
	budget->count = left;
}

/* Holding the lock. */
static int find_or_add(struct etw_budget *budget, uid_t uid, uint64_t now_ns, struct user **ret)
{
	*ret = find(budget, uid);
	if (*ret)
		return 0;
	if (budget->count == budget->room)
		sweep(budget, now_ns);
	if (budget->count == budget->room) {
		size_t room = budget->room ? budget->room * 2 : 16;
		struct user *users = reallocarray(budget->users, room, sizeof(*users));

		if (!users)
			return -ENOMEM;
		budget->users = users;
		budget->room = room;
	}
	*ret = &budget->users[budget->count++];
	**ret = (struct user){.uid = uid};
	return 0;
}

/* Holding the lock. */
static int look(const struct etw_budget *budget, uid_t uid, uint64_t bytes, uint64_t now_ns)
{
	const struct user *user = find(budget, uid);
	uint64_t has = user ? user->bytes : 0;

	if (bytes > budget->limits.uid || has > budget->limits.uid - bytes)
		return -EDQUOT;
	if (bytes > budget->limits.total || budget->bytes > budget->limits.total - bytes)
		return -EUSERS;
	if (budget->limits.is_unpaced)
		return 0;
	if ((user && is_dry(&user->bucket, now_ns, ETW_BUDGET_UID_BURST, ETW_BUDGET_UID_MS)) ||
	    is_dry(&budget->bucket, now_ns, ETW_BUDGET_TOTAL_BURST, ETW_BUDGET_TOTAL_MS))
		return -EAGAIN;
	return 0;
}

int etw_budget_look(struct etw_budget *budget, uid_t uid, uint64_t bytes, uint64_t now_ns)
{
	int result;

	pthread_mutex_lock(&budget->lock);
	result = look(budget, uid, bytes, now_ns);
	pthread_mutex_unlock(&budget->lock);
	return result;
}

/* Holding the lock. */
static int take(struct etw_budget *budget, uid_t uid, uint64_t bytes, uint64_t now_ns)
{
	struct user *user;

	TRY(look(budget, uid, bytes, now_ns));
	TRY(find_or_add(budget, uid, now_ns, &user));
	user->bytes += bytes;
	budget->bytes += bytes;
	if (budget->limits.is_unpaced)
		return 0;
	pay(&user->bucket, now_ns, ETW_BUDGET_UID_MS);
	pay(&budget->bucket, now_ns, ETW_BUDGET_TOTAL_MS);
	return 0;
}

int etw_budget_take(struct etw_budget *budget, uid_t uid, uint64_t bytes, uint64_t now_ns)
{
	int result;

	pthread_mutex_lock(&budget->lock);
	result = take(budget, uid, bytes, now_ns);
	pthread_mutex_unlock(&budget->lock);
	return result;
}

int etw_budget_adopt(struct etw_budget *budget, uid_t uid, uint64_t bytes)
{
	struct user *user;
	int result;

	pthread_mutex_lock(&budget->lock);
	result = find_or_add(budget, uid, etw_monotonic_ns(), &user);
	if (result == 0) {
		user->bytes += bytes;
		budget->bytes += bytes;
	}
	pthread_mutex_unlock(&budget->lock);
	return result;
}

void etw_budget_give(struct etw_budget *budget, uid_t uid, uint64_t bytes)
{
	struct user *user;

	pthread_mutex_lock(&budget->lock);
	user = find(budget, uid);
	if (user) {
		user->bytes -= bytes;
		budget->bytes -= bytes;
	}
	pthread_mutex_unlock(&budget->lock);
}

int etw_budget_hold(struct etw_budget *budget, uint64_t bytes)
{
	int r = -ENOMEM;

	pthread_mutex_lock(&budget->lock);
	if (bytes <= budget->limits.uid && budget->held_bytes <= budget->limits.uid - bytes) {
		budget->held_bytes += bytes;
		r = 0;
	}
	pthread_mutex_unlock(&budget->lock);
	return r;
}

void etw_budget_let_go(struct etw_budget *budget, uint64_t bytes)
{
	pthread_mutex_lock(&budget->lock);
	budget->held_bytes -= bytes;
	pthread_mutex_unlock(&budget->lock);
}
