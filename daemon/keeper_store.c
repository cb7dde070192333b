/* SPDX-License-Identifier: MIT */
/* See keeper_store.h. */
#include "daemon/keeper_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "daemon/log.h"

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

int etwd_keeper_store_init(struct etwd_keeper_store *store, int socket)
{
	int r;

	*store = (struct etwd_keeper_store){.socket = socket};
	pthread_mutex_init(&store->lock, NULL);
	if (socket < 0)
		return 0;
	r = receive_kept(store);
	if (r < 0)
		drop_kept(store);
	return r;
}

void etwd_keeper_store_done(struct etwd_keeper_store *store)
{
	drop_kept(store);
	if (store->socket >= 0)
		close(store->socket);
	pthread_mutex_destroy(&store->lock);
	*store = (struct etwd_keeper_store){.socket = -1};
}

/* Holding the lock. */
static int tell_keeper(struct etwd_keeper_store *store, uint32_t op, const char *name, int fd)
{
	int r;

	if (store->socket < 0)
		return -EPIPE;
	r = etwd_keeper_send(store->socket, op, name, fd);
	if (r == -EPIPE || r == -ECONNRESET) {
		etwd_log("the keeper is gone; from now on sessions do not outlive this host");
		close(store->socket);
		store->socket = -1;
		return -EPIPE;
	}
	return r;
}

int etwd_keep(struct etwd_keeper_store *store, const char *name, int fd)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = tell_keeper(store, ETWD_KEEPER_KEEP, name, fd);
	pthread_mutex_unlock(&store->lock);
	return r;
}

/* Holding the lock. */
static int take_kept(struct etwd_keeper_store *store, const char *name)
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

int etwd_kept(struct etwd_keeper_store *store, const char *name)
{
	int fd;

	pthread_mutex_lock(&store->lock);
	fd = take_kept(store, name);
	pthread_mutex_unlock(&store->lock);
	return fd;
}

/* Holding the lock. */
static void close_kept(struct etwd_keeper_store *store, const char *name)
{
	size_t bytes = strlen(name);
	bool is_prefix = bytes && name[bytes - 1] == '/';

	for (size_t i = 0; i < store->kept_count; i++) {
		struct etwd_kept *kept = &store->kept[i];

		if (kept->fd < 0 ||
		    (is_prefix ? strncmp(kept->name, name, bytes) : strcmp(kept->name, name)) != 0)
			continue;
		close(kept->fd);
		kept->fd = -1;
	}
}

void etwd_forget(struct etwd_keeper_store *store, const char *name)
{
	pthread_mutex_lock(&store->lock);
	close_kept(store, name);
	(void)tell_keeper(store, ETWD_KEEPER_FORGET, name, -1);
	pthread_mutex_unlock(&store->lock);
}

const char *etwd_kept_name(struct etwd_keeper_store *store, size_t at)
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
	(void)tell_keeper(store, ETWD_KEEPER_READY, "", -1);
	pthread_mutex_unlock(&store->lock);
}

void etwd_keeper_failed(struct etwd_keeper_store *store, int error, const char *sentence)
{
	pthread_mutex_lock(&store->lock);
	if (store->socket >= 0)
		(void)etwd_keeper_send_failure(store->socket, error, sentence);
	pthread_mutex_unlock(&store->lock);
}
