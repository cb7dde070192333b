/* SPDX-License-Identifier: MIT */
/* See budget.h. */
#include "daemon/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/sysinfo.h>

#include "base/table.h"

#define QUEUED_BYTES_ALL    (UINT64_C(256) << 20)
#define QUEUED_BYTES_OTHERS (UINT64_C(64) << 20)
#define QUEUED_BYTES_EACH   (UINT64_C(16) << 20)

#define IMAGES_ALL    (UINT64_C(256) << 20)
#define IMAGES_OTHERS (UINT64_C(64) << 20)
#define IMAGES_EACH   (UINT64_C(16) << 20)

/* Of the machine's memory, for what consumers that are not trusted ask for. */
#define DELIVERY_PART  8
#define DELIVERY_LEAST (UINT64_C(512) << 20)

static struct etwd_limit delivery_limit(void)
{
	struct sysinfo info;
	uint64_t others = DELIVERY_LEAST;

	if (sysinfo(&info) == 0)
		others = MAX(others, (uint64_t)info.totalram * info.mem_unit / DELIVERY_PART);
	return (struct etwd_limit){UINT64_MAX, others, others / 2};
}

static struct etwd_limit share(uint64_t all, unsigned others_parts, unsigned each_parts)
{
	return (struct etwd_limit){all, all - all / others_parts, all / each_parts};
}

void etwd_budget_init(struct etwd_budget *budget, uid_t owner, uint64_t files)
{
	struct etwd_limit *limits = budget->limits;

	memset(budget, 0, sizeof(*budget));
	budget->owner = owner;
	budget->round = 1;
	limits[ETWD_CONNECTIONS] = share(MIN(files / 2, ETWD_PEERS_MAX), 4, 4);
	/* A registration costs up to ETWD_REGISTRATION_BYTES, and one message when its provider is enabled. */
	limits[ETWD_REGISTRATIONS] = (struct etwd_limit){
		ETWD_REGISTRATIONS_MAX, ETWD_REGISTRATIONS_MAX / 4, ETWD_REGISTRATIONS_MAX / 16};
	limits[ETWD_GRANTS] = share(ETWD_GRANTS_MAX, 4, 8);
	limits[ETWD_SESSIONS] = share(ETWD_SESSIONS_DEFAULT, 4, 2);
	limits[ETWD_ENABLES] = share(ETWD_ENABLES_MAX, 4, 2);
	limits[ETWD_FILTER_BYTES] = share(ETWD_FILTER_BYTES_MAX, 4, 2);
	limits[ETWD_DELIVERY_BYTES] = delivery_limit();
	limits[ETWD_QUEUED_BYTES] = (struct etwd_limit){QUEUED_BYTES_ALL, QUEUED_BYTES_OTHERS,
							QUEUED_BYTES_EACH};
	limits[ETWD_IMAGES] = (struct etwd_limit){IMAGES_ALL, IMAGES_OTHERS, IMAGES_EACH};
	limits[ETWD_QUEUED_FDS] = (struct etwd_limit){files / 4, files / 8, files / 32 + 1};
}

void etwd_budget_set_sessions(struct etwd_budget *budget, uint32_t sessions)
{
	budget->limits[ETWD_SESSIONS] = share(sessions, 4, 2);
}

static struct etwd_account **bucket_of(const struct etwd_budget *budget, uid_t uid)
{
	size_t at = etw_hash_mix(etw_hash_seed(), uid) % ETWD_BUDGET_BUCKETS;

	return (struct etwd_account **)(uintptr_t)&budget->buckets[at];
}

static struct etwd_account *find(const struct etwd_budget *budget, uid_t uid)
{
	struct etwd_account *account = *bucket_of(budget, uid);

	while (account && account->uid != uid)
		account = account->next;
	return account;
}

static bool is_idle(const struct etwd_account *account)
{
	for (unsigned i = 0; i < ETWD_RESOURCES; i++) {
		if (account->used[i])
			return false;
	}
	return true;
}

static void drop_if_idle(struct etwd_budget *budget, struct etwd_account *account)
{
	struct etwd_account **at = bucket_of(budget, account->uid);

	if (!is_idle(account))
		return;
	while (*at != account)
		at = &(*at)->next;
	*at = account->next;
	budget->account_count--;
	free(account);
}

