/* SPDX-License-Identifier: MIT */
/*
 * How an event lies in a ring: its header, and the fields behind it. For every writer, and inline, because the write
 * path of an event is. Where in a ring the event lies is the writer's business.
 */
#ifndef ETW_PROVIDER_EVENT_LAYOUT_H
#define ETW_PROVIDER_EVENT_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <evntprov.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "wire/etl_event.h"

#define ETW_EVENT_BYTES_MAX 65535 /* header, items and payload */

/* Below it nothing can be read: a null pointer, or a member of what would lie there. */
#define ETW_EVENT_ADDRESS_MIN 4096

#define ETW_EVENT_HEADER_TYPE (sizeof(void *) == 8 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32)

typedef uint64_t etw_event_words __attribute__((vector_size(16)));

static inline void etw_event_copy_16(uint8_t *to, const uint8_t *from)
{
	etw_event_words words;

	memcpy(&words, from, 16);
	memcpy(to, &words, 16);
}

/* More than 16 bytes, without a call. The last piece may lie over the one before. */
static inline void etw_event_copy_pieces(uint8_t *to, const uint8_t *from, size_t bytes)
{
	size_t at = 0;

	for (; at + 32 < bytes; at += 32) {
		etw_event_copy_16(to + at, from + at);
		etw_event_copy_16(to + at + 16, from + at + 16);
	}
	if (at + 16 < bytes)
		etw_event_copy_16(to + at, from + at);
	etw_event_copy_16(to + bytes - 16, from + bytes - 16);
}

/*
 * At most 16 bytes. Fields are mostly so short: a call of memcpy() would cost more than they do. Words may overlap. What an
 * event costs is stores above all, so a word alone is one.
 */
static inline void etw_event_copy_short(uint8_t *to, const uint8_t *from, size_t bytes)
{
	uint64_t first, last;

	if (LIKELY(bytes == 8)) {
		memcpy(&first, from, 8);
		memcpy(to, &first, 8);
	} else if (bytes > 8) {
		memcpy(&first, from, 8);
		memcpy(&last, from + bytes - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + bytes - 8, &last, 8);
	} else if (bytes >= 4) {
		memcpy(&first, from, 4);
		memcpy(&last, from + bytes - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + bytes - 4, &last, 4);
	} else if (bytes >= 2) { /* counts above all */
		uint16_t head, tail;

		memcpy(&head, from, 2);
		memcpy(&tail, from + bytes - 2, 2);
		memcpy(to, &head, 2);
		memcpy(to + bytes - 2, &tail, 2);
	} else if (bytes) {
		to[0] = from[0];
	}
}

#define ETW_EVENT_PIECES_MAX 512 /* bytes; beyond them memcpy() is faster than pieces are */

static inline void etw_event_copy_field(uint8_t *to, const uint8_t *from, size_t bytes)
{
	if (LIKELY(bytes <= 16))
		etw_event_copy_short(to, from, bytes);
	else if (bytes <= ETW_EVENT_PIECES_MAX)
		etw_event_copy_pieces(to, from, bytes);
	else
		memcpy(to, from, bytes);
}

/*
 * Copies the descriptors of a type; all of them, where none has one that means something. @left: what was
 * measured; a program that changes descriptors while they are written gets a wrong event, and nobody else
 * does. Returns false where a descriptor names bytes that cannot be there: the event is none.
 */
static inline bool etw_event_copy_fields(const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
					 bool is_mixed, unsigned type, uint8_t *at, size_t left)
{
	for (uint32_t i = 0; i < data_count; i++) {
		size_t bytes = data[i].Size;

		if (is_mixed && data[i].Type != type)
			continue;
		/* An empty one may have any address. */
		if (UNLIKELY(data[i].Ptr < ETW_EVENT_ADDRESS_MIN) && bytes)
			return false;
		if (UNLIKELY(bytes > left))
			bytes = left;
		etw_event_copy_field(at, (const uint8_t *)(uintptr_t)data[i].Ptr, bytes);
		at += bytes;
		left -= bytes;
	}
	return true;
}

/* bytes, header_type, header_flag, flags, property: one store. */
static inline void etw_event_put_start(uint8_t *at, uint32_t bytes, uint64_t flags)
{
	etw_store64(at, bytes | (uint64_t)ETW_EVENT_HEADER_TYPE << 16 |
				(uint64_t)WIRE_EVENT_FLAG_TRACE << 24 | flags << 32);
}

/* The part of the header that differs from ring to ring. */
static inline void etw_event_put_origin(uint8_t *at, uint32_t thread_id, uint32_t process_id,
					int64_t time_raw)
{
	uint8_t *time_at = at + offsetof(struct wire_event_header, time_raw);

	etw_store64(at + offsetof(struct wire_event_header, thread_id),
		    thread_id | (uint64_t)process_id << 32);
	/* Two stores: the compiler would make it one, by way of memory and a register of another kind. */
	__asm__("" : "+r"(time_at));
	etw_store64(time_at, (uint64_t)time_raw);
}

/* From the event descriptor to the activity id. An EVENT_DESCRIPTOR is stored as it is in memory: id to keyword. */
static inline void etw_event_put_rest(uint8_t *at, const EVENT_DESCRIPTOR *descriptor,
				      const GUID *activity)
{
	static_assert(sizeof(EVENT_DESCRIPTOR) == offsetof(struct wire_event_header, kernel_ticks) -
							  offsetof(struct wire_event_header, id),
		      "layout");
	etw_event_copy_16(at + offsetof(struct wire_event_header, id), (const uint8_t *)descriptor);
	etw_store64(at + offsetof(struct wire_event_header, kernel_ticks), 0);
	etw_event_copy_16(at + offsetof(struct wire_event_header, activity),
			  (const uint8_t *)activity);
}

/* @provider: the GUID's bytes, as they were loaded: in a register where there is one for them */
static inline void etw_event_put_provider(uint8_t *at, const void *provider)
{
	memcpy(at + offsetof(struct wire_event_header, provider), provider, sizeof(GUID));
}

/* The bytes of an item: its head, its data, and what pads it. */
static ALWAYS_INLINE uint32_t etw_event_item_bytes(uint32_t data_bytes)
{
	return ALIGN_UP((uint32_t)sizeof(struct wire_extended_item) + data_bytes, 8);
}

/* The first 8 bytes of an item whose data has up to 65535. */
static ALWAYS_INLINE uint64_t etw_event_item_head(uint16_t type, uint32_t data_bytes, bool is_last)
{
	return etw_event_item_bytes(data_bytes) | (uint64_t)type << 16 |
	       (uint64_t)(is_last ? 0 : WIRE_EXTENDED_LINKAGE) << 32 | (uint64_t)data_bytes << 48;
}

/* The head of an item and its padding: the data is to come, behind them. */
static ALWAYS_INLINE void etw_event_put_item_head(uint8_t *at, uint16_t type, uint32_t data_bytes,
						  bool is_last)
{
	/* The padding first: it lies under the data's last word. */
	etw_store64(at + etw_event_item_bytes(data_bytes) - 8, 0);
	etw_store64(at, etw_event_item_head(type, data_bytes, is_last));
}

#endif
