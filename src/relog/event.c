/* SPDX-License-Identifier: MIT */
#include "relog/event.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/etl_buffer.h"
#include "wire/event_shape.h"
#include "wire/hook.h"

#define NO_ID 0xFFFFFFFFu /* what a record says where the header has no ids */

void etw_relog_event_note(struct etw_relog_event *event)
{
	event->header_before = event->record.EventHeader;
	event->payload_before = event->record.UserData;
	event->payload_bytes_before = event->record.UserDataLength;
}

bool etw_relog_event_is_changed(const struct etw_relog_event *event)
{
	const EVENT_RECORD *record = &event->record;

	return record->UserData != event->payload_before ||
	       record->UserDataLength != event->payload_bytes_before ||
	       memcmp(&record->EventHeader, &event->header_before, sizeof(EVENT_HEADER)) != 0;
}

uint16_t etw_relog_event_processor(const struct etw_relog_event *event)
{
	const EVENT_RECORD *record = &event->record;

	if (record->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX)
		return record->BufferContext.ProcessorIndex & WIRE_BUFFER_PROCESSOR_MASK;
	return record->BufferContext.ProcessorNumber;
}

bool etw_relog_event_set_processor(struct etw_relog_event *event, uint32_t processor)
{
	EVENT_RECORD *record = &event->record;

	if (processor > WIRE_BUFFER_PROCESSOR_MASK)
		return false;
	if (record->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) {
		record->BufferContext.ProcessorIndex = (USHORT)processor;
		return true;
	}
	if (processor > UINT8_MAX)
		return false;
	record->BufferContext.ProcessorNumber = (UCHAR)processor;
	return true;
}

