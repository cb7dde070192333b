/* SPDX-License-Identifier: MIT */
#include "source/kernel/named/named_event.h"

#include <string.h>
#include <sys/param.h>

#include <evntcons.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "wire/etl_event.h"
#include "wire/security.h"

/* Items one behind the other; all but the last say that another one follows. */
struct items {
	uint8_t *at;
	uint8_t *last; /* NULL: there is none */
};

static void put_item(struct items *items, uint16_t type, const void *data, uint32_t data_bytes,
		     const void *more, uint32_t more_bytes)
{
	const uint32_t bytes =
		ALIGN_UP((uint32_t)sizeof(struct wire_extended_item) + data_bytes + more_bytes, 8);
	const struct wire_extended_item item = {
		.bytes = le16_of((uint16_t)bytes),
		.type = le16_of(type),
		.data_bytes = le16_of((uint16_t)(data_bytes + more_bytes)),
	};

	if (items->last)
		etw_store16(items->last + offsetof(struct wire_extended_item, linkage),
			    WIRE_EXTENDED_LINKAGE);
	items->last = items->at;
	memset(items->at + bytes - 8, 0, 8);
	memcpy(items->at, &item, sizeof(item));
	memcpy(items->at + sizeof(item), data, data_bytes);
	if (more_bytes)
		memcpy(items->at + sizeof(item) + data_bytes, more, more_bytes);
	items->at += bytes;
}

static void put_number(struct items *items, uint16_t type, uint64_t number)
{
	const le64 stored = le64_of(number);

	put_item(items, type, &stored, sizeof(stored), NULL, 0);
}

/* In the order in which Windows has them. Returns the end. */
static uint8_t *put_items(const struct etw_kernel_named_items *from, uint8_t *at)
{
	const struct wire_sid sid = etw_sid_of_uid(from->uid);
	const le32 session = le32_of(from->session_id);
	const le64 match = le64_of(0);
	struct items items = {.at = at};

	if (from->property & EVENT_ENABLE_PROPERTY_SID && from->start_key)
		put_item(&items, EVENT_HEADER_EXT_TYPE_SID, sid.bytes, sid.byte_count, NULL, 0);
	if (from->property & EVENT_ENABLE_PROPERTY_TS_ID)
		put_item(&items, EVENT_HEADER_EXT_TYPE_TS_ID, &session, sizeof(session), NULL, 0);
	if (from->property & EVENT_ENABLE_PROPERTY_EVENT_KEY)
		put_number(&items, EVENT_HEADER_EXT_TYPE_EVENT_KEY, from->event_key);
	if (from->property & EVENT_ENABLE_PROPERTY_PROCESS_START_KEY)
		put_number(&items, EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, from->start_key);
	if (from->frame_count)
		put_item(&items, EVENT_HEADER_EXT_TYPE_STACK_TRACE64, &match, sizeof(match),
			 from->frames, MIN(from->frame_count, (uint32_t)ETW_KERNEL_FRAMES) * 8);
	return items.at;
}

uint32_t etw_kernel_named_write(const GUID *provider, const struct etw_kernel_named_event *event,
				const struct etw_kernel_named_items *items, int64_t time_raw,
				uint8_t *to)
{
	struct wire_event_header header = {
		.header_type = WIRE_HEADER_EVENT64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.thread_id = le32_of(event->tid),
		.process_id = le32_of(event->pid),
		.time_raw = le64_of((uint64_t)time_raw),
		.id = le16_of(event->descriptor.Id),
		.version = event->descriptor.Version,
		.channel = event->descriptor.Channel,
		.level = event->descriptor.Level,
		.opcode = event->descriptor.Opcode,
		.task = le16_of(event->descriptor.Task),
		.keyword = le64_of(event->descriptor.Keyword),
		.kernel_ticks = le32_of(event->kernel_ticks),
		.user_ticks = le32_of(event->user_ticks),
	};
	uint8_t *at = put_items(items, to + sizeof(header));
	const size_t bytes = (size_t)(at - to) + event->byte_count;

	if (bytes > UINT16_MAX)
		return 0;
	if (at != to + sizeof(header))
		header.flags = le16_of(WIRE_EVENT_EXTENDED_INFO);
	header.bytes = le16_of((uint16_t)bytes);
	memcpy(header.provider, provider, sizeof(header.provider));
	memcpy(to, &header, sizeof(header));
	memcpy(at, event->payload, event->byte_count);
	return (uint32_t)bytes;
}
