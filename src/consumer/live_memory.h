/* SPDX-License-Identifier: MIT */
/*
 * Delivery memory at the consumer's end (wire/delivery_layout.h): a mapping, the pieces that were taken from it, and
 * which of them are still being read where they lie. Slots are given back in the order in which they were filled, so
 * that one piece which is held holds those behind it, too.
 *
 * The layout is copied, checked, and believed in the copy alone; a piece's size is fetched once. The bytes of a piece may
 * be read where they are because the host, which is root's or one's own (etw_runtime_call()), does not write them again
 * before they are given back.
 * Context: one thread.
 */
#ifndef ETW_CONSUMER_LIVE_MEMORY_H
#define ETW_CONSUMER_LIVE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/delivery_layout.h"

/* A piece that was taken and not given back. */
struct etw_live_held {
	uint64_t from; /* the slot behind the piece before it */
	bool is_held;
};

struct etw_live_memory {
	struct wire_delivery *page; /* mapped */
	struct wire_delivery layout;
	size_t bytes;
	dev_t device; /* what it is known by when it comes again */
	ino_t inode;
	uint64_t next;                /* slot behind the last piece that was taken */
	uint64_t taken, taken_pieces; /* of batches that were taken whole */
	struct etw_live_held *pieces; /* owned; a ring, by number */
	uint32_t room;                /* of it; a power of two, or 0 */
	uint32_t count;               /* in it */
	uint32_t
		first; /* number of the oldest; numbers count on, and begin anew behind UINT32_MAX */
	struct etw_live_memory
		*older; /* owned: those that no host fills any more, and that are still read */
};

/*
 * etw_live_memory_map() - maps a delivery memory.
 *
 * @fd:     borrowed
 * @from:   the slot at which the next batch begins
 * @number: of the next piece
 *
 * Returns 0, -EPROTO, -ENOMEM or the errno of mapping.
 */
int etw_live_memory_map(int fd, uint64_t from, uint32_t number, struct etw_live_memory **ret);

/* etw_live_memory_free() - unmaps it, whatever is held, and the older ones. Takes NULL. */
void etw_live_memory_free(struct etw_live_memory *memory);

/* etw_live_memory_is() - whether this descriptor is of it. */
bool etw_live_memory_is(const struct etw_live_memory *memory, int fd);

/*
 * etw_live_memory_take() - the next piece of a batch; held until it is given back, by the number `first + count` from
 * before.
 *
 * @end:       the slot behind the batch
 * @ret_bytes: of the piece, its header included
 * @ret:       NULL: where it should be there is none, nor can the rest of the batch be found
 *
 * Returns 0 or -ENOMEM.
 */
int etw_live_memory_take(struct etw_live_memory *memory, uint64_t end, const uint8_t **ret,
			 uint32_t *ret_bytes);

/* etw_live_memory_end_batch() - a batch was taken whole: up to this slot, so many pieces. */
void etw_live_memory_end_batch(struct etw_live_memory *memory, uint64_t end, uint32_t pieces);

/* etw_live_memory_give_back() - a piece is not read any more. */
void etw_live_memory_give_back(struct etw_live_memory *memory, uint32_t number);

/* etw_live_memory_has() - whether the byte lies in it. */
static inline bool etw_live_memory_has(const struct etw_live_memory *memory, const uint8_t *at)
{
	const uint8_t *begin = (const uint8_t *)memory->page;

	return at >= begin && at < begin + memory->bytes;
}

/* etw_live_memory_is_scarce() - whether more than half of it is held. */
bool etw_live_memory_is_scarce(const struct etw_live_memory *memory);

#endif
