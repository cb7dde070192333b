/* SPDX-License-Identifier: MIT */
/* See keeper_store.h. */
#include "daemon/keeper_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"

struct etwd_keeper_queued {
	struct etwd_keeper_queued *next;
	uint32_t op;
	int fd; /* owned; -1: none */
	char name[ETWD_KEPT_NAME_BYTES];
};

/* A name that ends with a slash means all that begin so. */
static bool is_meant(const char *wanted, const char *name)
{
	size_t bytes = strlen(wanted);

	return bytes && wanted[bytes - 1] == '/' ? strncmp(name, wanted, bytes) == 0
						 : strcmp(name, wanted) == 0;
}

static void free_queued(struct etwd_keeper_store *store, struct etwd_keeper_queued **at)
{
	struct etwd_keeper_queued *queued = *at;

	*at = queued->next;
	if (queued->fd >= 0)
		close(queued->fd);
	free(queued);
	store->queue_count--;
}

static void drop_queue(struct etwd_keeper_store *store)
{
	while (store->queue)
		free_queued(store, &store->queue);
}

static int add_kept(struct etwd_keeper_store *store, const char *name, int fd)
{
	if (store->kept_count == store->kept_room) {
		size_t room = store->kept_room ? store->kept_room * 2 : 64;
		struct etwd_kept *kept = reallocarray(store->kept, room, sizeof(*kept));

		if (!kept)
			return -ENOMEM;
		store->kept = kept;
		store->kept_room = room;
	}
	store->kept[store->kept_count].fd = fd;
	memcpy(store->kept[store->kept_count].name, name, ETWD_KEPT_NAME_BYTES);
	store->kept_count++;
	return 0;
}

static int receive_kept(struct etwd_keeper_store *store)
{
	for (;;) {
		struct etwd_keeper_message message;
		int fd, r;

		TRY(etwd_keeper_receive(store->socket, 0, &message, &fd));
		if (message.op == ETWD_KEEPER_GIVEN_ALL && fd < 0)
			return 0;
		if (message.op != ETWD_KEEPER_GIVEN || fd < 0) {
			if (fd >= 0)
				close(fd);
			return -EPROTO;
		}
		(void)etwd_keeper_table_keep(&store->known, message.name, -1);
		r = add_kept(store, message.name, fd);
		if (r < 0) {
			close(fd);
			return r;
		}
	}
}

static void drop_kept(struct etwd_keeper_store *store)
{
	for (size_t i = 0; i < store->kept_count; i++) {
		if (store->kept[i].fd >= 0)
			close(store->kept[i].fd);
	}
	free(TAKE(store->kept));
	store->kept_count = store->kept_room = 0;
}

static size_t find_limit(void)
{
	struct rlimit files;
	rlim_t half;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return 0;
	half = files.rlim_cur / 2;
	if (half <= ETWD_FILES_OF_HOST)
		return 0;
	return MIN(half - ETWD_FILES_OF_HOST, (rlim_t)(ETWD_KEPT_MAX - ETWD_KEPT_MARGIN));
}

int etwd_keeper_store_init(struct etwd_keeper_store *store, int socket)
{
	int r;

	*store = (struct etwd_keeper_store){.socket = socket, .wake_fd = -1, .limit = find_limit()};
	pthread_mutex_init(&store->lock, NULL);
	if (socket < 0)
		return 0;
	TRY(etwd_keeper_table_init(&store->known));
	r = receive_kept(store);
	if (r < 0)
		drop_kept(store);
	return r;
}

void etwd_keeper_store_done(struct etwd_keeper_store *store)
{
	drop_kept(store);
	drop_queue(store);
	etwd_keeper_table_done(&store->known);
	if (store->socket >= 0)
		close(store->socket);
	pthread_mutex_destroy(&store->lock);
	*store = (struct etwd_keeper_store){.socket = -1, .wake_fd = -1};
}

static bool is_for_later(int result)
{
	return result == -EAGAIN || result == -ETOOMANYREFS || result == -ENOBUFS ||
	       result == -ENOMEM;
}

