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

#define ETW_SUBSCRIBER_BATCH_BYTES \
	(4 * 1024 * 1024) /* that close a batch; some find room in a memory */

struct etw_subscriber {
	uint32_t place; /* in state.head->consumers */
	int fd;         /* owned: the delivery memory */
	uint8_t *memory;
	size_t memory_bytes;
	uint32_t slot_count, slot_bytes, slots_at;
	uint32_t grown;     /* slots for which there is memory: the first ones */
	uint64_t written;   /* slots filled, those of the open batch included */
	uint64_t announced; /* of these, told to the consumer */
	uint64_t released;  /* as far as its word was believed */
	uint64_t flagged;   /* buffers that it lost, as it was last told by a flag */
	bool is_dismissed;  /* it has had its last batch and its place */
	/* It was the last host's and has not come back yet; 0: it is here. */
	uint64_t awaited_until_ns;
	struct etw_patience patience; /* until then */
	void (*notify)(void *context, const struct wire_batch *batch, bool is_end);
	void *context;
};

/*
 * etw_subscriber_create() - a consumer with a new memory of as many slots as the plan asks for. There is none of these
 * slots until the memory is grown.
 *
 * @bytes: the consumer's own wish; raised to what the session's buffers take, and to a few for each processor; 0: none
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
 * @written:    slots filled, as the state says
 *
 * NULL: the memory cannot be had, or is another one.
 */
struct etw_subscriber *etw_subscriber_adopt(const struct etw_session_plan *plan, uint32_t place,
					    uint32_t slot_count, int fd, uint64_t written);

/* etw_subscriber_grow() - makes memory for so many slots, from the first on. Returns 0 or -ENOMEM. */
int etw_subscriber_grow(struct etw_subscriber *subscriber, uint32_t slots);

/* etw_subscriber_free() - takes NULL. */
void etw_subscriber_free(struct etw_subscriber *subscriber);

/* etw_subscriber_has_room() - whether a slot is free, after a look at what the consumer gave back. */
bool etw_subscriber_has_room(struct etw_subscriber *subscriber);

/* etw_subscriber_slot() - a slot by its number. */
uint8_t *etw_subscriber_slot(const struct etw_subscriber *subscriber, uint64_t number);

/* etw_subscriber_page() - the head of its memory. */
static inline struct wire_delivery *etw_subscriber_page(const struct etw_subscriber *subscriber)
{
	return (struct wire_delivery *)(void *)subscriber->memory;
}

#endif
