/* SPDX-License-Identifier: MIT */
/*
 * The extended items that sessions ask for with EnableProperty, each session its own. What only the host can vouch
 * for (whose event it is) is written here as an item without a value, which the host fills in when it takes the
 * event (session/common/vouch.h): nobody can so pretend to be another, and a writer needs no system call.
 * Source: docs/design/recording.md "Extended items".
 */
#ifndef ETW_PROVIDER_ITEMS_H
#define ETW_PROVIDER_ITEMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <evntcons.h>

#include "base/macros.h"
#include "provider/stack.h"
#include "wire/etl_event.h"

/* The properties that ask for an item of each event. */
#define ETW_ENABLE_ITEMS                                                         \
	(EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_SID |         \
	 EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | \
	 EVENT_ENABLE_PROPERTY_EVENT_KEY | EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)

/* What sessions' items of one event have in common. */
struct etw_items {
	uint64_t event_key;            /* the same in all sessions */
	const struct etw_stack *stack; /* where one is wanted */
};

/* etw_item_bytes() - of an item in the event: head, data and padding. */
static inline uint32_t etw_item_bytes(uint32_t data_bytes)
{
	return ALIGN_UP((uint32_t)sizeof(struct wire_extended_item) + data_bytes, 8);
}

/* etw_item_put_head() - the head of an item and its padding. Returns where its data is to be. */
static inline uint8_t *etw_item_put_head(uint8_t *at, uint16_t type, uint32_t data_bytes,
					 bool is_last)
{
	const struct wire_extended_item item = {
		.bytes = le16_of((uint16_t)etw_item_bytes(data_bytes)),
		.type = le16_of(type),
		.linkage = le16_of(is_last ? 0 : WIRE_EXTENDED_LINKAGE),
		.data_bytes = le16_of((uint16_t)data_bytes),
	};

	/* The padding first: it lies under the data's last word. */
	memset(at + etw_item_bytes(data_bytes) - 8, 0, 8);
	memcpy(at, &item, sizeof(item));
	return at + sizeof(item);
}

/*
 * etw_items_collect() - what all of @wanted (ETW_ENABLE_ITEMS, of all sessions of an event) need.
 *
 * @stack: room for one, which @ret borrows
 *
 * Context: any thread that is inside a write, signal-safe.
 */
void etw_items_collect(uint32_t wanted, struct etw_stack *stack, struct etw_items *ret);

/* etw_items_bytes() - of the items that a session asks for. */
uint32_t etw_items_bytes(const struct etw_items *items, uint32_t wanted);

/* etw_items_put() - lays them out. @is_last: no other items follow. Returns the end. */
uint8_t *etw_items_put(const struct etw_items *items, uint32_t wanted, bool is_last, uint8_t *at);

#endif
