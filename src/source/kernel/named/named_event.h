/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an event with an EVENT_HEADER, as EventWrite makes them: header, extended items, payload.
 * Source: docs/design/recording.md "Extended items".
 */
#ifndef ETW_SOURCE_KERNEL_NAMED_NAMED_EVENT_H
#define ETW_SOURCE_KERNEL_NAMED_NAMED_EVENT_H

#include "source/kernel/bpf/records.h"
#include "source/kernel/bpf/stack_records.h"
#include "source/kernel/named/named.h"

/* Header, payload, stack, and the other items, which are short. */
#define ETW_KERNEL_NAMED_EVENT_MAX \
	(80 + ETW_KERNEL_NAMED_PAYLOAD_MAX + 16 + ETW_KERNEL_FRAMES * 8 + 160)

/* Extended items that an event is to have, by what is enabled (EVENT_ENABLE_PROPERTY_*), and what they say. */
struct etw_kernel_named_items {
	uint32_t property;
	uint32_t uid, session_id;
	uint64_t start_key; /* 0: nothing is known of the process */
	uint64_t event_key;
	const uint8_t *frames; /* 8 bytes each, innermost first; borrowed */
	uint32_t frame_count;  /* 0: the event has no stack */
};

/*
 * etw_kernel_named_write() - the event.
 *
 * @to: ETW_KERNEL_NAMED_EVENT_MAX bytes
 *
 * Returns its bytes; 0: it has more than an event may have.
 */
uint32_t etw_kernel_named_write(const GUID *provider, const struct etw_kernel_named_event *event,
				const struct etw_kernel_named_items *items, int64_t time_raw,
				uint8_t *to);

#endif
