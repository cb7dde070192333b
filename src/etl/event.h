/* SPDX-License-Identifier: MIT */
/*
 * One event in a buffer, as far as walking and merging need it: where it ends and when it happened. What
 * its header says beyond that is the business of consumer/record.h.
 */
#ifndef ETW_ETL_EVENT_H
#define ETW_ETL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "wire/etl_buffer.h"
#include "wire/event_shape.h"

struct etw_etl_event {
	const uint8_t *at;   /* the header; borrowed from the block */
	uint32_t bytes;      /* exact, without padding */
	uint8_t header_type; /* enum wire_header_type */
	bool has_time;       /* false: a WPP message without timestamp; time_raw is unset */
	int64_t time_raw;    /* session clock */
};

/*
 * etw_etl_event_peek_rare() - etw_etl_event_peek() for headers that carry optional words.
 *
 * Returns NULL, or a static sentence that says why the bytes are no event.
 */
const char *etw_etl_event_peek_rare(const uint8_t *at, size_t left, struct etw_etl_event *ret);

/*
 * etw_etl_event_peek() - recognises the event at @at.
 *
 * @left: bytes up to the end of the buffer's valid part, at least 8
 *
 * Returns NULL with @ret filled, or a static sentence that says why the bytes are no event. An event
 * that is returned lies within @left and is at least as long as its header.
 */
static inline const char *etw_etl_event_peek(const uint8_t *at, size_t left,
					     struct etw_etl_event *ret)
{
	const struct wire_event_shape *shape;

	if (UNLIKELY(at[3] != WIRE_EVENT_FLAG_TRACE || at[2] >= WIRE_HEADER_TYPES ||
		     (at[2] & 0xFE) == WIRE_HEADER_PERFINFO32))
		return etw_etl_event_peek_rare(at, left, ret);
	shape = &wire_event_shapes[at[2]];
	if (UNLIKELY(!shape->header_bytes))
		return etw_etl_event_peek_rare(at, left, ret);

	uint32_t bytes = etw_load16(at + shape->size_at);

	if (UNLIKELY(bytes < shape->header_bytes))
		return "the event is shorter than its header";
	if (UNLIKELY(bytes > left))
		return "the event reaches beyond its buffer";
	ret->at = at;
	ret->bytes = bytes;
	ret->header_type = at[2];
	ret->has_time = true;
	ret->time_raw = (int64_t)etw_load64(at + shape->time_at);
	return NULL;
}

#endif
