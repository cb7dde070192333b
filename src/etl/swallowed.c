/* SPDX-License-Identifier: MIT */
#include "etl/swallowed.h"

#include <string.h>

/* The marker is the upper byte of an event's first dword, whatever its type. */
static inline bool is_marked(uint64_t word)
{
	uint32_t marker = (uint32_t)word & UINT32_C(0xFF000000);

	return marker == (uint32_t)WIRE_EVENT_FLAG_TRACE << 24 ||
	       marker == (uint32_t)WIRE_EVENT_FLAG_MESSAGE << 24;
}

/* Aligned places that could begin an event. In a sound block they are the events, and few others. */
static uint32_t count_marked(const uint8_t *at, uint32_t bytes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t word;

		memcpy(&word, at + i, sizeof(word));
		count += is_marked(word);
	}
	return count;
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

static bool holds_others(const struct etw_etl_block *block, const struct times *times,
			 struct etw_etl_swallowed *found)
{
	uint32_t offset = found->cursor.offset;
	uint32_t end = offset + found->cursor.event.bytes;

	for (uint32_t at = offset + WIRE_EVENT_ALIGNMENT; at + 8 <= end && found->steps_left;
	     at += WIRE_EVENT_ALIGNMENT) {
		uint64_t word;

		memcpy(&word, block->events + at, sizeof(word));
		if (!is_marked(word) || !is_chain(block, at, end, times, &found->steps_left))
			continue;
		found->offset = offset;
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
		if (!block->count ||
		    count_marked(block->events, block->event_bytes) <= block->count)
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
