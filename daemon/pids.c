/* SPDX-License-Identifier: MIT */
/* See pids.h. */
#include "daemon/pids.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"

#define SNAPSHOT_NAME "pids"

#define UIDS 4 /* real, effective, saved, of the file system */

static struct etwd_pid **bucket_of(struct etwd_pids *pids, uint32_t pid)
{
	return &pids->buckets[pid % ETWD_PIDS_BUCKETS];
}

/* What the snapshot is told: in order of time, the last word on a process holds. */
struct pid_word {
	uint32_t uid, pid;
	uint64_t ns; /* CLOCK_BOOTTIME when it came, CLOCK_MONOTONIC when it left */
	uint32_t has_left;
	uint32_t reserved_zero;
};
static_assert(sizeof(struct pid_word) == ETWD_SNAPSHOT_ENTRY_BYTES, "layout");

static struct pid_word word_of(const struct etwd_pid *entry)
{
	return (struct pid_word){
		.uid = entry->uid,
		.pid = entry->pid,
		.ns = entry->connections ? entry->came_boot_ns : entry->left_ns,
		.has_left = !entry->connections,
	};
}

static size_t count_locked(const struct etwd_pids *pids)
{
	size_t count = 0;

	for (size_t i = 0; i < ETWD_PIDS_BUCKETS; i++) {
		for (const struct etwd_pid *entry = pids->buckets[i]; entry; entry = entry->next)
			count++;
	}
	return count;
}

/* One word for each process: first those that have left, in order. */
static int write_all_locked(struct etwd_pids *pids)
{
	size_t room = count_locked(pids), count = 0;
	CLEANUP(freep) struct pid_word *words = calloc(room + 1, sizeof(*words));

	if (!words)
		return -ENOMEM;
	for (const struct etwd_pid *entry = pids->oldest; entry; entry = entry->newer)
		words[count++] = word_of(entry);
	for (size_t i = 0; i < ETWD_PIDS_BUCKETS; i++) {
		for (const struct etwd_pid *entry = pids->buckets[i]; entry; entry = entry->next) {
			if (entry->connections)
				words[count++] = word_of(entry);
		}
	}
	return etwd_snapshot_replace(&pids->snapshot, words, count);
}

/*
 * The next host is told of a change. When there is no more room, or the last change could not be written, all is
 * written anew, without what is past.
 */
static void write_locked(struct etwd_pids *pids, struct etwd_pid *entry)
{
	const struct pid_word word = word_of(entry);
	int r = -ENOSPC;

	if (!pids->snapshot.at)
		return;
	entry->written_ns = word.has_left ? word.ns : 0;
	if (!pids->is_snapshot_stale)
		r = etwd_snapshot_append(&pids->snapshot, &word);
	if (r == -ENOSPC)
		r = write_all_locked(pids);
	if (r < 0 && !pids->is_snapshot_stale)
		etwd_log("a next host would not know whose processes these are: %s", strerror(-r));
	pids->is_snapshot_stale = r < 0;
}

void etwd_pids_init(struct etwd_pids *pids)
{
	*pids = (struct etwd_pids){.snapshot = {NULL, -1}};
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
	etwd_snapshot_done(&pids->snapshot);
	pthread_mutex_destroy(&pids->lock);
}

static struct etwd_pid *find_locked(struct etwd_pids *pids, uid_t uid, uint32_t pid)
{
	struct etwd_pid *entry = *bucket_of(pids, pid);

	while (entry && (entry->pid != pid || entry->uid != uid))
		entry = entry->next;
	return entry;
}

static struct etwd_pid *find_or_add_locked(struct etwd_pids *pids, uid_t uid, uint32_t pid)
{
	struct etwd_pid *entry = find_locked(pids, uid, pid);

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

static void unlink_left_locked(struct etwd_pids *pids, struct etwd_pid *entry)
{
	*(entry->older ? &entry->older->newer : &pids->oldest) = entry->newer;
	*(entry->newer ? &entry->newer->older : &pids->newest) = entry->older;
	entry->older = entry->newer = NULL;
	entry->left_ns = 0;
	pids->left_count--;
}

static void forget_locked(struct etwd_pids *pids, struct etwd_pid *entry)
{
	struct etwd_pid **at = bucket_of(pids, entry->pid);

	unlink_left_locked(pids, entry);
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	free(entry);
}

/*
 * The uid's own oldest when it has more than its part; else the oldest of all but root's, which many uids together must
 * not make forgotten: then they could sign as root's processes. When all are root's, the oldest of those.
 */
static struct etwd_pid *choose_victim_locked(struct etwd_pids *pids, uid_t uid)
{
	struct etwd_pid *own = NULL, *oldest = NULL;
	uint32_t count = 0;