static void lose_keeper_locked(struct etwd_keeper_store *store)
{
	etwd_log("the keeper is gone; from now on sessions do not outlive this host");
	close(store->socket);
	store->socket = -1;
	drop_queue(store);
}

static int try_keeper_locked(struct etwd_keeper_store *store, uint32_t op, const char *name, int fd)
{
	int r = etwd_keeper_try(store->socket, op, name, fd);

	if (r == -EPIPE || r == -ECONNRESET) {
		lose_keeper_locked(store);
		return -EPIPE;
	}
	return r;
}

static int put_in_queue_locked(struct etwd_keeper_store *store, uint32_t op, const char *name,
			       int fd)
{
	struct etwd_keeper_queued **last = &store->queue;
	struct etwd_keeper_queued *queued;
	const uint64_t one = 1;

	/* What is forgotten gives memory back, and is worth a longer queue. */
	if (store->queue_count >= (fd < 0 ? 4 : 1) * ETWD_KEEPER_QUEUE_MAX) {
		etwd_log("the keeper takes nothing, and %s does not reach it", name);
		return -ENOBUFS;
	}
	queued = calloc(1, sizeof(*queued));
	if (!queued)
		return -ENOMEM;
	queued->op = op;
	queued->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && queued->fd < 0) {
		int error = errno;

		free(queued);
		return -error;
	}
	memcpy(queued->name, name, strlen(name) + 1);
	if (!store->queue) {
		etwd_log("the keeper takes nothing just now; what is new does not outlive this "
			 "host until it does");
		if (store->wake_fd >= 0 && write(store->wake_fd, &one, sizeof(one)) < 0)
			etwd_log("the loop cannot be woken: %s", strerror(errno));
	}
	while (*last)
		last = &(*last)->next;
	*last = queued;
	store->queue_count++;
	return -EINPROGRESS;
}

static int tell_keeper_locked(struct etwd_keeper_store *store, uint32_t op, const char *name,
			      int fd)
{
	int r = -EAGAIN;

	if (store->socket < 0)
		return -EPIPE;
	if (strlen(name) >= ETWD_KEPT_NAME_BYTES)
		return -ENAMETOOLONG;
	if (!store->queue)
		r = try_keeper_locked(store, op, name, fd);
	return is_for_later(r) ? put_in_queue_locked(store, op, name, fd) : r;
}

/* What the keeper has not got yet it need not forget. */
static void forget_queued_locked(struct etwd_keeper_store *store, const char *name)
{
	struct etwd_keeper_queued **at = &store->queue;

	while (*at) {
		if ((*at)->name[0] && is_meant(name, (*at)->name))
			free_queued(store, at);
		else
			at = &(*at)->next;
	}
}

uint64_t etwd_keeper_retry(struct etwd_keeper_store *store, uint64_t now_ms)
{
	uint64_t result = UINT64_MAX;
	bool had_queue;

	pthread_mutex_lock(&store->lock);
	had_queue = store->queue != NULL;
	while (store->queue) {
		int r = try_keeper_locked(store, store->queue->op, store->queue->name,
					  store->queue->fd);

		if (is_for_later(r)) {
			result = now_ms + ETWD_KEEPER_RETRY_MS;
			break;
		}
		if (store->queue) /* with the keeper the queue went */
			free_queued(store, &store->queue);
	}
	if (had_queue && !store->queue && store->socket >= 0)
		etwd_log("the keeper has everything again");
	pthread_mutex_unlock(&store->lock);
	return result;
}

int etwd_keeper_keep(struct etwd_keeper_store *store, const char *name, int fd)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = tell_keeper_locked(store, ETWD_KEEPER_KEEP, name, fd);
	if (r == 0 || r == -EINPROGRESS)
		(void)etwd_keeper_table_keep(&store->known, name, -1);
	pthread_mutex_unlock(&store->lock);
	return r;
}

