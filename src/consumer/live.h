/* SPDX-License-Identifier: MIT */
/*
 * A real-time session as a source of buffers: the subscription, batches as they come, and the delivery
 * memory. Survives a host that is replaced: it subscribes again and goes on in the same memory.
 * Source: docs/design/recording.md "Real time"; wire/delivery_layout.h.
 */
#ifndef ETW_CONSUMER_LIVE_H
#define ETW_CONSUMER_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/block.h"
#include "etl/findings.h"

struct etw_live;

/* What came since the last time. */
struct etw_live_batch {
	uint64_t batch;
	uint64_t end_slot; /* of the delivery memory: behind its last buffer */
	uint32_t buffer_count;
	int64_t watermark_raw;                /* no later batch has an event before it */
	uint64_t pieces, events, events_lost; /* as in struct wire_batch */
};

/* What this consumer did not get, as of the last batch that it gave back. */
struct etw_live_loss {
	/* Handed out by the session, and not found in the memory; of a session that is cut, at least so many. */
	uint64_t buffers;
	uint64_t events; /* of those buffers, and what could not be read */
	uint64_t
		session_events; /* lost before they could be handed out, to this and all other consumers */
};

/* etw_live_create() - for the session of this name, which need not be there. Returns 0 or -ENOMEM. */
int etw_live_create(const char *session, struct etw_live **ret);

/* etw_live_want_memory() - of delivery memory, when it subscribes; 0: as the session chooses. */
void etw_live_want_memory(struct etw_live *live, uint64_t bytes);

/* etw_live_free() - unsubscribes; takes NULL. */
void etw_live_free(struct etw_live *live);

/*
 * etw_live_subscribe() - finds the session, in one's own host first, and subscribes.
 *
 * Does nothing when subscribed already. Returns 0; -ENOENT: no such session, or no host; -EINVAL: it is no
 * real-time session; -EACCES; -EBUSY: too many consumers; -EPROTO; errno of talking to the host. A host that
 * is being replaced is waited for.
 */
int etw_live_subscribe(struct etw_live *live);

/* etw_live_header() - a copy of the session's header buffer, empty before the subscription. Borrowed. */
struct etw_bytes etw_live_header(const struct etw_live *live);

/*
 * etw_live_receive() - takes the next batch, without waiting.
 *
 * Returns 0; -EAGAIN: nothing there yet; ETW_END: the session is over; -EPROTO: the host said what cannot be.
 */
int etw_live_receive(struct etw_live *live, struct etw_live_batch *ret);

/*
 * etw_live_load() - checks the next buffer of the batch, which was received last.
 *
 * @block:    zeroed, or loaded before; left with the buffer where it is in delivery memory, borrowed until
 *            etw_live_give_back() or etw_live_free()
 * @findings: what could not be read
 *
 * Returns 0, also for a damaged buffer (then `count` may be 0, and `raw` NULL), or -ENOMEM.
 */
int etw_live_load(struct etw_live *live, const struct etw_live_batch *batch,
		  struct etw_etl_block *block, struct etw_findings *findings);

/* etw_live_give_back() - a block that etw_live_load() left is not read any more. */
void etw_live_give_back(struct etw_live *live, const struct etw_etl_block *block);

/* etw_live_memory_bytes() - of its delivery memory; 0 before the subscription. */
size_t etw_live_memory_bytes(const struct etw_live *live);

/* etw_live_is_scarce() - whether what is not given back may soon keep the session from handing out more. */
bool etw_live_is_scarce(const struct etw_live *live);

/* etw_live_release() - the batch was loaded; what is given back of it the session may fill anew. */
void etw_live_release(struct etw_live *live, const struct etw_live_batch *batch);

/* etw_live_loss() - what is lost so far. */
struct etw_live_loss etw_live_loss(const struct etw_live *live);

/* etw_live_set_lost_before() - what the session had lost when this consumer came; nobody is told of it. */
void etw_live_set_lost_before(struct etw_live *live, uint64_t events);

/*
 * etw_live_untold() - what is lost and no buffer's flags have told of: WIRE_BUFFER_EVENTS_LOST,
 * _BUFFER_LOST, or both. Told by this.
 */
uint16_t etw_live_untold(struct etw_live *live);

/* etw_live_is_cut() - whether it is over without its last batch: nobody knows what is missing. */
bool etw_live_is_cut(const struct etw_live *live);

/* etw_live_socket() - to be polled for reading, also while a new host is waited for; -1: see below. */
int etw_live_socket(const struct etw_live *live);

/*
 * etw_live_retry_ms() - when etw_live_receive() should be called although nothing came: until somebody can be called;
 * -1 else.
 */
int etw_live_retry_ms(const struct etw_live *live);

#endif
