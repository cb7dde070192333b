/* SPDX-License-Identifier: MIT */
#include "consumer/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/hook.h"

#define NO_ID 0xFFFFFFFFu /* thread and process of events whose header has no field for them */

#define LOSS_OPCODE_EVENT  32
#define LOSS_OPCODE_BUFFER 33
#define LOSS_OPCODE_FILE   34

static const char no_memory[] = "no memory for the extended items";

void etw_recorder_done(struct etw_recorder *recorder)
{
	free(recorder->items);
	*recorder = (struct etw_recorder){0};
}

static USHORT pointer_flag(uint8_t header_type)
{
	return wire_event_shapes[header_type].pointer_bytes == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER
								 : EVENT_HEADER_FLAG_64_BIT_HEADER;
}

static void set_payload(EVENT_RECORD *record, const struct etw_etl_event *event, size_t offset)
{
	/* Microsoft's type is not const; consumers must not write there all the same. */
	record->UserData = (void *)(uintptr_t)(event->at + offset);
	record->UserDataLength = (USHORT)(event->bytes - offset);
}

/* Room for @count items; NULL when memory ran out. */
static EVENT_HEADER_EXTENDED_DATA_ITEM *item_room(struct etw_recorder *recorder, size_t count)
{
	if (count > recorder->room) {
		size_t room = count < 16 ? 16 : 2 * count;
		void *grown = realloc(recorder->items, room * sizeof(*recorder->items));

		if (!grown)
			return NULL;
		recorder->items = grown;
		recorder->room = room;
	}
	return recorder->items;
}

static void add_item(EVENT_RECORD *record, EVENT_HEADER_EXTENDED_DATA_ITEM *items, uint16_t type,
		     const uint8_t *data, size_t bytes)
{
	EVENT_HEADER_EXTENDED_DATA_ITEM *item = &items[record->ExtendedDataCount++];

	memset(item, 0, sizeof(*item));
	item->ExtType = type;
	item->DataSize = (USHORT)bytes;
	item->DataPtr = (ULONGLONG)(uintptr_t)data;
	record->ExtendedData = items;
	record->EventHeader.Flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
}

/* The items behind a modern header; @ret_offset is where the payload begins. */
static const char *read_items(struct etw_recorder *recorder, const struct etw_etl_event *event,
			      EVENT_RECORD *record, size_t *ret_offset)
{
	size_t offset = sizeof(struct wire_event_header);

	for (;;) {
		struct wire_extended_item item;
		EVENT_HEADER_EXTENDED_DATA_ITEM *items;
		uint32_t bytes, data_bytes;

		if (event->bytes - offset < sizeof(item))
			return "an extended item reaches beyond its event";
		memcpy(&item, event->at + offset, sizeof(item));
		bytes = le16_get(item.bytes);
		data_bytes = le16_get(item.data_bytes);
		if (bytes < sizeof(item) + data_bytes || bytes > event->bytes - offset)
			return "an extended item's size does not fit";
		items = item_room(recorder, (size_t)record->ExtendedDataCount + 1);
		if (!items)
			return no_memory;
		add_item(record, items, le16_get(item.type), event->at + offset + sizeof(item),
			 data_bytes);
		record->ExtendedData[record->ExtendedDataCount - 1].Reserved1 = (USHORT)bytes;
		offset += bytes;
		if (!(le16_get(item.linkage) & WIRE_EXTENDED_LINKAGE))
			break;
		record->ExtendedData[record->ExtendedDataCount - 1].Linkage = 1;
	}
	*ret_offset = offset;
	return NULL;
}

static const char *fill_event(struct etw_recorder *recorder, const struct etw_etl_event *event,
			      EVENT_RECORD *record)
{
	EVENT_HEADER *header = &record->EventHeader;
	size_t offset = sizeof(struct wire_event_header);
	const char *sentence = NULL;

	static_assert(sizeof(EVENT_HEADER) == sizeof(struct wire_event_header), "one layout");
	memcpy(header, event->at, sizeof(*header));
	bool has_items = header->Flags & WIRE_EVENT_EXTENDED_INFO;

	header->HeaderType = 0;
	header->Flags |= pointer_flag(event->header_type);
	if (UNLIKELY(has_items))
		sentence = read_items(recorder, event, record, &offset);
	if (UNLIKELY(sentence))
		offset = event->bytes;
	set_payload(record, event, offset);
	return sentence;
}