static uint8_t made_header_type(USHORT flags)
{
	bool is_32 = flags & EVENT_HEADER_FLAG_32_BIT_HEADER;

	if (flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)
		return WIRE_HEADER_MESSAGE;
	if (flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		return is_32 ? WIRE_HEADER_FULL32 : WIRE_HEADER_FULL64;
	return is_32 ? WIRE_HEADER_EVENT32 : WIRE_HEADER_EVENT64;
}

/* What every message of the tracing macros has. */
static uint32_t make_message(USHORT flags, uint8_t *room)
{
	uint16_t options = WIRE_MESSAGE_GUID | WIRE_MESSAGE_TIMESTAMP | WIRE_MESSAGE_SYSTEM_INFO;
	bool is_32 = flags & EVENT_HEADER_FLAG_32_BIT_HEADER;

	options |= is_32 ? WIRE_MESSAGE_POINTER32 : WIRE_MESSAGE_POINTER64;
	etw_store16(room + offsetof(struct wire_message_header, options), options);
	return wire_message_layout(options).header_bytes;
}

void etw_relog_event_make(USHORT flags, uint8_t *room, struct etw_relog_event *ret)
{
	uint8_t type = made_header_type(flags);
	uint32_t bytes;

	memset(room, 0, ETW_RELOG_HEADER_BYTES_MAX);
	if (type == WIRE_HEADER_MESSAGE) {
		bytes = make_message(flags, room);
	} else {
		bytes = wire_event_shapes[type].header_bytes;
		room[offsetof(struct wire_full_header, header_type)] = type;
	}
	room[offsetof(struct wire_full_header, header_flag)] = type == WIRE_HEADER_MESSAGE
								       ? WIRE_EVENT_FLAG_MESSAGE
								       : WIRE_EVENT_FLAG_TRACE;
	etw_store16(room, (uint16_t)bytes);
	*ret = (struct etw_relog_event){
		.bytes = room,
		.byte_count = bytes,
		.header_type = type,
	};
	ret->record.EventHeader.Size = (USHORT)bytes;
	ret->record.EventHeader.Flags = flags | EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	ret->record.UserData = room + bytes;
	etw_relog_event_note(ret);
}

/* A new event: its bytes in `room`, of which the header and the items are set first. */
struct encoding {
	const struct etw_relog_event *event;
	const EVENT_HEADER *header; /* of the record */
	uint8_t *room;
	uint32_t bytes; /* of the whole event */
};

/* Header and items of the event as it was. */
static uint32_t head_bytes(const struct etw_relog_event *event)
{
	if (!event->payload_before)
		return event->byte_count;
	return (uint32_t)((const uint8_t *)event->payload_before - event->bytes);
}

/* Copies the payload behind a head of @head bytes. */
static int put_payload(struct encoding *encoding, uint32_t head)
{
	const EVENT_RECORD *record = &encoding->event->record;

	encoding->bytes = head + record->UserDataLength;
	if (encoding->bytes > ETW_RELOG_EVENT_BYTES_MAX)
		return -EMSGSIZE;
	if (record->UserDataLength)
		memcpy(encoding->room + head, record->UserData, record->UserDataLength);
	return 0;
}

static int copy_head(struct encoding *encoding)
{
	uint32_t head = head_bytes(encoding->event);

	memcpy(encoding->room, encoding->event->bytes, head);
	return put_payload(encoding, head);
}

/* The record has the layout of the stored header, but for the type and the stored flags. */
static int encode_event(struct encoding *encoding)
{
	const uint8_t *old = encoding->event->bytes;
	struct wire_event_header header;

	static_assert(sizeof(header) == sizeof(EVENT_HEADER), "one layout");
	TRY(copy_head(encoding));
	memcpy(&header, encoding->header, sizeof(header));
	header.bytes = le16_of((uint16_t)encoding->bytes);
	header.header_type = old[offsetof(struct wire_event_header, header_type)];
	header.header_flag = old[offsetof(struct wire_event_header, header_flag)];
	memcpy(&header.flags, old + offsetof(struct wire_event_header, flags),
	       sizeof(header.flags));
	memcpy(encoding->room, &header, sizeof(header));
	return 0;
}

/* The version of a classic header has 16 bits, of which a record shows 8. */
static le16 version_of(const struct encoding *encoding, le16 old)
{
	uint8_t version = encoding->header->EventDescriptor.Version;

	return le16_of((uint16_t)((le16_get(old) & 0xFF00) | version));
}

/* FULL, and the beginning of INSTANCE. */
static void put_full(const struct encoding *encoding, uint8_t type, le16 version)
{
	const EVENT_HEADER *from = encoding->header;
	struct wire_full_header full = {
		.bytes = le16_of((uint16_t)encoding->bytes),
		.header_type = type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = from->EventDescriptor.Opcode,
		.level = from->EventDescriptor.Level,
		.version = version,
		.thread_id = le32_of(from->ThreadId),
		.process_id = le32_of(from->ProcessId),
		.time_raw = le64_of((uint64_t)from->TimeStamp.QuadPart),
		.kernel_ticks = le32_of(from->KernelTime),
		.user_ticks = le32_of(from->UserTime),
	};

	etw_guid_write(full.guid, &from->ProviderId);
	memcpy(encoding->room, &full, sizeof(full));
}

static int encode_full(struct encoding *encoding)
{
	const struct etw_relog_event *event = encoding->event;
	struct wire_full_header old;

	memcpy(&old, event->bytes, sizeof(old));
	TRY(copy_head(encoding));
	put_full(encoding, event->header_type, version_of(encoding, old.version));
	return 0;
}

/* Another header in front of the same payload: the kernel has no hook for what the record says. */
static int become_full(struct encoding *encoding, le16 version)
{
	bool is_32 = wire_event_shapes[encoding->event->header_type].pointer_bytes == 4;

	TRY(put_payload(encoding, sizeof(struct wire_full_header)));
	put_full(encoding, is_32 ? WIRE_HEADER_FULL32 : WIRE_HEADER_FULL64, version);
	return 0;
}

/*
 * The hook that a header of the kernel would have; the group stays while it can. Returns false when there is none, or the
 * record says what such a header has no place for.
 */
static bool find_hook(const struct encoding *encoding, uint8_t group, uint16_t *ret)
{
	const EVENT_HEADER *header = encoding->header;
	uint8_t opcode = header->EventDescriptor.Opcode;

	if (header->EventDescriptor.Level)
		return false;
	*ret = (uint16_t)(group << 8 | opcode);
	if (etw_guid_equal(&header->ProviderId, etw_hook_class(group, opcode)))
		return true;
	return etw_hook_find(&header->ProviderId, opcode, ret);
}

/* SYSTEM, or COMPACT, which is its beginning. */
static int put_system(struct encoding *encoding, uint8_t type, uint16_t hook, le16 version)
{
	const EVENT_HEADER *from = encoding->header;
	uint32_t head = wire_event_shapes[type].header_bytes;
	struct wire_system_header system = {
		.version = version,
		.header_type = type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = (uint8_t)hook,
		.group = (uint8_t)(hook >> 8),
		.thread_id = le32_of(from->ThreadId),
		.process_id = le32_of(from->ProcessId),
		.time_raw = le64_of((uint64_t)from->TimeStamp.QuadPart),
		.kernel_ticks = le32_of(from->KernelTime),
		.user_ticks = le32_of(from->UserTime),
	};

	TRY(put_payload(encoding, head));
	system.bytes = le16_of((uint16_t)encoding->bytes);
	memcpy(encoding->room, &system, head);
	return 0;
}

static uint8_t system_type(const struct etw_relog_event *event)
{
	bool is_32 = wire_event_shapes[event->header_type].pointer_bytes == 4;

	return is_32 ? WIRE_HEADER_SYSTEM32 : WIRE_HEADER_SYSTEM64;
}

static bool has_thread_times(const EVENT_HEADER *header)
{
	return header->KernelTime || header->UserTime;
}

static int encode_system(struct encoding *encoding)
{
	const struct etw_relog_event *event = encoding->event;
	bool is_compact = event->header_type == WIRE_HEADER_COMPACT32 ||
			  event->header_type == WIRE_HEADER_COMPACT64;
	uint8_t type = event->header_type;
	struct wire_system_header old;
	uint16_t hook;
	le16 version;

	memcpy(&old, event->bytes, WIRE_COMPACT_HEADER_BYTES);
	version = version_of(encoding, old.version);
	if (!find_hook(encoding, old.group, &hook))
		return become_full(encoding, version);
	if (is_compact && has_thread_times(encoding->header))
		type = system_type(event);
	return put_system(encoding, type, hook, version);
}

static int encode_perfinfo(struct encoding *encoding)
{
	const struct etw_relog_event *event = encoding->event;
	const EVENT_HEADER *header = encoding->header;
	bool has_ids = header->ThreadId != NO_ID || header->ProcessId != NO_ID;
	struct wire_perfinfo_header perfinfo;
	uint16_t hook;
	le16 version;

	memcpy(&perfinfo, event->bytes, sizeof(perfinfo));
	version = version_of(encoding, perfinfo.version);
	if (find_hook(encoding, perfinfo.group, &hook) && !has_ids && !has_thread_times(header)) {
		TRY(copy_head(encoding));
		perfinfo.version = version;
		perfinfo.bytes = le16_of((uint16_t)encoding->bytes);
		perfinfo.type = (uint8_t)hook;
		perfinfo.group = (uint8_t)(hook >> 8);
		perfinfo.time_raw = le64_of((uint64_t)header->TimeStamp.QuadPart);
		memcpy(encoding->room, &perfinfo, sizeof(perfinfo));
		return 0;
	}
	if (wire_perfinfo_words(le16_get(perfinfo.version)))
		return -EOPNOTSUPP;
	version = le16_of(header->EventDescriptor.Version);
	if (find_hook(encoding, perfinfo.group, &hook))
		return put_system(encoding, system_type(event), hook, version);
	return become_full(encoding, version);
}

/* Which optional words the message has from now on. */
static uint16_t message_options(const struct encoding *encoding, uint16_t options)
{
	const EVENT_HEADER *header = encoding->header, *before = &encoding->event->header_before;
	GUID component = {.Data1 = header->ProviderId.Data1};
	bool is_component = options & WIRE_MESSAGE_COMPONENT &&
			    etw_guid_equal(&component, &header->ProviderId);

	if (!etw_guid_equal(&header->ProviderId, &before->ProviderId) && !is_component)
		options = (uint16_t)((options & ~WIRE_MESSAGE_COMPONENT) | WIRE_MESSAGE_GUID);
	if (header->ThreadId != before->ThreadId || header->ProcessId != before->ProcessId)
		options |= WIRE_MESSAGE_SYSTEM_INFO;
	if (header->TimeStamp.QuadPart != before->TimeStamp.QuadPart &&
	    !(options & WIRE_MESSAGE_PERF_TIME))
		options |= WIRE_MESSAGE_TIMESTAMP;
	return options;
}

static int encode_message(struct encoding *encoding)
{
	const uint8_t *old = encoding->event->bytes;
	const EVENT_HEADER *from = encoding->header;
	uint16_t old_options = etw_load16(old + offsetof(struct wire_message_header, options));
	uint16_t options = message_options(encoding, old_options);
	struct wire_message_layout layout = wire_message_layout(options);
	uint8_t *room = encoding->room;
	struct wire_message_header header;

	TRY(put_payload(encoding, layout.header_bytes));
	memcpy(&header, old, sizeof(header));
	header.bytes = le16_of((uint16_t)encoding->bytes);
	header.number = le16_of(from->EventDescriptor.Id);
	header.options = le16_of(options);
	memcpy(room, &header, sizeof(header));
	if (layout.sequence)
		memcpy(room + layout.sequence, old + wire_message_layout(old_options).sequence, 4);
	if (layout.guid)
		etw_guid_write(room + layout.guid, &from->ProviderId);
	if (layout.component)
		etw_store32(room + layout.component, from->ProviderId.Data1);
	if (layout.time)
		etw_store64(room + layout.time, (uint64_t)from->TimeStamp.QuadPart);
	if (layout.system_info) {
		etw_store32(room + layout.system_info, from->ThreadId);
		etw_store32(room + layout.system_info + 4, from->ProcessId);
	}
	return 0;
}

static int encode(struct encoding *encoding)
{
	uint8_t type = encoding->event->header_type;
	static const GUID no_activity;

	if (type == WIRE_HEADER_EVENT32 || type == WIRE_HEADER_EVENT64)
		return encode_event(encoding);
	if (!etw_guid_equal(&encoding->header->ActivityId, &no_activity))
		return -EOPNOTSUPP;
	switch (type) {
	case WIRE_HEADER_FULL32:
	case WIRE_HEADER_FULL64:
	case WIRE_HEADER_INSTANCE32:
	case WIRE_HEADER_INSTANCE64:
		return encode_full(encoding);
	case WIRE_HEADER_PERFINFO32:
	case WIRE_HEADER_PERFINFO64:
		return encode_perfinfo(encoding);
	case WIRE_HEADER_MESSAGE:
		return encode_message(encoding);
	default:
		return encode_system(encoding);
	}
}

int etw_relog_event_encode(const struct etw_relog_event *event, uint8_t *room, const uint8_t **ret,
			   uint32_t *ret_bytes)
{
	struct encoding encoding = {
		.event = event,
		.header = &event->record.EventHeader,
		.room = room,
	};

	if (!etw_relog_event_is_changed(event)) {
		*ret = event->bytes;
		*ret_bytes = event->byte_count;
		return 0;
	}
	TRY(encode(&encoding));
	*ret = room;
	*ret_bytes = encoding.bytes;
	return 0;
}
