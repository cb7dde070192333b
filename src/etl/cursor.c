/* SPDX-License-Identifier: MIT */
#include "etl/cursor.h"

const char *etw_etl_event_at(const struct etw_etl_block *block, uint32_t offset,
			     struct etw_etl_event *ret)
{
	if (block->event_bytes - offset < 8)
		return "too few bytes for an event are left at the end";
	if (etw_load32(block->events + offset) == WIRE_EVENT_END_MARK)
		return "an end mark stands before the buffer's end";
	return etw_etl_event_peek(block->events + offset, block->event_bytes - offset, ret);
}

/* The next event of a block that was not checked, at cursor->index: where it is none, the block ends. */
static bool step_unchecked(struct etw_etl_cursor *cursor)
{
	const struct etw_etl_block *block = cursor->block;
	uint32_t offset = cursor->index ? cursor->offset + ALIGN_UP(cursor->event.bytes,
								    WIRE_EVENT_ALIGNMENT)
					: 0;

	if (offset >= block->event_bytes || etw_etl_event_at(block, offset, &cursor->event) ||
	    !cursor->event.has_time)
		return false;
	cursor->offset = offset;
	return true;
}

bool etw_etl_cursor_place(struct etw_etl_cursor *cursor)
{
	const struct etw_etl_block *block = cursor->block;

	if (++cursor->index >= block->count)
		return false;
	if (block->is_unchecked)
		return step_unchecked(cursor);

	const struct etw_etl_place *place = &block->places[cursor->index];

	cursor->offset = place->offset;
	(void)etw_etl_event_peek(block->events + place->offset, block->event_bytes - place->offset,
				 &cursor->event);
	cursor->event.time_raw = place->time_raw;
	return true;
}

bool etw_etl_cursor_start(struct etw_etl_cursor *cursor, const struct etw_etl_block *block)
{
	*cursor = (struct etw_etl_cursor){.block = block, .index = UINT32_MAX};
	if (!block->count)
		return false;
	if (!block->is_stepped)
		return etw_etl_cursor_place(cursor);
	cursor->index = 0;
	(void)etw_etl_event_peek(block->events, block->event_bytes, &cursor->event);
	return true;
}
