/* SPDX-License-Identifier: MIT */
#include "wire/ring_message.h"

#include <stddef.h>
#include <string.h>

#include "wire/event_shape.h"

#define OPTIONS                                                               \
	(WIRE_MESSAGE_SEQUENCE | WIRE_MESSAGE_GUID | WIRE_MESSAGE_COMPONENT | \
	 WIRE_RING_MESSAGE_NEEDS | WIRE_MESSAGE_POINTER32 | WIRE_MESSAGE_POINTER64)
#define WHO_MAX 16 /* a GUID, or a component */

static uint16_t options_of(const uint8_t *event)
{
	return etw_load16(event + offsetof(struct wire_ring_message, options));
}

uint32_t wire_ring_message_head(uint16_t options)
{
	const uint16_t who = options & (WIRE_MESSAGE_GUID | WIRE_MESSAGE_COMPONENT);

	if ((options & WIRE_RING_MESSAGE_NEEDS) != WIRE_RING_MESSAGE_NEEDS || options & ~OPTIONS ||
	    who == (WIRE_MESSAGE_GUID | WIRE_MESSAGE_COMPONENT))
		return 0;
	return wire_message_layout(options).header_bytes;
}

bool wire_ring_message_is_sound(const uint8_t *event, uint32_t bytes)
{
	const uint32_t head = wire_ring_message_head(options_of(event));

	return head && head <= bytes;
}

bool wire_ring_message_has_sequence(const uint8_t *event)
{
	return options_of(event) & WIRE_MESSAGE_SEQUENCE;
}

void wire_ring_message_unpack(uint8_t *event, uint32_t sequence)
{
	const struct wire_message_layout layout = wire_message_layout(options_of(event));
	struct wire_ring_message head;
	struct wire_message_header message;
	uint8_t who[WHO_MAX];

	memcpy(&head, event, sizeof(head));
	if (layout.guid || layout.component)
		memcpy(who, event + sizeof(head), layout.guid ? WHO_MAX : sizeof(uint32_t));
	message = (struct wire_message_header){
		.bytes = head.bytes,
		.header_flag = WIRE_EVENT_FLAG_MESSAGE,
		.number = head.number,
		.options = head.options,
	};
	memcpy(event, &message, sizeof(message));
	if (layout.sequence)
		etw_store32(event + layout.sequence, sequence);
	if (layout.guid)
		memcpy(event + layout.guid, who, WHO_MAX);
	else if (layout.component)
		memcpy(event + layout.component, who, sizeof(uint32_t));
	memcpy(event + layout.time, &head.time_raw, sizeof(head.time_raw));
	memcpy(event + layout.system_info, &head.thread_id, sizeof(head.thread_id));
	memcpy(event + layout.system_info + sizeof(head.thread_id), &head.process_id,
	       sizeof(head.process_id));
}