	for (struct etwd_pid *entry = pids->newest; entry; entry = entry->older) {
		if (entry->uid != 0)
			oldest = entry;
		if (entry->uid != uid)
			continue;
		own = entry;
		count++;
	}
	if (count >= ETWD_PIDS_LEFT_MAX / 4)
		return own;
	return oldest ? oldest : pids->oldest;
}

/* @now_ns may have been read before another thread let the process go. */
static bool is_forgotten(const struct etwd_pid *entry, uint64_t now_ns)
{
	return now_ns > entry->left_ns && now_ns - entry->left_ns > ETWD_PIDS_LEFT_NS;
}

static void link_left_locked(struct etwd_pids *pids, struct etwd_pid *entry, uint64_t now_ns)
{
	while (pids->oldest && is_forgotten(pids->oldest, now_ns))
		forget_locked(pids, pids->oldest);
	if (pids->left_count >= ETWD_PIDS_LEFT_MAX)
		forget_locked(pids, choose_victim_locked(pids, entry->uid));
	entry->left_ns = now_ns;
	entry->older = pids->newest;
	*(pids->newest ? &pids->newest->newer : &pids->oldest) = entry;
	pids->newest = entry;
	pids->left_count++;
}

void etwd_pids_came(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t boot_ns)
{
	struct etwd_pid *entry;

	pthread_mutex_lock(&pids->lock);
	entry = find_or_add_locked(pids, uid, pid);
	if (entry && entry->left_ns)
		unlink_left_locked(pids, entry);
	if (entry) {
		entry->came_boot_ns = boot_ns;
		if (entry->connections == 0)
			entry->is_described = false; /* another one may have the number now */
		if (entry->connections++ == 0)
			write_locked(pids, entry);
	}
	pthread_mutex_unlock(&pids->lock);
}

void etwd_pids_went(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns)
{
	struct etwd_pid *entry;

	pthread_mutex_lock(&pids->lock);
	entry = find_locked(pids, uid, pid);
	if (entry && entry->connections > 0 && --entry->connections == 0) {
		link_left_locked(pids, entry, now_ns);
		write_locked(pids, entry);
	}
	pthread_mutex_unlock(&pids->lock);
}

void etwd_pids_seen(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns)
{
	struct etwd_pid *entry;

	pthread_mutex_lock(&pids->lock);
	entry = find_or_add_locked(pids, uid, pid);
	if (entry && entry->connections == 0) {
		if (entry->left_ns)
			unlink_left_locked(pids, entry);
		link_left_locked(pids, entry, now_ns);
		if (!entry->written_ns || now_ns - entry->written_ns > ETWD_PIDS_WRITE_NS)
			write_locked(pids, entry);
	}
	pthread_mutex_unlock(&pids->lock);
}

/* One that was connected has its number for the last host's word; when it left, nobody saw. */
static void recall_word_locked(struct etwd_pids *pids, const struct pid_word *word)
{
	struct etwd_pid *entry = find_or_add_locked(pids, word->uid, word->pid);

	if (!entry)
		return;
	if (entry->left_ns)
		unlink_left_locked(pids, entry);
	entry->connections = !word->has_left;
	entry->came_boot_ns = word->has_left ? 0 : word->ns;
	if (word->has_left)
		link_left_locked(pids, entry, word->ns);
}

static void recall_locked(struct etwd_pids *pids, uint64_t now_ns)
{
	const uint8_t *entries;
	size_t count = etwd_snapshot_entries(&pids->snapshot, &entries);

	for (size_t i = 0; i < count; i++) {
		struct pid_word word;

		memcpy(&word, entries + i * sizeof(word), sizeof(word));
		recall_word_locked(pids, &word);
	}
	for (size_t i = 0; i < ETWD_PIDS_BUCKETS; i++) {
		struct etwd_pid *entry = pids->buckets[i], *next;

		/* Making room for one may free one that has left, never one that has not. */
		for (; entry; entry = next) {
			next = entry->next;
			while (next && !next->connections)
				next = next->next;
			if (!entry->connections)
				continue;
			entry->connections = 0;
			link_left_locked(pids, entry, now_ns);
		}
	}
}

int etwd_pids_open(struct etwd_pids *pids, struct etwd_keeper_store *store, uint64_t now_ns)
{
	int fd = etwd_keeper_take(store, SNAPSHOT_NAME);
	int r = fd < 0 ? fd : etwd_snapshot_adopt(fd, &pids->snapshot);

	if (r == 0) {
		pthread_mutex_lock(&pids->lock);
		recall_locked(pids, now_ns);
		r = write_all_locked(pids);
		pthread_mutex_unlock(&pids->lock);
		return r;
	}
	if (fd >= 0)
		etwd_log("whose the last host's processes were is lost: %s", strerror(-r));
	TRY(etwd_snapshot_create(&pids->snapshot));
	r = etwd_keeper_keep(store, SNAPSHOT_NAME, pids->snapshot.fd);
	return r == -EPIPE || r == -EINPROGRESS ? 0 : r;
}

/* What is known of the uid's own process; ETWD_PID_UNKNOWN: nothing. */
static enum etwd_pid_answer ask_own_locked(struct etwd_pids *pids, uid_t uid, uint32_t pid,
					   uint64_t now_ns, uint64_t *ret_ns)
{
	const struct etwd_pid *entry = find_locked(pids, uid, pid);

	if (entry && entry->connections > 0) {
		*ret_ns = entry->came_boot_ns;
		return ETWD_PID_HERE;
	}
	if (entry && !is_forgotten(entry, now_ns)) {
		*ret_ns = entry->left_ns;
		return ETWD_PID_LEFT;
	}
	return ETWD_PID_UNKNOWN;
}

/* The same of other uids' processes: of all that are here, else of all that left, the last one. */
static enum etwd_pid_answer ask_others_locked(struct etwd_pids *pids, uid_t uid, uint32_t pid,
					      uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t came_boot_ns = 0, left_ns = 0;
	bool is_here = false, has_left = false;

	for (struct etwd_pid *entry = *bucket_of(pids, pid); entry; entry = entry->next) {
		if (entry->pid != pid || entry->uid == uid)
			continue;
		if (entry->connections > 0) {
			is_here = true;
			came_boot_ns = MAX(came_boot_ns, entry->came_boot_ns);
		} else if (!is_forgotten(entry, now_ns)) {
			has_left = true;
			left_ns = MAX(left_ns, entry->left_ns);
		}
	}
	*ret_ns = is_here ? came_boot_ns : left_ns;
	if (is_here)
		return ETWD_PID_ANOTHER;
	return has_left ? ETWD_PID_WAS_ANOTHERS : ETWD_PID_UNKNOWN;
}

enum etwd_pid_answer etwd_pids_ask(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
				   uint64_t *ret_ns)
{
	enum etwd_pid_answer answer;

	pthread_mutex_lock(&pids->lock);
	answer = ask_own_locked(pids, uid, pid, now_ns, ret_ns);
	if (answer == ETWD_PID_UNKNOWN)
		answer = ask_others_locked(pids, uid, pid, now_ns, ret_ns);
	pthread_mutex_unlock(&pids->lock);
	return answer;
}

/*
 * How many uids procfs tells. 0: the process is gone. -1: it cannot be looked at, as when all descriptors are in use;
 * that is no reason to believe anything.
 */
static int read_uids(uint32_t pid, unsigned ret[UIDS])
{
	char path[64], line[256];
	bool is_read = false;
	int count = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/status", (unsigned)pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	while (count <= 0 && fgets(line, sizeof(line), file)) {
		is_read = true;
		count = sscanf(line, "Uid: %u %u %u %u", &ret[0], &ret[1], &ret[2], &ret[3]);
	}
	/* The file of a process that ended after it was opened cannot be read, or is empty. */
	if (!is_read && (!ferror(file) || errno == ESRCH))
		count = 0;
	else if (count <= 0)
		count = -1;
	fclose(file);
	return count;
}

