/* SPDX-License-Identifier: MIT */
/*
 * The shape of an event, in one place: which header types there are, where each has its size, time, process,
 * provider and items, and which of them may come from where. The readers of rings and of files and the
 * check of events all go by this table.
 *
 * | origin                 | what may come from there                                                    |
 * |------------------------|-----------------------------------------------------------------------------|
 * | a file                 | every type in the table, and WPP messages                                   |
 * | a source of the host's | SYSTEM, COMPACT, PERFINFO and EVENT                                         |
 * | a ring of user mode    | EVENT, FULL and INSTANCE; messages in a form of their own                   |
 * |                        | (wire/ring_message.h), which says whose they are and when they were written |
 *
 * Source: docs/format/etl.md "Event headers".
 */
#ifndef ETW_WIRE_EVENT_SHAPE_H
#define ETW_WIRE_EVENT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "wire/etl_event.h"

enum wire_event_origin {
	WIRE_ORIGIN_FILE = 0x1,
	WIRE_ORIGIN_SOURCE = 0x2,
	WIRE_ORIGIN_RING = 0x4,
};

/* Offsets are from the header's start; WIRE_NOWHERE: the type has no such field. */
#define WIRE_NOWHERE 0xFF
struct wire_event_shape {
	uint8_t header_bytes; /* 0: a type that nobody writes */
	uint8_t size_at;
	uint8_t time_at;
	uint8_t pointer_bytes;
	uint8_t thread_at;   /* the process's id is the next dword */
	uint8_t provider_at; /* a GUID */
	uint8_t origins;     /* enum wire_event_origin */
	uint8_t has_items;   /* extended items behind the header, when `flags` say so */
};
extern const struct wire_event_shape wire_event_shapes[WIRE_HEADER_TYPES];

/* A message in a ring. Not in the table: a file has no such header. */
extern const struct wire_event_shape wire_event_ring_message;

/* What `flags` of an EVENT header from a ring may have: what EventWrite and EventWriteString set. */
#define WIRE_RING_EVENT_FLAGS (WIRE_EVENT_EXTENDED_INFO | 0x0004)

/* Items whose values are the host's to fill in: what they say is whose event it is. */
#define WIRE_RING_SID_BYTES 16 /* S-1-22-1-<uid>, as etw_sid_of_uid() makes it */
#define WIRE_RING_ITEMS_VOUCHED \
	(1u << 0x02 | 1u << 0x03 | 1u << 0x05 | 1u << 0x06 | 1u << 0x0D | 1u << 0x10)
#define WIRE_RING_STACK_FRAMES_MAX 192

/*
 * wire_event_ring_item() - whether a ring's event may have an item of this type and size: those that EventWrite makes
 * of what its caller gave (related activity, schema, traits), and those that a session asks for: event key, stack, and
 * the vouched ones, whose values in a ring mean nothing.
 */
static inline bool wire_event_ring_item(uint16_t type, uint32_t data_bytes)
{
	switch (type) {
	case 0x01: /* related activity */
	case 0x10: /* container */
	case 0x02:
		return data_bytes == 16;
	case 0x03: /* session */
		return data_bytes == 4;
	case 0x0A: /* event key */
	case 0x0D: /* process start key */
		return data_bytes == 8;
	case 0x05: /* stack, of a number and addresses */
		return data_bytes >= 8 && data_bytes % 4 == 0 &&
		       data_bytes <= 8 + 4 * WIRE_RING_STACK_FRAMES_MAX;
	case 0x06:
		return data_bytes >= 8 && data_bytes % 8 == 0 &&
		       data_bytes <= 8 + 8 * WIRE_RING_STACK_FRAMES_MAX;
	case 0x0B: /* schema */
	case 0x0C: /* traits */
		return true;
	default:
		return false;
	}
}

/*
 * wire_event_ring_shape() - the shape of an event that a ring may hold.
 *
 * @event: a copy, at least 8 bytes
 *
 * Returns NULL for what a ring must not hold.
 */
static inline const struct wire_event_shape *wire_event_ring_shape(const uint8_t *event)
{
	uint8_t type = event[offsetof(struct wire_event_header, header_type)];
	const struct wire_event_shape *shape;

	if (UNLIKELY(event[offsetof(struct wire_event_header, header_flag)] !=
			     WIRE_EVENT_FLAG_TRACE ||
		     type >= WIRE_HEADER_TYPES))
		return NULL;
	shape = &wire_event_shapes[type];
	if (LIKELY(shape->origins & WIRE_ORIGIN_RING))
		return shape;
	return type == WIRE_HEADER_MESSAGE ? &wire_event_ring_message : NULL;
}

/*
 * wire_event_ring_time() - the raw time as the header in a ring says, unchecked and not copied yet: 0 where it is
 * none that a ring may hold.
 *
 * @bytes: of the event, at least 8
 */
static inline int64_t wire_event_ring_time(const uint8_t *event, uint32_t bytes)
{
	/* Of all types that a ring may hold: one load decides nothing else. */
	static_assert(offsetof(struct wire_full_header, time_raw) ==
			      offsetof(struct wire_event_header, time_raw),
		      "one place");
	const uint32_t at = offsetof(struct wire_event_header, time_raw);

	if (UNLIKELY(bytes < at + 8))
		return 0;
	return (int64_t)etw_load64(event + at);
}

/*
 * wire_message_layout() - the offsets of a WPP message's optional words.
 *
 * All offsets are from the header's start; 0 means absent.
 */
struct wire_message_layout {
	uint8_t sequence, guid, component, time, system_info;
	uint8_t header_bytes; /* where the arguments begin */
};
struct wire_message_layout wire_message_layout(uint16_t options);

/* wire_perfinfo_words() - u64 words between a PERFINFO header and its payload, 0 to 8. */
static inline unsigned wire_perfinfo_words(uint16_t version)
{
	return (version & WIRE_PERFINFO_PEBS_INDEX ? 1u : 0u) +
	       ((version & WIRE_PERFINFO_COUNTER_MASK) >> 8);
}

#endif
