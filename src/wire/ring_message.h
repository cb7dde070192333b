/* SPDX-License-Identifier: MIT */
/*
 * A message of TraceMessage() in a ring. In a buffer of a trace a message has its parts in an order of its own, at places
 * that depend on its options (struct wire_message_header); there a ring's reader could not find its time, nor the
 * check its process. So in a ring they lie where those of all events do, and the host puts them into the other order, in
 * place: both take the same bytes.
 *
 * | part                                   | at                  |
 * |----------------------------------------|---------------------|
 * | struct wire_ring_message               | 0                   |
 * | GUID, or component, if there is one    | 24                  |
 * | sequence number, if there is one: zero | behind that         |
 * | arguments                              | behind that         |
 */
#ifndef ETW_WIRE_RING_MESSAGE_H
#define ETW_WIRE_RING_MESSAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "wire/etl_event.h"

struct wire_ring_message {
	le16 bytes;
	uint8_t header_type; /* WIRE_HEADER_MESSAGE */
	uint8_t header_flag; /* WIRE_EVENT_FLAG_TRACE */
	le16 number;         /* 0x04 */
	le16 options;   /* 0x06 enum wire_message_option; with TIMESTAMP and SYSTEM_INFO always */
	le32 thread_id; /* 0x08 */
	le32 process_id;
	le64 time_raw; /* 0x10 */
};
static_assert(sizeof(struct wire_ring_message) == offsetof(struct wire_full_header, guid) &&
		      offsetof(struct wire_ring_message, thread_id) ==
			      offsetof(struct wire_full_header, thread_id) &&
		      offsetof(struct wire_ring_message, time_raw) ==
			      offsetof(struct wire_full_header, time_raw),
	      "wire_event_ring_message says so");

/* Without them nothing says whose a message is, and when it was. */
#define WIRE_RING_MESSAGE_NEEDS (WIRE_MESSAGE_TIMESTAMP | WIRE_MESSAGE_SYSTEM_INFO)

/* wire_ring_message_head() - the bytes in front of the arguments; 0 for options that no ring may hold. */
uint32_t wire_ring_message_head(uint16_t options);

/* wire_ring_message_is_sound() - @bytes: at least those of struct wire_ring_message */
bool wire_ring_message_is_sound(const uint8_t *event, uint32_t bytes);

/* wire_ring_message_has_sequence() - of a sound one. */
bool wire_ring_message_has_sequence(const uint8_t *event);

/* wire_ring_message_unpack() - makes a sound one what a trace holds. @sequence: where it has one */
void wire_ring_message_unpack(uint8_t *event, uint32_t sequence);

#endif
