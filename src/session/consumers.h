/* SPDX-License-Identifier: MIT */
/*
 * The real-time consumers of a session, one of its parts: who they are, each with its place in the session's state, its
 * delivery memory (session/subscriber.h) and how far that is filled; and the pieces and batches that they are handed
 * (session/delivery.h). The keeper has the memories, as "session-<id>/delivery-<place>"; so the next host finds them
 * again, and keeps on filling them until the consumers come.
 *
 * Lock: `lock` owns everything here, the subscribers and the consumers' places in the state. It is held over each piece
 * and the commit that makes it hold (session/outputs.h), and is the first of a session's locks: the others may be taken
 * under it. notify() and the keeper are called holding it.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_SESSION_CONSUMERS_H
#define ETW_SESSION_CONSUMERS_H

#include <pthread.h>

#include "session/common/context.h"
#include "session/subscriber.h"

/* So long a consumer of the last host is waited for; it tries for 10 seconds itself. */
#define ETW_CONSUMERS_WAIT_NS UINT64_C(15000000000)

struct etw_session_consumers {
	struct etw_session_context *context;
	pthread_mutex_t lock;
	struct etw_subscriber *subscribers[ETW_STATE_CONSUMERS]; /* owned, by place */
	struct etw_subscriber
		*backlog; /* owned; what is kept for the next consumer; NULL: nothing */
	bool is_place_taken[ETW_STATE_CONSUMERS]; /* also for one that is being made */
	uint32_t subscriber_count;                /* atomic for those without the lock */
	uint32_t joined;                          /* atomic: how many ever subscribed */
	/* Pieces put into memories of a place, and slots used up for them, ever. */
	uint64_t written[ETW_STATE_CONSUMERS], slots[ETW_STATE_CONSUMERS];
	uint64_t pieces, piece_events; /* that went by: sums over the records */
	uint64_t batch_bytes;          /* of the open batch; atomic for those without the lock */
	bool is_over;                  /* the last batch is closed */
	uint64_t adopted_ns;           /* from another host; 0: this one began it */
	struct etw_patience last_wait; /* of a stop, for consumers; from adopted_ns on */
};

/* What a real-time consumer asks for. */
struct etw_session_subscribe {
	uint64_t consumer, last_batch, pieces, memory_bytes; /* as in struct wire_subscribe */
	void (*notify)(void *context, const struct wire_batch *batch, bool is_end);
	void *context;
};

struct etw_session_subscribed {
	struct etw_subscriber *subscriber;
	int memory_fd;          /* owned by the caller: delivery memory (wire/delivery_layout.h) */
	uint8_t *header_buffer; /* owned by the caller */
	uint32_t header_bytes;
	uint64_t next_slot, pieces, events; /* as in struct wire_subscribed */
};

/* etw_consumers_open() - nobody yet. */
void etw_consumers_open(struct etw_session_context *context, struct etw_session_consumers *ret);

/* etw_consumers_close() - frees those that nobody unsubscribed, too. */
void etw_consumers_close(struct etw_session_consumers *consumers);

/* etw_consumers_resume() - goes on with the numbers of the state. Before anything else is done. */
void etw_consumers_resume(struct etw_session_consumers *consumers);

/* etw_consumers_adopt() - the last host's consumers: their memory goes on being filled. At adoption. */
void etw_consumers_adopt(struct etw_session_consumers *consumers);

/* etw_consumers_subscribe() - as etw_session_subscribe(), but for the header buffer. Any thread. */
int etw_consumers_subscribe(struct etw_session_consumers *consumers,
			    const struct etw_session_subscribe *request,
			    struct etw_session_subscribed *ret);

/* etw_consumers_unsubscribe() - takes NULL. Any thread. */
void etw_consumers_unsubscribe(struct etw_session_consumers *consumers,
			       struct etw_subscriber *subscriber);

/*
 * etw_consumers_dismiss() - the session has no consumers any more: those that there are have their last batch, and are
 * to be unsubscribed yet. etw_consumers_readmit() - it takes some again. Owner thread.
 */
void etw_consumers_dismiss(struct etw_session_consumers *consumers);
void etw_consumers_readmit(struct etw_session_consumers *consumers);

/*
 * etw_consumers_backlog() - the memory in which buffers are kept while there is no consumer, for the first that comes;
 * made when there is none. Holding lock.
 *
 * NULL: there is no memory for it.
 */
struct etw_subscriber *etw_consumers_backlog(struct etw_session_consumers *consumers);

/* etw_consumers_tell() - how each of them is. Any thread. */
void etw_consumers_tell(struct etw_session_consumers *consumers,
			struct wire_consumer_statistics ret[WIRE_STATISTICS_CONSUMERS]);

/* etw_consumers_lost() - pieces that were for a consumer and that it did not get. Holding lock. */
uint64_t etw_consumers_lost(const struct etw_session_consumers *consumers,
			    const struct etw_subscriber *subscriber);

/* etw_consumers_expire() - lets go of those that did not come back until now. Holding lock. */
void etw_consumers_expire(struct etw_session_consumers *consumers, uint64_t now_ns);

/* etw_consumers_are_awaited() - whether a session that ends should still wait for one. Owner thread. */
bool etw_consumers_are_awaited(struct etw_session_consumers *consumers, uint64_t now_ns);

/* etw_consumers_abandon() - the session is over for those that are still away, or never came. Holding lock. */
void etw_consumers_abandon(struct etw_session_consumers *consumers);

#endif
