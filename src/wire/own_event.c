/* SPDX-License-Identifier: MIT */
#include "wire/own_event.h"

#include <string.h>

#include <evntcons.h>

#include "base/guid.h"

#define CHANNEL_TRACELOGGING 11

/* An item whose data begin with their own size. Returns where the next one stands. */
static uint8_t *put_item(uint8_t *at, uint16_t type, const void *data, uint32_t data_bytes,
			 bool is_last)
{
	uint8_t *to = at + sizeof(struct wire_extended_item);
	uint32_t bytes = WIRE_OWN_ITEM_BYTES(data_bytes);

	etw_store16(at, (uint16_t)bytes);
	etw_store16(at + 2, type);
	etw_store16(at + 4, is_last ? 0 : WIRE_EXTENDED_LINKAGE);
	etw_store16(at + 6, (uint16_t)(data_bytes + 2));
	etw_store16(to, (uint16_t)(data_bytes + 2));
	memcpy(to + 2, data, data_bytes);
	return at + bytes;
}

uint8_t *wire_own_event_begin(const struct wire_own_event *event, uint8_t *room)
{
	uint8_t *at = room + sizeof(struct wire_event_header);

	at = put_item(at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, event->provider_name,
		      (uint32_t)strlen(event->provider_name) + 1, false);
	at = put_item(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, event->schema, event->schema_bytes,
		      true);
	room[2] = sizeof(void *) == 8 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32;
	room[3] = WIRE_EVENT_FLAG_TRACE;
	etw_store16(room + 0x04, WIRE_EVENT_EXTENDED_INFO);
	etw_store32(room + 0x08, event->thread_id);
	etw_store32(room + 0x0C, event->process_id);
	etw_guid_write(room + 0x18, event->provider);
	room[0x2B] = CHANNEL_TRACELOGGING;
	room[0x2C] = event->level;
	return at;
}

uint32_t wire_own_event_end(uint8_t *room, const uint8_t *end)
{
	uint32_t bytes = (uint32_t)(end - room);

	etw_store16(room, (uint16_t)bytes);
	return bytes;
}

bool wire_own_event_is(struct etw_bytes item, const void *schema, uint32_t schema_bytes)
{
	return item.left == schema_bytes + 2 && etw_load16(item.at) == schema_bytes + 2 &&
	       memcmp(item.at + 2, schema, schema_bytes) == 0;
}
