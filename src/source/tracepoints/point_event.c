/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/point_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntcons.h>
#include <tdh.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/metadata/event_info_write.h"
#include "wire/class_guids.h"
#include "wire/etl_event.h"
#include "wire/event_info.h"
#include "wire/own_event.h"

#define HAS_OUT_TYPE 0x80
#define IS_64        (sizeof(void *) == 8)

static uint32_t stack_bytes(const struct etw_tracepoint_sample *sample)
{
	return sample->frame_count
		       ? (uint32_t)sizeof(struct wire_extended_item) + 8 + 8 * sample->frame_count
		       : 0;
}

/* EVENT_EXTENDED_ITEM_STACK_TRACE64: a number that no other event has a part of, and the addresses. */
static uint8_t *put_stack(uint8_t *at, const struct etw_tracepoint_sample *sample)
{
	const uint32_t bytes = stack_bytes(sample);

	etw_store16(at, (uint16_t)bytes);
	etw_store16(at + 2, EVENT_HEADER_EXT_TYPE_STACK_TRACE64);
	etw_store16(at + 4, 0);
	etw_store16(at + 6, (uint16_t)(bytes - sizeof(struct wire_extended_item)));
	etw_store64(at + 8, 0);
	for (uint32_t i = 0; i < sample->frame_count; i++)
		etw_store64(at + 16 + 8 * (size_t)i, sample->frames[i]);
	return at + bytes;
}

int etw_tracepoint_event(const struct etw_tracepoint_point *point,
			 const struct etw_tracepoint_sample *sample, struct etw_bytes payload,
			 struct etw_tracepoint_item **ret)
{
	const EVENT_DESCRIPTOR *descriptor = &point->event.layout->schema.descriptor;
	const uint32_t stack = stack_bytes(sample);
	const size_t bytes = sizeof(struct wire_event_header) + stack + payload.left;
	struct etw_tracepoint_item *item;
	struct wire_event_header header = {
		.bytes = le16_of((uint16_t)bytes),
		.header_type = IS_64 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.flags = le16_of(stack ? WIRE_EVENT_EXTENDED_INFO : 0),
		.thread_id = le32_of(sample->tid),
		.process_id = le32_of(sample->pid),
		.id = le16_of(descriptor->Id),
		.version = descriptor->Version,
		.level = descriptor->Level,
		.task = le16_of(descriptor->Task),
		.keyword = le64_of(descriptor->Keyword),
	};
	uint8_t *at;

	if (bytes > ETW_TRACEPOINT_EVENT_BYTES_MAX)
		return -EMSGSIZE;
	item = etw_tracepoint_item_new((uint32_t)bytes);
	if (!item)
		return -ENOMEM;
	item->time_ns = sample->time_ns;
	etw_guid_write(header.provider, &point->provider);
	memcpy(item->bytes, &header, sizeof(header));
	at = item->bytes + sizeof(header);
	if (stack)
		at = put_stack(at, sample);
	memcpy(at, payload.at, payload.left);
	*ret = item;
	return 0;
}

/* A classic event of the class that carries schemas. */
static int describe_by(uint8_t opcode, const GUID *provider, const uint8_t *blob, size_t blob_bytes,
		       etw_tracepoint_take_fn *take, void *context)
{
	static const GUID class_guid = WIRE_CLASS_EVENT_METADATA;
	const size_t bytes = sizeof(struct wire_full_header) + (provider ? sizeof(GUID) : 0) +
			     blob_bytes;
	struct etw_tracepoint_item *item;
	struct wire_full_header header = {
		.bytes = le16_of((uint16_t)bytes),
		.header_type = IS_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = opcode,
		.thread_id = le32_of(WIRE_OWN_NOBODY),
		.process_id = le32_of((uint32_t)getpid()),
	};
	uint8_t *at;

	if (bytes > ETW_TRACEPOINT_EVENT_BYTES_MAX)
		return 0;
	item = etw_tracepoint_item_new((uint32_t)bytes);
	if (!item)
		return -ENOMEM;
	etw_guid_write(header.guid, &class_guid);
	memcpy(item->bytes, &header, sizeof(header));
	at = item->bytes + sizeof(header);
	if (provider) {
		etw_guid_write(at, provider);
		at += sizeof(GUID);
	}
	memcpy(at, blob, blob_bytes);
	return take(context, item);
}