static struct etwd_account *find_or_add(struct etwd_budget *budget, uid_t uid)
{
	struct etwd_account *account = find(budget, uid);
	struct etwd_account **bucket = bucket_of(budget, uid);

	if (account)
		return account;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	account->uid = uid;
	account->next = *bucket;
	*bucket = account;
	budget->account_count++;
	return account;
}

void etwd_budget_done(struct etwd_budget *budget)
{
	for (size_t i = 0; i < ETWD_BUDGET_BUCKETS; i++) {
		while (budget->buckets[i]) {
			struct etwd_account *account = budget->buckets[i];

			budget->buckets[i] = account->next;
			free(account);
		}
	}
	budget->account_count = 0;
}

bool etwd_budget_trusts(const struct etwd_budget *budget, uid_t uid)
{
	return uid == 0 || uid == budget->owner;
}

static bool has_room(uint64_t used, uint64_t amount, uint64_t limit)
{
	return used <= limit && amount <= limit - used;
}

int etwd_budget_take(struct etwd_budget *budget, uid_t uid, enum etwd_resource resource,
		     uint64_t amount)
{
	const struct etwd_limit *limit;
	struct etwd_account *account;
	bool is_trusted;

	if (!budget)
		return 0;
	limit = &budget->limits[resource];
	is_trusted = etwd_budget_trusts(budget, uid);
	account = find(budget, uid);
	if (!is_trusted && !has_room(account ? account->used[resource] : 0, amount, limit->each))
		return -ETOOMANYREFS;
	if ((!is_trusted && !has_room(budget->used_by_others[resource], amount, limit->others)) ||
	    !has_room(budget->used[resource], amount, limit->all))
		return -EUSERS;
	if (!account && amount)
		account = find_or_add(budget, uid);
	if (!account)
		return amount ? -ENOMEM : 0;
	account->used[resource] += amount;
	budget->used[resource] += amount;
	if (!is_trusted)
		budget->used_by_others[resource] += amount;
	return 0;
}

void etwd_budget_give(struct etwd_budget *budget, uid_t uid, enum etwd_resource resource,
		      uint64_t amount)
{
	struct etwd_account *account = budget ? find(budget, uid) : NULL;

	if (!account)
		return;
	account->used[resource] -= amount;
	budget->used[resource] -= amount;
	if (!etwd_budget_trusts(budget, uid))
		budget->used_by_others[resource] -= amount;
	drop_if_idle(budget, account);
}

uint64_t etwd_budget_used(const struct etwd_budget *budget, uid_t uid, enum etwd_resource resource)
{
	const struct etwd_account *account = find(budget, uid);

	return account ? account->used[resource] : 0;
}

void etwd_budget_next_round(struct etwd_budget *budget)
{
	budget->round++;
	budget->turn = 0;
}

bool etwd_budget_has_turns(const struct etwd_budget *budget, uint64_t now_ns)
{
	return !budget->turn ||
	       (budget->turn < ETWD_TURN_OTHERS_MAX && now_ns < budget->turn_end_ns);
}

bool etwd_budget_take_turn(struct etwd_budget *budget, uid_t uid, uint64_t now_ns)
{
	struct etwd_account *account;

	if (etwd_budget_trusts(budget, uid))
		return true;
	account = find(budget, uid);
	if (!account || !etwd_budget_has_turns(budget, now_ns))
		return false;
	if (!budget->turn)
		budget->turn_end_ns = now_ns + ETWD_TURN_NS;
	if (account->round != budget->round) {
		account->round = budget->round;
		account->turn = 0;
	}
	if (account->turn >= ETWD_TURN_UID_MAX)
		return false;
	account->turn++;
	budget->turn++;
	return true;
}

bool etwd_budget_may_tell(struct etwd_budget *budget, uid_t uid, uint64_t now_ms)
{
	struct etwd_account *account = find(budget, uid);

	if (etwd_budget_trusts(budget, uid))
		return true;
	if (account && now_ms < account->tell_again_ms)
		return false;
	if (now_ms >= budget->tell_again_ms) {
		budget->tell_again_ms = now_ms + ETWD_TELL_MS;
		budget->told = 0;
	}
	if (budget->told >= ETWD_TELL_LINES_MAX)
		return false;
	budget->told++;
	if (account)
		account->tell_again_ms = now_ms + ETWD_TELL_MS;
	return true;
}