enum look {
	LOOK_NONE,
	LOOK_ITS,
	LOOK_NOT_ITS
};

/* Whose process has this number now; one that cannot be looked at is not the uid's. */
static enum look look_at_process(uid_t uid, uint32_t pid)
{
	unsigned uids[UIDS];
	int count = read_uids(pid, uids);

	for (int i = 0; i < count; i++) {
		if (uids[i] == uid)
			return LOOK_ITS;
	}
	return count == 0 ? LOOK_NONE : LOOK_NOT_ITS;
}

/*
 * The start of a process that has the number of one that connected at @came_boot_ns and is not that one; 0: it is, or
 * there is none. Of one that has just connected procfs is not asked.
 */
static uint64_t find_successor(uint32_t pid, uint64_t came_boot_ns)
{
	uint64_t start_ns;

	if (etw_time_read_ns(CLOCK_BOOTTIME) - came_boot_ns <= ETWD_PIDS_SLACK_NS)
		return 0;
	start_ns = etw_process_start_boot_ns(pid);
	return start_ns > came_boot_ns ? start_ns : 0;
}

/* CLOCK_BOOTTIME as CLOCK_MONOTONIC, which reads @now_ns. */
static uint64_t monotonic_of(uint64_t boot_ns, uint64_t now_ns)
{
	uint64_t age_ns = etw_time_read_ns(CLOCK_BOOTTIME) - boot_ns;

	return age_ns < now_ns ? now_ns - age_ns : 0;
}

