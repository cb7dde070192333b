/* SPDX-License-Identifier: MIT */
#include "synthetic/made_event.h"

#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"

static void append(struct made_event *event, const void *data, size_t bytes)
{
	if (bytes > MADE_EVENT_BYTES_MAX - event->count)
		abort();
	if (bytes)
		memcpy(event->bytes + event->count, data, bytes);
	event->count += bytes;
	etw_store16(event->bytes + event->size_at, (uint16_t)event->count);
}

static void start(struct made_event *event, size_t size_at, int64_t time_raw, const void *header,
		  size_t bytes)
{
	event->count = 0;
	event->size_at = size_at;
	event->link_at = 0;
	event->time_raw = time_raw;
	append(event, header, bytes);
}

void made_system(struct made_event *event, enum wire_header_type type, uint16_t hook,
		 uint16_t version, int64_t time_raw, const struct made_ids *ids)
{
	bool is_compact = type == WIRE_HEADER_COMPACT32 || type == WIRE_HEADER_COMPACT64;
	struct wire_system_header header = {
		.version = le16_of(version),
		.header_type = (uint8_t)type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = (uint8_t)hook,
		.group = (uint8_t)(hook >> 8),
		.thread_id = le32_of(ids->thread_id),
		.process_id = le32_of(ids->process_id),
		.time_raw = le64_of((uint64_t)time_raw),
		.kernel_ticks = le32_of(ids->kernel_ticks),
		.user_ticks = le32_of(ids->user_ticks),
	};

	start(event, 4, time_raw, &header, is_compact ? WIRE_COMPACT_HEADER_BYTES : sizeof(header));
}

void made_perfinfo(struct made_event *event, enum wire_header_type type, uint16_t hook,
		   uint16_t version, int64_t time_raw, const uint64_t *words, size_t word_count)
{
	struct wire_perfinfo_header header = {
		.version = le16_of(version),
		.header_type = (uint8_t)type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = (uint8_t)hook,
		.group = (uint8_t)(hook >> 8),
		.time_raw = le64_of((uint64_t)time_raw),
	};

	start(event, 4, time_raw, &header, sizeof(header));
	for (size_t i = 0; i < word_count; i++)
		made_u64(event, words[i]);
}

void made_full(struct made_event *event, enum wire_header_type type, const GUID *guid,
	       uint8_t opcode, uint8_t level, uint16_t version, int64_t time_raw,
	       const struct made_ids *ids)
{
	struct wire_full_header header = {
		.header_type = (uint8_t)type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = opcode,
		.level = level,
		.version = le16_of(version),
		.thread_id = le32_of(ids->thread_id),
		.process_id = le32_of(ids->process_id),
		.time_raw = le64_of((uint64_t)time_raw),
		.kernel_ticks = le32_of(ids->kernel_ticks),
		.user_ticks = le32_of(ids->user_ticks),
	};

	etw_guid_write(header.guid, guid);
	start(event, 0, time_raw, &header, sizeof(header));
}

void made_instance(struct made_event *event, uint32_t instance, uint32_t parent,
		   const GUID *parent_guid)
{
	event->bytes[2]++; /* FULL32 and FULL64 are followed by INSTANCE32 and INSTANCE64 */
	made_u32(event, instance);
	made_u32(event, parent);
	made_guid(event, parent_guid);
}

void made_modern(struct made_event *event, enum wire_header_type type,
		 const struct made_descriptor *descriptor, int64_t time_raw,
		 const struct made_ids *ids)
{
	struct wire_event_header header = {
		.header_type = (uint8_t)type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.thread_id = le32_of(ids->thread_id),
		.process_id = le32_of(ids->process_id),
		.time_raw = le64_of((uint64_t)time_raw),
		.id = le16_of(descriptor->id),
		.version = descriptor->version,
		.channel = descriptor->channel,
		.level = descriptor->level,
		.opcode = descriptor->opcode,
		.task = le16_of(descriptor->task),
		.keyword = le64_of(descriptor->keyword),
		.kernel_ticks = le32_of(ids->kernel_ticks),
		.user_ticks = le32_of(ids->user_ticks),
	};

	etw_guid_write(header.provider, descriptor->provider);
	if (descriptor->activity)
		etw_guid_write(header.activity, descriptor->activity);
	start(event, 0, time_raw, &header, sizeof(header));
}

void made_item(struct made_event *event, uint16_t type, const void *data, size_t bytes)
{
	static const uint8_t zeros[8];
	size_t whole = ALIGN_UP(sizeof(struct wire_extended_item) + bytes, 8);
	struct wire_extended_item item = {
		.bytes = le16_of((uint16_t)whole),
		.type = le16_of(type),
		.data_bytes = le16_of((uint16_t)bytes),
	};

	if (event->link_at)
		etw_store16(event->bytes + event->link_at, WIRE_EXTENDED_LINKAGE);
	event->link_at = event->count + offsetof(struct wire_extended_item, linkage);
	etw_store16(event->bytes + offsetof(struct wire_event_header, flags),
		    WIRE_EVENT_EXTENDED_INFO);
	append(event, &item, sizeof(item));
	append(event, data, bytes);
	append(event, zeros, whole - sizeof(item) - bytes);
}

void made_wpp(struct made_event *event, const struct made_message *message, int64_t time_raw)
{
	struct wire_message_header header = {
		.header_flag = WIRE_EVENT_FLAG_MESSAGE,
		.number = le16_of(message->number),
		.options = le16_of(message->options),
	};

	start(event, 0, time_raw, &header, sizeof(header));
	if (message->options & WIRE_MESSAGE_SEQUENCE)
		made_u32(event, message->sequence);
	if (message->options & WIRE_MESSAGE_COMPONENT)
		made_u32(event, message->component);
	else if (message->options & WIRE_MESSAGE_GUID)
		made_guid(event, message->guid);
	if (message->options & (WIRE_MESSAGE_TIMESTAMP | WIRE_MESSAGE_PERF_TIME))
		made_u64(event, (uint64_t)time_raw);
	if (message->options & WIRE_MESSAGE_SYSTEM_INFO) {
		made_u32(event, message->ids.thread_id);
		made_u32(event, message->ids.process_id);
	}
}

void made_put(struct made_event *event, const void *data, size_t bytes)
{
	append(event, data, bytes);
}

void made_fill(struct made_event *event, uint8_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		append(event, &value, 1);
}

void made_u8(struct made_event *event, uint8_t value)
{
	append(event, &value, 1);
}

void made_u16(struct made_event *event, uint16_t value)
{
	le16 stored = le16_of(value);

	append(event, &stored, sizeof(stored));
}

void made_u32(struct made_event *event, uint32_t value)
{
	le32 stored = le32_of(value);

	append(event, &stored, sizeof(stored));
}

void made_u64(struct made_event *event, uint64_t value)
{
	le64 stored = le64_of(value);

	append(event, &stored, sizeof(stored));
}

void made_pointer(struct made_event *event, unsigned pointer_bytes, uint64_t value)
{
	if (pointer_bytes == 8)
		made_u64(event, value);
	else
		made_u32(event, (uint32_t)value);
}

void made_ansi(struct made_event *event, const char *text)
{
	append(event, text, strlen(text) + 1);
}

void made_utf16(struct made_event *event, const char *text)
{
	do
		made_u16(event, (uint8_t)*text);
	while (*text++);
}

void made_guid(struct made_event *event, const GUID *guid)
{
	uint8_t stored[16];

	etw_guid_write(stored, guid);
	append(event, stored, sizeof(stored));
}