int etwd_keeper_room(struct etwd_keeper_store *store, unsigned count)
{
	int r = 0;

	pthread_mutex_lock(&store->lock);
	if (store->socket >= 0 && (store->known.count + count > store->limit ||
				   etw_monotonic_ms() < store->full_until_ms))
		r = -EMFILE;
	pthread_mutex_unlock(&store->lock);
	return r;
}

/* Returns as etwd_keeper_hear(); -EAGAIN: there is more to be read. */
static int hear_locked(struct etwd_keeper_store *store, char *ret)
{
	struct etwd_keeper_message message;
	int fd = -1, r;

	if (store->socket < 0)
		return 0;
	r = etwd_keeper_receive(store->socket, MSG_DONTWAIT, &message, &fd);
	if (fd >= 0)
		close(fd);
	if (r == -EPIPE)
		lose_keeper_locked(store);
	if (r == -EPIPE || r == -EAGAIN)
		return 0;
	if (r < 0 || message.op != ETWD_KEEPER_REFUSED)
		return -EAGAIN;
	etwd_keeper_table_forget(&store->known, message.name);
	store->full_until_ms = etw_monotonic_ms() + ETWD_KEEPER_FULL_MS;
	memcpy(ret, message.name, ETWD_KEPT_NAME_BYTES);
	return 1;
}

int etwd_keeper_hear(struct etwd_keeper_store *store, char ret[ETWD_KEPT_NAME_BYTES])
{
	int r;

	pthread_mutex_lock(&store->lock);
	while ((r = hear_locked(store, ret)) == -EAGAIN)
		;
	pthread_mutex_unlock(&store->lock);
	return r;
}

static int take_kept_locked(struct etwd_keeper_store *store, const char *name)
{
	for (size_t i = 0; i < store->kept_count; i++) {
		int fd = store->kept[i].fd;

		if (fd < 0 || strcmp(store->kept[i].name, name) != 0)
			continue;
		store->kept[i].fd = -1;
		return fd;
	}
	return -ENOENT;
}

int etwd_keeper_take(struct etwd_keeper_store *store, const char *name)
{
	int fd;

	pthread_mutex_lock(&store->lock);
	fd = take_kept_locked(store, name);
	pthread_mutex_unlock(&store->lock);
	return fd;
}

static void close_kept_locked(struct etwd_keeper_store *store, const char *name)
{
	for (size_t i = 0; i < store->kept_count; i++) {
		struct etwd_kept *kept = &store->kept[i];

		if (kept->fd < 0 || !is_meant(name, kept->name))
			continue;
		close(kept->fd);
		kept->fd = -1;
	}
}

void etwd_keeper_forget(struct etwd_keeper_store *store, const char *name)
{
	pthread_mutex_lock(&store->lock);
	close_kept_locked(store, name);
	forget_queued_locked(store, name);
	etwd_keeper_table_forget(&store->known, name);
	(void)tell_keeper_locked(store, ETWD_KEEPER_FORGET, name, -1);
	pthread_mutex_unlock(&store->lock);
}

const char *etwd_keeper_kept_name(struct etwd_keeper_store *store, size_t at)
{
	for (size_t i = 0; i < store->kept_count; i++) {
		if (store->kept[i].fd >= 0 && at-- == 0)
			return store->kept[i].name;
	}
	return NULL;
}

void etwd_keeper_ready(struct etwd_keeper_store *store)
{
	pthread_mutex_lock(&store->lock);
	(void)tell_keeper_locked(store, ETWD_KEEPER_READY, "", -1);
	pthread_mutex_unlock(&store->lock);
}

void etwd_keeper_leaving(struct etwd_keeper_store *store)
{
	pthread_mutex_lock(&store->lock);
	(void)tell_keeper_locked(store, ETWD_KEEPER_LEAVING, "", -1);
	pthread_mutex_unlock(&store->lock);
}

void etwd_keeper_failed(struct etwd_keeper_store *store, int error, const char *sentence)
{
	pthread_mutex_lock(&store->lock);
	if (store->socket >= 0)
		(void)etwd_keeper_send_failure(store->socket, error, sentence);
	pthread_mutex_unlock(&store->lock);
}
