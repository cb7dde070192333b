/* SPDX-License-Identifier: MIT */
#include "etl/swallowed.h"

#include <assert.h>

/* Bits of an event's first dword: markers 0xC0 and 0x90 have these in common, and no type or version is above 31. */
#define MARK_MASK UINT32_C(0xAFE00000)
#define MARK      UINT32_C(0x80000000)

static_assert(((uint32_t)WIRE_EVENT_FLAG_TRACE << 24 & MARK_MASK) == MARK, "found by it");
static_assert(((uint32_t)WIRE_EVENT_FLAG_MESSAGE << 24 & MARK_MASK) == MARK, "found by it");
static_assert(WIRE_HEADER_TYPES <= 32, "found by it");

/* The next aligned place that could begin an event; few others look so. @end or more when there is none. */
static uint32_t next_marked(const struct etw_etl_block *block, uint32_t at, uint32_t end)
{
	while (at + 8 <= end && LIKELY((etw_load32(block->events + at) & MARK_MASK) != MARK))
		at += WIRE_EVENT_ALIGNMENT;
	return at + 8 <= end ? at : end;
}

struct times {
	int64_t from, to;
};

/* Whether a chain of sound events of these times leads from @at exactly to @end. */
static bool is_chain(const struct etw_etl_block *block, uint32_t at, uint32_t end,
		     const struct times *times, uint32_t *steps_left)
{
	while (at < end) {
		struct etw_etl_event event;

		if (!*steps_left || end - at < 8 ||
		    etw_etl_event_peek(block->events + at, end - at, &event) || event.bytes < 8 ||
		    !event.has_time || event.time_raw < times->from || event.time_raw > times->to)
			return false;
		--*steps_left;
		at = ALIGN_UP(at + event.bytes, WIRE_EVENT_ALIGNMENT);
	}
	/* The size of the outer one may leave the padding of the last one out. */
	return at == ALIGN_UP(end, WIRE_EVENT_ALIGNMENT);
}

/* Behind the header, as far as its length is known without a closer look. */
static uint32_t payload_of(const struct etw_etl_cursor *cursor)
{
	uint8_t type = cursor->event.header_type;
	uint32_t header = type < WIRE_HEADER_TYPES ? wire_event_shapes[type].header_bytes : 0;

	return cursor->offset + (header > WIRE_EVENT_ALIGNMENT
					 ? header / WIRE_EVENT_ALIGNMENT * WIRE_EVENT_ALIGNMENT
					 : WIRE_EVENT_ALIGNMENT);
}

static bool holds_others(const struct etw_etl_block *block, const struct times *times,
			 struct etw_etl_swallowed *found)
{
	uint32_t end = found->cursor.offset + found->cursor.event.bytes;
	uint32_t at = next_marked(block, payload_of(&found->cursor), end);

	for (; at < end && found->steps_left;
	     at = next_marked(block, at + WIRE_EVENT_ALIGNMENT, end)) {
		if (!is_chain(block, at, end, times, &found->steps_left))
			continue;
		found->offset = found->cursor.offset;
		found->inner = at;
		found->bytes = end - at;
		return true;
	}
	return false;
}

bool etw_etl_swallowed_find(const struct etw_etl_block *block, struct etw_etl_swallowed *found)
{
	struct times times = {block->first_raw, block->last_raw};
	bool goes_on;

	if (found->cursor.block) {
		goes_on = etw_etl_cursor_next(&found->cursor);
	} else {
		if (!block->count)
			return false;
		found->steps_left = block->event_bytes;
		goes_on = etw_etl_cursor_start(&found->cursor, block);
	}
	/* What the last event of a buffer hides is younger than it, but not than the flush. */
	if (block->buffer.time_raw > times.to)
		times.to = block->buffer.time_raw;
	for (; goes_on; goes_on = etw_etl_cursor_next(&found->cursor)) {
		if (holds_others(block, &times, found))
			return true;
	}
	return false;
}
