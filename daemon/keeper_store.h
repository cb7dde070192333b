/* SPDX-License-Identifier: MIT */
/*
 * The host's side of the keeper: descriptors by name that outlive this process. Without a keeper (its
 * end is gone) the host goes on, and what it keeps does not outlive it.
 *
 * Nothing here waits for the keeper. What it does not take at once, because it is stopped or slow, waits in a queue, in
 * order; the host's loop sends it with etwd_keeper_retry().
 *
 * Context: any thread.
 */
#ifndef ETW_DAEMON_KEEPER_STORE_H
#define ETW_DAEMON_KEEPER_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/keeper_message.h"
#include "daemon/keeper_table.h"

/* A descriptor that the last host left. */
struct etwd_kept {
	char name[ETWD_KEPT_NAME_BYTES];
	int fd; /* owned; -1: taken */
};

/*
 * How many may be kept for what is new: so many of the table's places, and of the descriptors that a process may have
 * half without so many, are left for what belongs to something that is kept already, for the processes' own and for
 * peers. Keeper, standby and hosts are forks of each other, with the same limits: so none of them meets its own.
 */
#define ETWD_KEPT_MARGIN   256
#define ETWD_FILES_OF_HOST 24
/* When the keeper said that it cannot keep something, nothing new begins for so long. */
#define ETWD_KEEPER_FULL_MS 2000

/* Messages that wait; a descriptor of its own each. */
#define ETWD_KEEPER_QUEUE_MAX 1024
#define ETWD_KEEPER_RETRY_MS  20

struct etwd_keeper_queued;

struct etwd_keeper_store {
	pthread_mutex_t lock;
	int wake_fd; /* borrowed eventfd that gets a 1 when the queue begins; -1: none */
	struct etwd_keeper_queued *queue; /* owned; under lock */
	size_t queue_count;
	int socket;             /* owned; -1: no keeper; under lock */
	struct etwd_kept *kept; /* owned; under lock */
	size_t kept_count, kept_room;
	struct etwd_keeper_table known; /* names that the keeper has, or will have; under lock */
	size_t limit;                   /* of these, for what is new */
	uint64_t full_until_ms;         /* 0: it has not refused anything; under lock */
};

/*
 * etwd_keeper_store_init() - takes over what the last host left.
 *
 * @socket: taken; -1: no keeper
 *
 * Returns 0; -EPIPE when the keeper is gone; -EPROTO; -EMFILE; -ENOMEM. The store is to be ended by
 * etwd_keeper_store_done() in every case: until then the keeper can be told of the error.
 */
int etwd_keeper_store_init(struct etwd_keeper_store *store, int socket);

/* etwd_keeper_store_done() - closes what nobody took. The keeper still has all of it. */
void etwd_keeper_store_done(struct etwd_keeper_store *store);

/*
 * etwd_keeper_keep() - keeps a descriptor, in the place of one of the same name.
 *
 * @fd: borrowed
 *
 * When it returns 0 the keeper gets it, whatever happens to this process; but one that has no room says so, see
 * etwd_keeper_hear(). -EINPROGRESS: it waits in the queue, and does not outlive this
 * process until it was sent; -ENOBUFS: the queue is full, and it is not kept; -ENAMETOOLONG; -EPIPE without a
 * keeper; errno of sendmsg, dup.
 */
int etwd_keeper_keep(struct etwd_keeper_store *store, const char *name, int fd);

/* etwd_keeper_room() - whether so many more may be kept for something new. Returns 0, also without a keeper; -EMFILE. */
int etwd_keeper_room(struct etwd_keeper_store *store, unsigned count);

/*
 * etwd_keeper_hear() - what the keeper could not keep, one name at a time. Does not wait.
 *
 * Returns 1 with a name in @ret; 0: it has said nothing, or is gone.
 */
int etwd_keeper_hear(struct etwd_keeper_store *store, char ret[ETWD_KEPT_NAME_BYTES]);

/* etwd_keeper_take() - a descriptor that the last host kept: owned by the caller, or -ENOENT. Each once. */
int etwd_keeper_take(struct etwd_keeper_store *store, const char *name);

/*
 * etwd_keeper_forget() - the keeper closes its own; an untaken one of the last host is closed too.
 *
 * @name: with a slash at its end: all whose names begin so
 */
void etwd_keeper_forget(struct etwd_keeper_store *store, const char *name);

/*
 * etwd_keeper_retry() - sends what waits, as far as the keeper takes it. Returns when to call it again; UINT64_MAX when
 * nothing waits.
 */
uint64_t etwd_keeper_retry(struct etwd_keeper_store *store, uint64_t now_ms);

/* etwd_keeper_kept_name() - the @at-th name that nobody took yet, or NULL at the end. Borrowed; owner thread. */
const char *etwd_keeper_kept_name(struct etwd_keeper_store *store, size_t at);

/* etwd_keeper_ready() - tells the keeper that this host accepts connections. */
void etwd_keeper_ready(struct etwd_keeper_store *store);

/* etwd_keeper_leaving() - tells the keeper that this host ends because nobody needs it. */
void etwd_keeper_leaving(struct etwd_keeper_store *store);

/* etwd_keeper_failed() - tells the keeper why this host ends at once. */
void etwd_keeper_failed(struct etwd_keeper_store *store, int error, const char *sentence);

#endif
