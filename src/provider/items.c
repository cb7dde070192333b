/* SPDX-License-Identifier: MIT */
#include "provider/items.h"

#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "provider/fork.h"
#include "wire/event_shape.h"

/* In the order in which they are written. Windows' own is not known but for 1, 6, 12, 11. */
static const struct item {
	uint32_t property;
	uint16_t type;
	uint16_t data_bytes;
} kinds[] = {
	{EVENT_ENABLE_PROPERTY_SID, EVENT_HEADER_EXT_TYPE_SID, WIRE_RING_SID_BYTES},
	{EVENT_ENABLE_PROPERTY_TS_ID, EVENT_HEADER_EXT_TYPE_TS_ID, 4},
	{EVENT_ENABLE_PROPERTY_EVENT_KEY, EVENT_HEADER_EXT_TYPE_EVENT_KEY, 8},
	{EVENT_ENABLE_PROPERTY_PROCESS_START_KEY, EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, 8},
	{EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING, EVENT_HEADER_EXT_TYPE_CONTAINER_ID, 16},
};

void etw_items_collect(uint32_t wanted, struct etw_items *ret)
{
	if (wanted & EVENT_ENABLE_PROPERTY_EVENT_KEY)
		ret->event_key = etw_fork_next_key();
}

uint32_t etw_items_bytes(const struct etw_items *items, uint32_t wanted)
{
	uint32_t bytes = 0;

	(void)items;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (wanted & kinds[i].property)
			bytes += etw_item_bytes(kinds[i].data_bytes);
	}
	return bytes;
}

uint8_t *etw_items_put(const struct etw_items *items, uint32_t wanted, bool is_last, uint8_t *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct item *kind = &kinds[i];
		uint8_t *data;

		if (!(wanted & kind->property))
			continue;
		wanted &= ~kind->property;
		data = etw_item_put_head(at, kind->type, kind->data_bytes, is_last && !wanted);
		if (kind->property == EVENT_ENABLE_PROPERTY_EVENT_KEY)
			etw_store64(data, items->event_key);
		else
			memset(data, 0, kind->data_bytes);
		at += etw_item_bytes(kind->data_bytes);
	}
	return at;
}