static int describe_event(const struct etw_tracepoint_point *point, etw_tracepoint_take_fn *take,
			  void *context)
{
	CLEANUP(freep) uint8_t *blob = NULL;
	size_t bytes;

	TRY(etw_event_info_write(&point->event.layout->schema, &blob, &bytes));
	return describe_by(WIRE_EVENT_METADATA_INFO, NULL, blob, bytes, take, context);
}

static int describe_maps(const struct etw_tracepoint_point *point, etw_tracepoint_take_fn *take,
			 void *context)
{
	const struct etw_schema *schema = &point->event.layout->schema;

	for (uint32_t i = 0; i < schema->field_count; i++) {
		CLEANUP(freep) uint8_t *blob = NULL;
		size_t bytes;

		if (!schema->fields[i].map)
			continue;
		TRY(etw_event_map_write(schema->fields[i].map, &blob, &bytes));
		TRY(describe_by(WIRE_EVENT_METADATA_MAP, &point->provider, blob, bytes, take,
				context));
	}
	return 0;
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t bytes)
{
	memcpy(at, text, bytes);
	at[bytes] = '\0';
	return at + bytes + 1;
}

/* No tags, the event's name; each field's name and type. */
static uint32_t put_format_schema(uint8_t *room)
{
	static const char *const names[] = {"Provider", "Event", "Format"};
	uint8_t *at = room;

	*at++ = 0;
	at = put_text(at, "TracepointFormat", strlen("TracepointFormat"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		at = put_text(at, names[i], strlen(names[i]));
		*at++ = TDH_INTYPE_ANSISTRING | HAS_OUT_TYPE;
		*at++ = TDH_OUTTYPE_UTF8;
	}
	return (uint32_t)(at - room);
}

/* The kernel's text as it is. */
static int describe_format(const struct etw_tracepoint_point *point, etw_tracepoint_take_fn *take,
			   void *context)
{
	static const GUID provider = ETW_TRACEPOINT_NOTES_PROVIDER;
	const char *provider_name = point->event.layout->schema.provider_name;
	uint8_t schema[128];
	const struct wire_own_event own = {
		.provider = &provider,
		.provider_name = ETW_TRACEPOINT_NOTES_NAME,
		.schema = schema,
		.schema_bytes = put_format_schema(schema),
		.level = 4,
		.process_id = (uint32_t)getpid(),
		.thread_id = WIRE_OWN_NOBODY,
	};
	const size_t room =
		WIRE_OWN_HEAD_BYTES(sizeof(ETW_TRACEPOINT_NOTES_NAME), own.schema_bytes) +
		strlen(provider_name) + strlen(point->name) + point->event.text_bytes + 3;
	struct etw_tracepoint_item *item;
	uint8_t *at;

	if (room > ETW_TRACEPOINT_EVENT_BYTES_MAX)
		return 0;
	item = etw_tracepoint_item_new((uint32_t)room);
	if (!item)
		return -ENOMEM;
	memset(item->bytes, 0, room);
	at = wire_own_event_begin(&own, item->bytes);
	at = put_text(at, provider_name, strlen(provider_name));
	at = put_text(at, point->name, strlen(point->name));
	at = put_text(at, point->event.text, point->event.text_bytes);
	item->byte_count = wire_own_event_end(item->bytes, at);
	return take(context, item);
}

int etw_tracepoint_describe(const struct etw_tracepoint_point *point, etw_tracepoint_take_fn *take,
			    void *context)
{
	TRY(describe_event(point, take, context));
	TRY(describe_maps(point, take, context));
	return describe_format(point, take, context);
}
