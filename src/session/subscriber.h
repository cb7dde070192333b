/* SPDX-License-Identifier: MIT */
/*
 * A real-time consumer as the session sees it: its place in the session's state, its delivery memory, and
 * how far that was filled, announced and given back. The keeper has the memory, as
 * "session-<id>/delivery-<place>"; so the next host finds it again, and keeps on filling it until the
 * consumer comes for it. All of it is guarded by consumer_lock.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_SESSION_SUBSCRIBER_H
#define ETW_SESSION_SUBSCRIBER_H

#include "session/session_internal.h"

/* So long a consumer of the last host is waited for; it tries for 10 seconds itself. */
#define ETW_SUBSCRIBER_WAIT_NS UINT64_C(15000000000)

struct etw_subscriber {
	uint32_t place; /* in state.head->consumers */
	int fd;         /* owned: the delivery memory */
	uint8_t *memory;
	size_t memory_bytes;
	uint32_t slot_count, slot_bytes, slots_at;
	uint64_t written;   /* slots filled, those of the open batch included */
	uint64_t announced; /* of these, told to the consumer */
	uint64_t released;  /* as far as its word was believed */
	uint64_t flagged;   /* buffers that it lost, as it was last told by a flag */
	uint64_t
		awaited_until_ns; /* it was the last host's and has not come back yet; 0: it is here */
	struct etw_patience patience; /* until then */
	void (*notify)(void *context, const struct wire_batch *batch, bool is_end);
	void *context;
};

/* etw_subscriber_has_room() - whether a slot is free, after a look at what the consumer gave back. */
bool etw_subscriber_has_room(struct etw_subscriber *subscriber);

/* etw_subscriber_slot() - a slot by its number. */
uint8_t *etw_subscriber_slot(const struct etw_subscriber *subscriber, uint64_t number);

/* etw_subscriber_lost() - pieces that were for it and that it did not get. */
uint64_t etw_subscriber_lost(const struct etw_session *session,
			     const struct etw_subscriber *subscriber);

/* etw_subscriber_page() - the head of its memory. */
static inline struct wire_delivery *etw_subscriber_page(const struct etw_subscriber *subscriber)
{
	return (struct wire_delivery *)(void *)subscriber->memory;
}

/* etw_subscribers_adopt() - the last host's consumers: their memory goes on being filled. At adoption. */
void etw_subscribers_adopt(struct etw_session *session);

/* etw_subscribers_expire() - lets go of those that did not come back until now. Holding consumer_lock. */
void etw_subscribers_expire(struct etw_session *session, uint64_t now_ns);

/* etw_subscribers_are_awaited() - whether a session that ends should still wait for one. Any thread. */
bool etw_subscribers_are_awaited(struct etw_session *session, uint64_t now_ns);

/* etw_subscribers_abandon() - the session is over for those that are still away. Holding consumer_lock. */
void etw_subscribers_abandon(struct etw_session *session);

/* etw_subscribers_free_all() - those that nobody unsubscribed. */
void etw_subscribers_free_all(struct etw_session *session);

#endif
