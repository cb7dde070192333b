/* SPDX-License-Identifier: MIT */
/* What other threads hand to the host's loop: a locked queue and an eventfd that wakes it. */
#ifndef ETW_DAEMON_INBOX_H
#define ETW_DAEMON_INBOX_H

#include <pthread.h>

/* First member of what is handed over, which brings along whatever its handler needs. */
struct etwd_inbox_item {
	struct etwd_inbox_item *next;
	void (*handle)(struct etwd_inbox_item *item); /* takes the item */
};

struct etwd_inbox {
	pthread_mutex_t lock;
	int event_fd; /* owned */
	struct etwd_inbox_item *first, **last;
};

/* etwd_inbox_init() - returns 0 or the errno of eventfd. */
int etwd_inbox_init(struct etwd_inbox *inbox);

/* etwd_inbox_done() - for an empty one. */
void etwd_inbox_done(struct etwd_inbox *inbox);

/* etwd_inbox_post() - takes an item. Any thread; items of one thread keep their order. */
void etwd_inbox_post(struct etwd_inbox *inbox, struct etwd_inbox_item *item);

/* etwd_inbox_run() - handles what is there. The loop. */
void etwd_inbox_run(struct etwd_inbox *inbox);

#endif