/*
 * The number was another uid's until @until_ns. Of a process that has ended nothing says how long it went on when it had
 * closed its connection.
 */
static bool may_be_after(uid_t uid, uint32_t pid, uint64_t until_ns,
			 struct etw_session_pid_span *ret_span)
{
	enum look look = look_at_process(uid, pid);

	if (look == LOOK_NOT_ITS)
		return false;
	ret_span->since_ns = until_ns + (look == LOOK_NONE ? ETWD_PIDS_SLACK_NS : 0);
	return true;
}

/* The uid itself had the number until @until_ns, and may have it yet. */
static void limit_to(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t until_ns,
		     uint64_t now_ns, struct etw_session_pid_span *ret_span)
{
	if (look_at_process(uid, pid) == LOOK_ITS)
		etwd_pids_seen(pids, uid, pid, now_ns);
	else
		ret_span->until_ns = until_ns;
}

static bool may_be_unknown(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns)
{
	enum look look = look_at_process(uid, pid);

	if (look == LOOK_ITS)
		etwd_pids_seen(pids, uid, pid, now_ns);
	return look != LOOK_NOT_ITS;
}

bool etwd_pids_may_be(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
		      struct etw_session_pid_span *ret_span)
{
	uint64_t since_ns = 0, start_ns = 0;
	enum etwd_pid_answer answer = etwd_pids_ask(pids, uid, pid, now_ns, &since_ns);

	if (answer == ETWD_PID_HERE || answer == ETWD_PID_ANOTHER)
		start_ns = find_successor(pid, since_ns);
	switch (answer) {
	case ETWD_PID_HERE:
		/*
		 * A daemon may have given up the uid with which it connected. One that ended wrote what is older
		 * than the process that has its number now.
		 */
		if (start_ns && look_at_process(uid, pid) != LOOK_ITS)
			ret_span->until_ns = monotonic_of(start_ns, now_ns);
		return true;
	case ETWD_PID_LEFT:
		if (now_ns > since_ns + ETWD_PIDS_SLACK_NS)
			limit_to(pids, uid, pid, since_ns + ETWD_PIDS_SLACK_NS, now_ns, ret_span);
		return true;
	case ETWD_PID_ANOTHER:
		return start_ns && may_be_after(uid, pid, monotonic_of(start_ns, now_ns), ret_span);
	case ETWD_PID_WAS_ANOTHERS:
		return may_be_after(uid, pid, since_ns, ret_span);
	default:
		return may_be_unknown(pids, uid, pid, now_ns);
	}
}

/* Whether what procfs said is of the process that is remembered, and not of one that has its number now. */
static bool is_of_entry(const struct etwd_pid *entry, const struct etw_process_facts *facts)
{
	return entry->connections == 0 || facts->start_boot_ns <= entry->came_boot_ns;
}

void etwd_pids_describe(struct etwd_pids *pids, uid_t uid, uint32_t pid,
			struct etw_process_facts *ret)
{
	struct etw_process_facts facts;
	struct etwd_pid *entry;
	bool is_known, is_here;

	*ret = etw_process_facts_unknown();
	pthread_mutex_lock(&pids->lock);
	entry = find_locked(pids, uid, pid);
	is_here = entry && entry->connections > 0;
	is_known = entry && entry->is_described;
	if (is_known)
		*ret = entry->facts;
	pthread_mutex_unlock(&pids->lock);
	if (is_known || etw_process_facts_read(pid, &facts) < 0)
		return;
	/* What is not connected may be another uid's by now. */
	if (!is_here && look_at_process(uid, pid) != LOOK_ITS)
		return;
	pthread_mutex_lock(&pids->lock);
	entry = find_locked(pids, uid, pid);
	if (entry && is_of_entry(entry, &facts)) {
		entry->facts = facts;
		entry->is_described = true;
	}
	if (!entry || entry->is_described)
		*ret = facts;
	pthread_mutex_unlock(&pids->lock);
}
