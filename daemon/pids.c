/* SPDX-License-Identifier: MIT */
/* See pids.h. */
#include "daemon/pids.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"

#define UIDS 4 /* real, effective, saved, of the file system */

static struct etwd_pid **bucket_of(struct etwd_pids *pids, uint32_t pid)
{
	return &pids->buckets[pid % ETWD_PIDS_BUCKETS];
}

void etwd_pids_init(struct etwd_pids *pids)
{
	*pids = (struct etwd_pids){0};
	pthread_mutex_init(&pids->lock, NULL);
}

void etwd_pids_done(struct etwd_pids *pids)
{
	for (size_t i = 0; i < ETWD_PIDS_BUCKETS; i++) {
		while (pids->buckets[i]) {
			struct etwd_pid *entry = pids->buckets[i];

			pids->buckets[i] = entry->next;
			free(entry);
		}
	}
	pthread_mutex_destroy(&pids->lock);
}

/* Holding the lock, as everything below that is static. */
static struct etwd_pid *find(struct etwd_pids *pids, uid_t uid, uint32_t pid)
{
	struct etwd_pid *entry = *bucket_of(pids, pid);

	while (entry && (entry->pid != pid || entry->uid != uid))
		entry = entry->next;
	return entry;
}

static struct etwd_pid *find_or_add(struct etwd_pids *pids, uid_t uid, uint32_t pid)
{
	struct etwd_pid *entry = find(pids, uid, pid);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->uid = uid;
	entry->pid = pid;
	entry->next = *bucket_of(pids, pid);
	*bucket_of(pids, pid) = entry;
	return entry;
}

static void unlink_left(struct etwd_pids *pids, struct etwd_pid *entry)
{
	*(entry->older ? &entry->older->newer : &pids->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &pids->newest) = entry->older;
	entry->older = entry->newer = NULL;
	entry->left_ns = 0;
	pids->left_count--;
}

static void forget(struct etwd_pids *pids, struct etwd_pid *entry)
{
	struct etwd_pid **at = bucket_of(pids, entry->pid);

	unlink_left(pids, entry);
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	free(entry);
}

/* The uid's own oldest when it has more than its part; else the oldest of all. */
static struct etwd_pid *choose_victim(struct etwd_pids *pids, uid_t uid)
{
	struct etwd_pid *own = NULL;
	uint32_t count = 0;

	for (struct etwd_pid *entry = pids->newest; entry; entry = entry->older) {
		if (entry->uid != uid)
			continue;
		own = entry;
		count++;
	}
	return count >= ETWD_PIDS_LEFT_MAX / 4 ? own : pids->oldest;
}

static void link_left(struct etwd_pids *pids, struct etwd_pid *entry, uint64_t now_ns)
{
	while (pids->oldest && now_ns - pids->oldest->left_ns > ETWD_PIDS_LEFT_NS)
		forget(pids, pids->oldest);
	if (pids->left_count >= ETWD_PIDS_LEFT_MAX)
		forget(pids, choose_victim(pids, entry->uid));
	entry->left_ns = now_ns;
	entry->older = pids->newest;
	*(pids->newest ? &pids->newest->newer : &pids->oldest) = entry;
	pids->newest = entry;
	pids->left_count++;
}

void etwd_pids_came(struct etwd_pids *pids, uid_t uid, uint32_t pid)
{
	struct etwd_pid *entry;

	pthread_mutex_lock(&pids->lock);
	entry = find_or_add(pids, uid, pid);
	if (entry && entry->left_ns)
		unlink_left(pids, entry);
	if (entry)
		entry->connections++;
	pthread_mutex_unlock(&pids->lock);
}

void etwd_pids_went(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns)
{
	struct etwd_pid *entry;

	pthread_mutex_lock(&pids->lock);
	entry = find(pids, uid, pid);
	if (entry && entry->connections > 0 && --entry->connections == 0)
		link_left(pids, entry, now_ns);
	pthread_mutex_unlock(&pids->lock);
}

void etwd_pids_seen(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns)
{
	struct etwd_pid *entry;

	pthread_mutex_lock(&pids->lock);
	entry = find_or_add(pids, uid, pid);
	if (entry && entry->connections == 0) {
		if (entry->left_ns)
			unlink_left(pids, entry);
		link_left(pids, entry, now_ns);
	}
	pthread_mutex_unlock(&pids->lock);
}

enum etwd_pid_answer etwd_pids_ask(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
				   uint64_t *ret_left_ns)
{
	enum etwd_pid_answer answer = ETWD_PID_UNKNOWN;

	pthread_mutex_lock(&pids->lock);
	for (struct etwd_pid *entry = *bucket_of(pids, pid); entry; entry = entry->next) {
		if (entry->pid != pid)
			continue;
		if (entry->uid != uid) {
			if (entry->connections > 0 && answer == ETWD_PID_UNKNOWN)
				answer = ETWD_PID_ANOTHER;
		} else if (entry->connections > 0) {
			answer = ETWD_PID_HERE;
			break;
		} else if (now_ns - entry->left_ns <= ETWD_PIDS_LEFT_NS) {
			*ret_left_ns = entry->left_ns;
			answer = ETWD_PID_LEFT;
			break;
		}
	}
	pthread_mutex_unlock(&pids->lock);
	return answer;
}

/* How many uids procfs tells. 0: the process is gone. */
static unsigned read_uids(uint32_t pid, unsigned ret[UIDS])
{
	char path[64], line[256];
	unsigned count = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/status", (unsigned)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!count && fgets(line, sizeof(line), file)) {
		int r = sscanf(line, "Uid: %u %u %u %u", &ret[0], &ret[1], &ret[2], &ret[3]);

		count = r > 0 ? (unsigned)r : 0;
	}
	fclose(file);
	return count;
}

static bool has_uid(const unsigned *uids, unsigned count, uid_t uid)
{
	for (unsigned i = 0; i < count; i++) {
		if (uids[i] == uid)
			return true;
	}
	return false;
}

bool etwd_pids_may_be(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
		      uint64_t *ret_until_ns)
{
	unsigned uids[UIDS], count;
	uint64_t left_ns = 0;
	enum etwd_pid_answer answer = etwd_pids_ask(pids, uid, pid, now_ns, &left_ns);

	/* A daemon may have given up the uid with which it connected. */
	if (answer == ETWD_PID_HERE)
		return true;
	if (answer == ETWD_PID_ANOTHER)
		return false;
	if (answer == ETWD_PID_LEFT && now_ns - left_ns <= ETWD_PIDS_SLACK_NS)
		return true;
	count = read_uids(pid, uids);
	if (has_uid(uids, count, uid)) {
		etwd_pids_seen(pids, uid, pid, now_ns);
		return true;
	}
	if (answer == ETWD_PID_LEFT) {
		*ret_until_ns = left_ns + ETWD_PIDS_SLACK_NS;
		return true;
	}
	return count == 0;
}
