/* SPDX-License-Identifier: MIT */
#include "source/kernel/config/config_payload.h"

#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/utf.h"
#include "wire/etl_event.h"

#define GROUP_CONFIG 0x0B

void etw_kernel_payload_begin(struct etw_kernel_payload *payload)
{
	payload->count = 0;
	payload->is_full = false;
}

/* @bytes zeroed bytes, or NULL. */
static uint8_t *take(struct etw_kernel_payload *payload, size_t bytes)
{
	uint8_t *at = payload->at + payload->count;

	if (payload->is_full || bytes > sizeof(payload->at) - payload->count) {
		payload->is_full = true;
		return NULL;
	}
	memset(at, 0, bytes);
	payload->count += bytes;
	return at;
}

void etw_kernel_payload_put(struct etw_kernel_payload *payload, uint64_t value, size_t bytes)
{
	uint8_t *at = take(payload, bytes);

	for (size_t i = 0; at && i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

void etw_kernel_payload_put_guid(struct etw_kernel_payload *payload, const GUID *guid)
{
	uint8_t *at = take(payload, sizeof(*guid));

	if (at)
		etw_guid_write(at, guid);
}

/* At most @units_max units, none of them half of a pair. Returns how many. */
static size_t put_units(uint8_t *to, const char *text, size_t units_max)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t bytes = strlen(text), count = 0;

	while (bytes) {
		size_t used;
		uint32_t point = etw_utf8_decode(at, bytes, &used);

		if (count + (point > 0xFFFF && point != UINT32_MAX ? 2 : 1) > units_max)
			break;
		if (point > 0xFFFF && point != UINT32_MAX) {
			etw_store16(to + 2 * count++,
				    (uint16_t)(0xD800 + ((point - 0x10000) >> 10)));
			point = 0xDC00 + ((point - 0x10000) & 0x3FF);
		}
		etw_store16(to + 2 * count++, point == UINT32_MAX ? 0xFFFD : (uint16_t)point);
		at += used;
		bytes -= used;
	}
	return count;
}

void etw_kernel_payload_put_text(struct etw_kernel_payload *payload, const char *text,
				 size_t units_max)
{
	size_t units = strlen(text), before = payload->count;
	uint8_t *at;

	/* No unit takes less than a byte of UTF-8. */
	if (units > units_max)
		units = units_max;
	at = take(payload, (units + 1) * 2);
	if (at)
		payload->count = before + (put_units(at, text, units) + 1) * 2;
}

void etw_kernel_payload_put_field(struct etw_kernel_payload *payload, const char *text,
				  size_t units)
{
	uint8_t *at = take(payload, units * 2);

	if (at && units)
		(void)put_units(at, text, units - 1);
}

/* Returns where the payload goes, or NULL: it had no room, or the event is not wanted. */
static uint8_t *add(const struct etw_kernel_payload *payload, struct etw_kernel_out *out,
		    const void *header, size_t header_bytes, size_t time_at)
{
	uint8_t *at;

	if (payload->is_full) {
		out->no_memory++;
		return NULL;
	}
	at = etw_kernel_out_add(out, (uint32_t)(header_bytes + payload->count), (uint32_t)time_at);
	if (!at)
		return NULL;
	memcpy(at, header, header_bytes);
	memcpy(at + header_bytes, payload->at, payload->count);
	return at + header_bytes;
}

void etw_kernel_payload_write(const struct etw_kernel_payload *payload, struct etw_kernel_out *out,
			      const struct etw_kernel_actor *actor, uint8_t opcode, uint8_t version)
{
	struct wire_system_header full = {
		.version = le16_of(version),
		.header_type = WIRE_HEADER_SYSTEM64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)(sizeof(full) + payload->count)),
		.type = opcode,
		.group = GROUP_CONFIG,
		.thread_id = le32_of(actor ? actor->tid : 0),
		.process_id = le32_of(actor ? actor->pid : 0),
	};
	struct wire_perfinfo_header brief = {
		.version = le16_of(version),
		.header_type = WIRE_HEADER_PERFINFO64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)(sizeof(brief) + payload->count)),
		.type = opcode,
		.group = GROUP_CONFIG,
	};

	if (actor)
		(void)add(payload, out, &full, sizeof(full),
			  offsetof(struct wire_system_header, time_raw));
	else
		(void)add(payload, out, &brief, sizeof(brief),
			  offsetof(struct wire_perfinfo_header, time_raw));
}

void etw_kernel_payload_write_classic(const struct etw_kernel_payload *payload,
				      struct etw_kernel_out *out, const GUID *class_guid,
				      uint8_t opcode)
{
	struct wire_full_header header = {
		.header_type = WIRE_HEADER_FULL64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = opcode,
		.bytes = le16_of((uint16_t)(sizeof(header) + payload->count)),
	};

	etw_guid_write(header.guid, class_guid);
	(void)add(payload, out, &header, sizeof(header),
		  offsetof(struct wire_full_header, time_raw));
}