/* SYSTEM and COMPACT; the latter ends before the times. */
static void fill_system(const struct etw_etl_event *event, EVENT_RECORD *record)
{
	EVENT_HEADER *header = &record->EventHeader;
	size_t bytes = wire_event_shapes[event->header_type].header_bytes;
	struct wire_system_header system = {0};

	memcpy(&system, event->at, bytes);
	header->Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | pointer_flag(event->header_type);
	header->ThreadId = le32_get(system.thread_id);
	header->ProcessId = le32_get(system.process_id);
	header->ProviderId = *etw_hook_class(system.group, system.type);
	header->EventDescriptor.Version = (UCHAR)le16_get(system.version);
	header->EventDescriptor.Opcode = system.type;
	header->KernelTime = le32_get(system.kernel_ticks);
	header->UserTime = le32_get(system.user_ticks);
	set_payload(record, event, bytes);
}

static const char *fill_perfinfo(struct etw_recorder *recorder, const struct etw_etl_event *event,
				 EVENT_RECORD *record)
{
	EVENT_HEADER *header = &record->EventHeader;
	struct wire_perfinfo_header perfinfo;
	size_t offset = sizeof(perfinfo);

	memcpy(&perfinfo, event->at, sizeof(perfinfo));
	header->Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | pointer_flag(event->header_type);
	header->ThreadId = NO_ID;
	header->ProcessId = NO_ID;
	header->ProviderId = *etw_hook_class(perfinfo.group, perfinfo.type);
	header->EventDescriptor.Version = (UCHAR)le16_get(perfinfo.version);
	header->EventDescriptor.Opcode = perfinfo.type;

	uint16_t version = le16_get(perfinfo.version);

	if (UNLIKELY(wire_perfinfo_words(version))) {
		EVENT_HEADER_EXTENDED_DATA_ITEM *items = item_room(recorder, 2);
		size_t counters = 8 * ((size_t)(version & WIRE_PERFINFO_COUNTER_MASK) >> 8);

		if (!items)
			return no_memory;
		if (version & WIRE_PERFINFO_PEBS_INDEX) {
			add_item(record, items, EVENT_HEADER_EXT_TYPE_PEBS_INDEX,
				 event->at + offset, 8);
			offset += 8;
		}
		if (counters)
			add_item(record, items, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS,
				 event->at + offset, counters);
		offset += counters;
	}
	set_payload(record, event, offset);
	return NULL;
}

static void fill_full(const struct etw_etl_event *event, EVENT_RECORD *record)
{
	EVENT_HEADER *header = &record->EventHeader;
	struct wire_full_header full;

	memcpy(&full, event->at, sizeof(full));
	header->Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | pointer_flag(event->header_type);
	header->ThreadId = le32_get(full.thread_id);
	header->ProcessId = le32_get(full.process_id);
	header->ProviderId = etw_guid_read(full.guid);
	header->EventDescriptor.Version = (UCHAR)le16_get(full.version);
	header->EventDescriptor.Level = full.level;
	header->EventDescriptor.Opcode = full.type;
	header->KernelTime = le32_get(full.kernel_ticks);
	header->UserTime = le32_get(full.user_ticks);
	set_payload(record, event, sizeof(full));
}

/* The instance ids on disk already have the layout of EVENT_EXTENDED_ITEM_INSTANCE. */
static const char *fill_instance(struct etw_recorder *recorder, const struct etw_etl_event *event,
				 EVENT_RECORD *record)
{
	EVENT_HEADER_EXTENDED_DATA_ITEM *items = item_room(recorder, 1);
	size_t at = offsetof(struct wire_instance_header, instance_id);

	fill_full(event, record);
	if (!items)
		return no_memory;
	add_item(record, items, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, event->at + at,
		 sizeof(struct wire_instance_header) - at);
	set_payload(record, event, sizeof(struct wire_instance_header));
	return NULL;
}

/*
 * A message's sequence number has no place in a record's header. It goes where EVENT_TRACE has it, which gets
 * InstanceId from this item. Without memory the message comes without it.
 */
static void add_sequence(struct etw_recorder *recorder, uint32_t sequence, EVENT_RECORD *record)
{
	EVENT_HEADER_EXTENDED_DATA_ITEM *items = item_room(recorder, 1);

	if (!items)
		return;
	recorder->sequence = (EVENT_EXTENDED_ITEM_INSTANCE){.InstanceId = sequence};
	add_item(record, items, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO,
		 (const uint8_t *)&recorder->sequence, sizeof(recorder->sequence));
}

