/* SPDX-License-Identifier: MIT */
/* The table of shapes; see wire/event_shape.h. */
#include "wire/event_shape.h"

#include <stddef.h>

#define OF_KERNEL (WIRE_ORIGIN_FILE | WIRE_ORIGIN_SOURCE)
#define OF_USER   (WIRE_ORIGIN_FILE | WIRE_ORIGIN_RING)

#define SYSTEM(pointer, least)                                                                  \
	{                                                                                       \
		.header_bytes = (least), .size_at = offsetof(struct wire_system_header, bytes), \
		.time_at = offsetof(struct wire_system_header, time_raw),                       \
		.pointer_bytes = (pointer),                                                     \
		.thread_at = offsetof(struct wire_system_header, thread_id),                    \
		.provider_at = WIRE_NOWHERE, .origins = OF_KERNEL,                              \
	}
#define PERFINFO(pointer)                                                   \
	{                                                                   \
		.header_bytes = sizeof(struct wire_perfinfo_header),        \
		.size_at = offsetof(struct wire_perfinfo_header, bytes),    \
		.time_at = offsetof(struct wire_perfinfo_header, time_raw), \
		.pointer_bytes = (pointer), .thread_at = WIRE_NOWHERE,      \
		.provider_at = WIRE_NOWHERE, .origins = OF_KERNEL,          \
	}
#define CLASSIC(pointer, type)                                                                     \
	{                                                                                          \
		.header_bytes = sizeof(type), .size_at = offsetof(struct wire_full_header, bytes), \
		.time_at = offsetof(struct wire_full_header, time_raw),                            \
		.pointer_bytes = (pointer),                                                        \
		.thread_at = offsetof(struct wire_full_header, thread_id),                         \
		.provider_at = offsetof(struct wire_full_header, guid), .origins = OF_USER,        \
	}
#define EVENT(pointer)                                                       \
	{                                                                    \
		.header_bytes = sizeof(struct wire_event_header),            \
		.size_at = offsetof(struct wire_event_header, bytes),        \
		.time_at = offsetof(struct wire_event_header, time_raw),     \
		.pointer_bytes = (pointer),                                  \
		.thread_at = offsetof(struct wire_event_header, thread_id),  \
		.provider_at = offsetof(struct wire_event_header, provider), \
		.origins = OF_USER | WIRE_ORIGIN_SOURCE, .has_items = 1,     \
	}

const struct wire_event_shape wire_event_shapes[WIRE_HEADER_TYPES] = {
	[WIRE_HEADER_SYSTEM32] = SYSTEM(4, sizeof(struct wire_system_header)),
	[WIRE_HEADER_SYSTEM64] = SYSTEM(8, sizeof(struct wire_system_header)),
	[WIRE_HEADER_COMPACT32] = SYSTEM(4, WIRE_COMPACT_HEADER_BYTES),
	[WIRE_HEADER_COMPACT64] = SYSTEM(8, WIRE_COMPACT_HEADER_BYTES),
	[WIRE_HEADER_FULL32] = CLASSIC(4, struct wire_full_header),
	[WIRE_HEADER_FULL64] = CLASSIC(8, struct wire_full_header),
	[WIRE_HEADER_INSTANCE32] = CLASSIC(4, struct wire_instance_header),
	[WIRE_HEADER_INSTANCE64] = CLASSIC(8, struct wire_instance_header),
	[WIRE_HEADER_PERFINFO32] = PERFINFO(4),
	[WIRE_HEADER_PERFINFO64] = PERFINFO(8),
	[WIRE_HEADER_EVENT32] = EVENT(4),
	[WIRE_HEADER_EVENT64] = EVENT(8),
};

/* struct wire_ring_message begins as the header of a classic event does. */
const struct wire_event_shape wire_event_ring_message = {
	.header_bytes = offsetof(struct wire_full_header, guid),
	.size_at = offsetof(struct wire_full_header, bytes),
	.time_at = offsetof(struct wire_full_header, time_raw),
	.pointer_bytes = sizeof(void *),
	.thread_at = offsetof(struct wire_full_header, thread_id),
	.provider_at = WIRE_NOWHERE,
	.origins = WIRE_ORIGIN_RING,
};

struct wire_message_layout wire_message_layout(uint16_t options)
{
	struct wire_message_layout layout = {0};
	unsigned at = sizeof(struct wire_message_header);

	if (options & WIRE_MESSAGE_SEQUENCE) {
		layout.sequence = (uint8_t)at;
		at += 4;
	}
	if (options & WIRE_MESSAGE_COMPONENT) {
		layout.component = (uint8_t)at;
		at += 4;
	} else if (options & WIRE_MESSAGE_GUID) {
		layout.guid = (uint8_t)at;
		at += 16;
	}
	if (options & (WIRE_MESSAGE_TIMESTAMP | WIRE_MESSAGE_PERF_TIME)) {
		layout.time = (uint8_t)at;
		at += 8;
	}
	if (options & WIRE_MESSAGE_SYSTEM_INFO) {
		layout.system_info = (uint8_t)at;
		at += 8;
	}
	layout.header_bytes = (uint8_t)at;
	return layout;
}
