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

#define STACK_TYPE                                                 \
	(sizeof(void *) == 8 ? EVENT_HEADER_EXT_TYPE_STACK_TRACE64 \
			     : EVENT_HEADER_EXT_TYPE_STACK_TRACE32)

void etw_items_collect(uint32_t wanted, struct etw_stack *stack, struct etw_items *ret)
{
	if (wanted & EVENT_ENABLE_PROPERTY_EVENT_KEY)
		ret->event_key = etw_fork_next_key();
	if (wanted & EVENT_ENABLE_PROPERTY_STACK_TRACE) {
		etw_stack_walk(stack);
		ret->stack = stack;
	}
}

/* A number by which halves of stacks are joined, then the addresses. */
static uint32_t stack_data_bytes(const struct etw_items *items)
{
	return (uint32_t)(sizeof(uint64_t) + items->stack->count * sizeof(uintptr_t));
}

uint32_t etw_items_bytes(const struct etw_items *items, uint32_t wanted)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (wanted & kinds[i].property)
			bytes += etw_item_bytes(kinds[i].data_bytes);
	}
	if (wanted & EVENT_ENABLE_PROPERTY_STACK_TRACE)
		bytes += etw_item_bytes(stack_data_bytes(items));
	return bytes;
}

static uint8_t *put_stack(const struct etw_items *items, bool is_last, uint8_t *at)
{
	const uint32_t bytes = stack_data_bytes(items);
	uint8_t *data = etw_item_put_head(at, STACK_TYPE, bytes, is_last);

	etw_store64(data, 0);
	memcpy(data + sizeof(uint64_t), items->stack->frames, bytes - sizeof(uint64_t));
	return at + etw_item_bytes(bytes);
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
	return wanted & EVENT_ENABLE_PROPERTY_STACK_TRACE ? put_stack(items, is_last, at) : at;
}
