/* SPDX-License-Identifier: MIT */
#include "etl/event.h"

#define SYSTEM_SHAPE(pointer)                                       \
	{                                                           \
		sizeof(struct wire_system_header), 4, 0x10, pointer \
	}
#define COMPACT_SHAPE(pointer)                              \
	{                                                   \
		WIRE_COMPACT_HEADER_BYTES, 4, 0x10, pointer \
	}
#define PERFINFO_SHAPE(pointer)                                       \
	{                                                             \
		sizeof(struct wire_perfinfo_header), 4, 0x08, pointer \
	}
#define FULL_SHAPE(pointer)                                       \
	{                                                         \
		sizeof(struct wire_full_header), 0, 0x10, pointer \
	}
#define INSTANCE_SHAPE(pointer)                                       \
	{                                                             \
		sizeof(struct wire_instance_header), 0, 0x10, pointer \
	}
#define EVENT_SHAPE(pointer)                                       \
	{                                                          \
		sizeof(struct wire_event_header), 0, 0x10, pointer \
	}

const struct etw_etl_header_shape etw_etl_header_shapes[WIRE_HEADER_TYPES] = {
	[WIRE_HEADER_SYSTEM32] = SYSTEM_SHAPE(4),     [WIRE_HEADER_SYSTEM64] = SYSTEM_SHAPE(8),
	[WIRE_HEADER_COMPACT32] = COMPACT_SHAPE(4),   [WIRE_HEADER_COMPACT64] = COMPACT_SHAPE(8),
	[WIRE_HEADER_FULL32] = FULL_SHAPE(4),         [WIRE_HEADER_FULL64] = FULL_SHAPE(8),
	[WIRE_HEADER_INSTANCE32] = INSTANCE_SHAPE(4), [WIRE_HEADER_INSTANCE64] = INSTANCE_SHAPE(8),
	[WIRE_HEADER_PERFINFO32] = PERFINFO_SHAPE(4), [WIRE_HEADER_PERFINFO64] = PERFINFO_SHAPE(8),
	[WIRE_HEADER_EVENT32] = EVENT_SHAPE(4),       [WIRE_HEADER_EVENT64] = EVENT_SHAPE(8),
};

struct etw_etl_message_layout etw_etl_message_layout(uint16_t options)
{
	struct etw_etl_message_layout layout = {0};
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

static const char *peek_message(const uint8_t *at, size_t left, struct etw_etl_event *ret)
{
	struct etw_etl_message_layout layout = etw_etl_message_layout(etw_load16(at + 6));
	uint32_t bytes = etw_load16(at);

	if (bytes < layout.header_bytes)
		return "the message is shorter than its header";
	if (bytes > left)
		return "the message reaches beyond its buffer";
	ret->at = at;
	ret->bytes = bytes;
	ret->header_type = WIRE_HEADER_MESSAGE;
	ret->has_time = layout.time != 0;
	if (ret->has_time)
		ret->time_raw = (int64_t)etw_load64(at + layout.time);
	return NULL;
}

static const char *peek_perfinfo(const uint8_t *at, size_t left, struct etw_etl_event *ret)
{
	uint32_t bytes = etw_load16(at + 4);
	unsigned words = etw_etl_perfinfo_words(etw_load16(at));

	if (bytes < sizeof(struct wire_perfinfo_header) + 8 * words)
		return "the event is shorter than its header";
	if (bytes > left)
		return "the event reaches beyond its buffer";
	ret->at = at;
	ret->bytes = bytes;
	ret->header_type = at[2];
	ret->has_time = true;
	ret->time_raw = (int64_t)etw_load64(at + offsetof(struct wire_perfinfo_header, time_raw));
	return NULL;
}

const char *etw_etl_event_peek_rare(const uint8_t *at, size_t left, struct etw_etl_event *ret)
{
	if (at[3] == WIRE_EVENT_FLAG_MESSAGE)
		return peek_message(at, left, ret);
	if (at[3] != WIRE_EVENT_FLAG_TRACE)
		return "the marker is that of no event header";
	if ((at[2] & 0xFE) == WIRE_HEADER_PERFINFO32)
		return peek_perfinfo(at, left, ret);
	return "the header type is not one that files hold";
}
