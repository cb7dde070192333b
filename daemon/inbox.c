/* SPDX-License-Identifier: MIT */
/* See inbox.h. */
#include "daemon/inbox.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int etwd_inbox_init(struct etwd_inbox *inbox)
{
	*inbox = (struct etwd_inbox){.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (inbox->event_fd < 0)
		return -errno;
	pthread_mutex_init(&inbox->lock, NULL);
	inbox->last = &inbox->first;
	return 0;
}

void etwd_inbox_done(struct etwd_inbox *inbox)
{
	close(inbox->event_fd);
	pthread_mutex_destroy(&inbox->lock);
}

void etwd_inbox_post(struct etwd_inbox *inbox, struct etwd_inbox_item *item)
{
	const uint64_t one = 1;

	item->next = NULL;
	pthread_mutex_lock(&inbox->lock);
	*inbox->last = item;
	inbox->last = &item->next;
	pthread_mutex_unlock(&inbox->lock);
	/* It fails only when the counter is full: then the loop is awake anyway. */
	if (write(inbox->event_fd, &one, sizeof(one)) < 0)
		return;
}

void etwd_inbox_run(struct etwd_inbox *inbox)
{
	struct etwd_inbox_item *item;
	uint64_t count;

	if (read(inbox->event_fd, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&inbox->lock);
	item = inbox->first;
	inbox->first = NULL;
	inbox->last = &inbox->first;
	pthread_mutex_unlock(&inbox->lock);
	while (item) {
		struct etwd_inbox_item *next = item->next;

		item->handle(item);
		item = next;
	}
}
