/* SPDX-License-Identifier: MIT */
/* The events of a buffer in memory, and a cursor that goes over them. etl/block.h fills one. */
#ifndef ETW_ETL_CURSOR_H
#define ETW_ETL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/buffer.h"
#include "etl/event.h"

/* Where an event lies in a block; kept only where stepping by size would not do. */
struct etw_etl_place {
	uint32_t offset; /* from the end of the buffer header */
	int64_t time_raw;
};

struct etw_etl_block {
	struct etw_etl_buffer buffer;
	uint8_t *memory; /* owned: the buffer as on disk, with its header */
	size_t memory_room;
	uint8_t *unpacked; /* owned: the events of a compressed buffer */
	size_t unpacked_room;
	const uint8_t
		*raw; /* the buffer as it was stored, with its header: `memory`, or borrowed */
	uint32_t raw_bytes;    /* what is there of it */
	const uint8_t *events; /* the first event; in `raw` or in `unpacked` */
	uint32_t event_bytes;  /* valid ones from there */
	uint32_t packed_rest;  /* bytes behind a compressed buffer's data; 0 as a rule */
	uint32_t count;        /* events */
	int64_t first_raw;     /* of the first in delivery order; unset without events */
	int64_t last_raw;
	struct etw_etl_place *places; /* owned; where events are, unless is_stepped */
	size_t places_room;
	bool is_stepped; /* events follow each other by size and never run back: `places` says nothing */
	bool is_unchecked; /* fetched: each event is checked when a cursor comes to it */
};

/*
 * etw_etl_event_at() - the event at a place of a block.
 *
 * @offset: from the end of the buffer header
 *
 * Returns NULL, or a static sentence that says why there is none.
 */
const char *etw_etl_event_at(const struct etw_etl_block *block, uint32_t offset,
			     struct etw_etl_event *ret);

/* A place in a block's events, in order of delivery. */
struct etw_etl_cursor {
	const struct etw_etl_block *block;
	struct etw_etl_event event; /* the current one; unset at the end */
	uint32_t offset;            /* of the current event, from the end of the buffer header */
	uint32_t
		index; /* of the current event; block->count at the end, less where the block is cut */
};

/* etw_etl_cursor_start() - goes to the first event. Returns false when the block has none. */
bool etw_etl_cursor_start(struct etw_etl_cursor *cursor, const struct etw_etl_block *block);

/* etw_etl_cursor_place() - etw_etl_cursor_next() for blocks that are not stepped, or not checked. */
bool etw_etl_cursor_place(struct etw_etl_cursor *cursor);

/* etw_etl_cursor_next() - goes to the next event. Returns false at the end. */
static inline bool etw_etl_cursor_next(struct etw_etl_cursor *cursor)
{
	const struct etw_etl_block *block = cursor->block;

	if (UNLIKELY(!block->is_stepped))
		return etw_etl_cursor_place(cursor);
	if (++cursor->index >= block->count)
		return false;
	cursor->offset += ALIGN_UP(cursor->event.bytes, WIRE_EVENT_ALIGNMENT);
	/* Checked when the block was loaded, and nobody else can write the block's memory. */
	(void)etw_etl_event_peek(block->events + cursor->offset,
				 block->event_bytes - cursor->offset, &cursor->event);
	return true;
}

#endif
