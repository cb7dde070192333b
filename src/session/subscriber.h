/* SPDX-License-Identifier: MIT */
/*
 * A real-time consumer as the session sees it: its delivery memory (wire/delivery_layout.h), and how far that was filled,
 * announced and given back. Who the session's subscribers are is session/consumers.h, whose lock owns all of this.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_SESSION_SUBSCRIBER_H
#define ETW_SESSION_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/patience.h"
#include "session/common/config.h"
#include "wire/delivery_layout.h"
#include "wire/message.h"

#define ETW_SUBSCRIBER_BATCH_BYTES_MAX (4u * 1024 * 1024)

/* How far something has got: slots, and pieces in them. */
struct etw_delivered {
	uint64_t slots, pieces;
};

struct etw_subscriber {
	uint32_t place; /* in state.head->consumers */
	int fd;         /* owned: the delivery memory */
	uint8_t *memory;
	size_t memory_bytes;
	uint32_t slot_count, slot_bytes, slots_at;
	uint32_t buffer_slots;          /* that a whole buffer takes */
	uint32_t grown;                 /* slots for which there is memory: the first ones */
	struct etw_delivered written;   /* those of the open batch included */
	struct etw_delivered announced; /* of these, told to the consumer */
	struct etw_delivered released;  /* as far as its words were believed */
	uint64_t flagged;               /* buffers that it lost, as it was last told by a flag */
	bool is_dismissed;              /* it has had its last batch and its place */
	/* It was the last host's and has not come back yet; 0: it is here. */
	uint64_t awaited_until_ns;
	struct etw_patience patience; /* until then */
	void (*notify)(void *context, const struct wire_batch *batch, bool is_end);
	void *context;
};

/*
 * etw_subscriber_batch_bytes() - so much closes a batch: a small part of a consumer's memory, so that it can give back
 * the first while the next ones are filled.
 */
uint64_t etw_subscriber_batch_bytes(const struct etw_session_plan *plan);

/*
 * etw_subscriber_create() - a consumer with a new memory, which takes what the session's rings take and some more. There
 * is none of its slots until the memory is grown.
 *
 * @bytes: the consumer's own wish; raised to what the session's rings take; 0: none
 *
 * Returns 0 or -ENOMEM.
 */
int etw_subscriber_create(const struct etw_session_plan *plan, uint32_t place, uint64_t bytes,
			  struct etw_subscriber **ret);

/*
 * etw_subscriber_adopt() - one of the last host's, with its memory.
 *
 * @slot_count: as the state says
 * @fd:         taken in every case
 * @written:    what was filled, as the state says
 *
 * NULL: the memory cannot be had, or is another one.
 */
struct etw_subscriber *etw_subscriber_adopt(const struct etw_session_plan *plan, uint32_t place,
					    uint32_t slot_count, int fd,
					    const struct etw_delivered *written);

/* etw_subscriber_grow() - makes memory for so many slots, from the first on. Returns 0 or -ENOMEM. */
int etw_subscriber_grow(struct etw_subscriber *subscriber, uint32_t slots);

/* etw_subscriber_free() - takes NULL. */
void etw_subscriber_free(struct etw_subscriber *subscriber);

/* etw_subscriber_look() - takes over what the consumer says that it has given back. */
void etw_subscriber_look(struct etw_subscriber *subscriber);

/* etw_subscriber_rewind() - what the consumer has not taken yet is to be announced again. */
void etw_subscriber_rewind(struct etw_subscriber *subscriber);

/*
 * etw_subscriber_reserve() - a place for the next piece, after a look at what the consumer gave back.
 *
 * @bytes:     of the piece, no more than a buffer has
 * @ret_slots: how many slots `written` grows by when it is filled
 *
 * NULL: there is no room, or no memory.
 */
uint8_t *etw_subscriber_reserve(struct etw_subscriber *subscriber, uint32_t bytes,
				uint32_t *ret_slots);

/* etw_subscriber_last() - the piece for which a place was reserved last, by the last host if it was there. */
uint8_t *etw_subscriber_last(const struct etw_subscriber *subscriber);

/* etw_subscriber_page() - the head of its memory. */
static inline struct wire_delivery *etw_subscriber_page(const struct etw_subscriber *subscriber)
{
	return (struct wire_delivery *)(void *)subscriber->memory;
}

#endif
