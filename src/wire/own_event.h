/* SPDX-License-Identifier: MIT */
/*
 * Events that the host itself writes into a trace: they are TraceLogging events, which describe themselves, so that every
 * decoder of such events shows them. What all of them have in front of their payload is made here.
 *
 * The host alone writes them: their providers' events never come from a ring (session/common/check.h).
 * Source: docs/format/tracelogging.md.
 */
#ifndef ETW_WIRE_OWN_EVENT_H
#define ETW_WIRE_OWN_EVENT_H

#include <stdint.h>

#include <guiddef.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "wire/etl_event.h"

struct wire_own_event {
	const GUID *provider;
	const char *provider_name;
	const void *schema; /* the event's metadata, without the size in front */
	uint32_t schema_bytes;
	uint8_t level;
	uint32_t process_id, thread_id;
};

#define WIRE_OWN_NOBODY UINT32_MAX /* thread of the events that no thread wrote */

#define WIRE_OWN_ITEM_BYTES(data_bytes) \
	ALIGN_UP((uint32_t)(sizeof(struct wire_extended_item) + 2 + (data_bytes)), 8)

/* WIRE_OWN_HEAD_BYTES() - what is in front of the payload. @name_bytes: of the provider, with the NUL */
#define WIRE_OWN_HEAD_BYTES(name_bytes, schema_bytes)                                   \
	((uint32_t)sizeof(struct wire_event_header) + WIRE_OWN_ITEM_BYTES(name_bytes) + \
	 WIRE_OWN_ITEM_BYTES(schema_bytes))

/*
 * wire_own_event_begin() - the header but for the time, and what describes the event.
 *
 * @room: zeroed, large enough
 *
 * Returns where the payload begins.
 */
uint8_t *wire_own_event_begin(const struct wire_own_event *event, uint8_t *room);

/* wire_own_event_end() - @end: behind the payload. Returns the bytes of the event, not padded. */
uint32_t wire_own_event_end(uint8_t *room, const uint8_t *end);

/* wire_own_event_is() - whether the data of an item EVENT_SCHEMA_TL are this metadata. */
bool wire_own_event_is(struct etw_bytes item, const void *schema, uint32_t schema_bytes);

#endif
