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
#include "wire/etl_event.h"

struct etw_etl_event {
	const uint8_t *at;   /* the header; borrowed from the block */
	uint32_t bytes;      /* exact, without padding */
	uint8_t header_type; /* enum wire_header_type */
	bool has_time;       /* false: a WPP message without timestamp; time_raw is unset */
	int64_t time_raw;    /* session clock */
};

/* What the walk must know of a header type; zero for types that no file holds. */
struct etw_etl_header_shape {
	uint8_t bytes;   /* of the header */
	uint8_t size_at; /* offset of the size field */
	uint8_t time_at; /* offset of the raw time */
	uint8_t pointer_bytes;
};
extern const struct etw_etl_header_shape etw_etl_header_shapes[WIRE_HEADER_TYPES];

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
	const struct etw_etl_header_shape *shape;

	if (UNLIKELY(at[3] != WIRE_EVENT_FLAG_TRACE || at[2] >= WIRE_HEADER_TYPES ||
		     (at[2] & 0xFE) == WIRE_HEADER_PERFINFO32))
		return etw_etl_event_peek_rare(at, left, ret);
	shape = &etw_etl_header_shapes[at[2]];
	if (UNLIKELY(!shape->bytes))
		return etw_etl_event_peek_rare(at, left, ret);

	uint32_t bytes = etw_load16(at + shape->size_at);

	if (UNLIKELY(bytes < shape->bytes))
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

/*
 * etw_etl_message_layout() - the offsets of a WPP message's optional words.
 *
 * All offsets are from the header's start; 0 means absent.
 */
struct etw_etl_message_layout {
	uint8_t sequence, guid, component, time, system_info;
	uint8_t header_bytes; /* where the arguments begin */
};
struct etw_etl_message_layout etw_etl_message_layout(uint16_t options);

/* etw_etl_perfinfo_words() - u64 words between a PERFINFO header and its payload, 0 to 8. */
static inline unsigned etw_etl_perfinfo_words(uint16_t version)
{
	return (version & WIRE_PERFINFO_PEBS_INDEX ? 1u : 0u) +
	       ((version & WIRE_PERFINFO_COUNTER_MASK) >> 8);
}

#endif