static void fill_message(struct etw_recorder *recorder, const struct etw_etl_event *event,
			 EVENT_RECORD *record)
{
	EVENT_HEADER *header = &record->EventHeader;
	uint16_t options = etw_load16(event->at + offsetof(struct wire_message_header, options));
	struct wire_message_layout layout = wire_message_layout(options);

	header->Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
	if (options & WIRE_MESSAGE_POINTER32)
		header->Flags |= EVENT_HEADER_FLAG_32_BIT_HEADER;
	else if (options & WIRE_MESSAGE_POINTER64)
		header->Flags |= EVENT_HEADER_FLAG_64_BIT_HEADER;
	header->EventDescriptor.Id =
		etw_load16(event->at + offsetof(struct wire_message_header, number));
	if (layout.guid)
		header->ProviderId = etw_guid_read(event->at + layout.guid);
	else if (layout.component)
		header->ProviderId.Data1 = etw_load32(event->at + layout.component);
	if (layout.system_info) {
		header->ThreadId = etw_load32(event->at + layout.system_info);
		header->ProcessId = etw_load32(event->at + layout.system_info + 4);
	}
	if (options & WIRE_MESSAGE_SEQUENCE)
		add_sequence(recorder, etw_load32(event->at + sizeof(struct wire_message_header)),
			     record);
	set_payload(record, event, layout.header_bytes);
}

static void set_context(const struct etw_etl_block *block, EVENT_RECORD *record)
{
	record->BufferContext.ProcessorIndex = block->buffer.processor_word;
	record->BufferContext.LoggerId = block->buffer.logger_id;
	if (block->buffer.flags & WIRE_BUFFER_PROC_INDEX)
		record->EventHeader.Flags |= EVENT_HEADER_FLAG_PROCESSOR_INDEX;
}

const char *etw_recorder_fill(struct etw_recorder *recorder, const struct etw_etl_block *block,
			      const struct etw_etl_event *event, int64_t time, EVENT_RECORD *record)
{
	const char *sentence = NULL;

	record->ExtendedDataCount = 0;
	record->ExtendedData = NULL;
	record->UserData = NULL;
	record->UserDataLength = 0;
	if (event->header_type == WIRE_HEADER_EVENT64 ||
	    event->header_type == WIRE_HEADER_EVENT32) {
		sentence = fill_event(recorder, event, record);
	} else {
		memset(&record->EventHeader, 0, sizeof(record->EventHeader));
		switch (event->header_type) {
		case WIRE_HEADER_PERFINFO32:
		case WIRE_HEADER_PERFINFO64:
			sentence = fill_perfinfo(recorder, event, record);
			break;
		case WIRE_HEADER_FULL32:
		case WIRE_HEADER_FULL64:
			fill_full(event, record);
			break;
		case WIRE_HEADER_INSTANCE32:
		case WIRE_HEADER_INSTANCE64:
			sentence = fill_instance(recorder, event, record);
			break;
		case WIRE_HEADER_MESSAGE:
			fill_message(recorder, event, record);
			break;
		default:
			fill_system(event, record);
		}
		record->EventHeader.Size = (USHORT)event->bytes;
	}
	record->EventHeader.TimeStamp.QuadPart = time;
	record->EventHeader.Flags |= recorder->flags;
	set_context(block, record);
	return sentence;
}

void etw_record_loss(const struct etw_etl_block *block, uint16_t flag, int64_t time,
		     EVENT_RECORD *record)
{
	EVENT_HEADER *header = &record->EventHeader;

	memset(header, 0, sizeof(*header));
	header->Size = sizeof(struct wire_full_header);
	header->Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
	header->ProviderId = etw_lost_event_guid;
	header->EventDescriptor.Opcode = flag == WIRE_BUFFER_EVENTS_LOST   ? LOSS_OPCODE_EVENT
					 : flag == WIRE_BUFFER_BUFFER_LOST ? LOSS_OPCODE_BUFFER
									   : LOSS_OPCODE_FILE;
	header->TimeStamp.QuadPart = time;
	record->ExtendedDataCount = 0;
	record->ExtendedData = NULL;
	record->UserData = NULL;
	record->UserDataLength = 0;
	set_context(block, record);
}
