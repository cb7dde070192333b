/* SPDX-License-Identifier: MIT */
/* The bytes of a note; see wire/session_note.h. Source: docs/format/tracelogging.md. */
#include "wire/session_note.h"

#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/etl_event.h"

#define CHANNEL_TRACELOGGING 11
#define HAS_OUT_TYPE         0x80
#define SCHEMA_BYTES_MAX     128
#define MESSAGE_NAME         "Message"

static const struct kind {
	const char *name;
	const char *numbers[WIRE_SESSION_NOTE_NUMBERS]; /* NULL: no more */
} kinds[WIRE_NOTE_KINDS] = {
	[WIRE_NOTE_CLAIMED_LOSS] = {"ClaimedLoss", {"Uid", "Events", "Disregarded"}},
	[WIRE_NOTE_NOT_COLLECTED] = {"NotCollected",
				     {"EnableFlags", "Masks01", "Masks23", "Masks45", "Masks67"}},
	[WIRE_NOTE_FILE_ENDED] = {"FileEnded", {"Status", "Bytes"}},
	[WIRE_NOTE_CANNOT_WRITE] = {"CannotWrite", {"Uid", "ProcessId", "Events"}},
	[WIRE_NOTE_NO_STACKS] = {"NoStacks", {"Events"}},
	[WIRE_NOTE_NOT_AS_ASKED] = {"NotAsAsked", {"Options"}},
};

const char *wire_session_note_name(uint32_t kind)
{
	return kinds[kind].name;
}

const char *wire_session_note_number_name(uint32_t kind, unsigned number)
{
	return number < WIRE_SESSION_NOTE_NUMBERS ? kinds[kind].numbers[number] : NULL;
}

void wire_session_note_set_masks(uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS],
				 const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	numbers[0] = etw_group_masks_to_flags(masks);
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS / 2; i++)
		numbers[1 + i] = masks[2 * i] | (uint64_t)masks[2 * i + 1] << 32;
}

void wire_session_note_masks(const struct wire_session_note *note,
			     uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		ret[i] = (uint32_t)(note->numbers[1 + i / 2] >> (i & 1 ? 32 : 0));
}

static uint8_t *put_name(uint8_t *at, const char *name)
{
	size_t bytes = strlen(name) + 1;

	memcpy(at, name, bytes);
	return at + bytes;
}

/* The event's metadata: its own size, no tags, its name; each field's name and type. */
static uint32_t put_schema(const struct kind *kind, uint8_t *room)
{
	uint8_t *at = room + 2;

	*at++ = 0;
	at = put_name(at, kind->name);
	for (unsigned i = 0; i < WIRE_SESSION_NOTE_NUMBERS && kind->numbers[i]; i++) {
		at = put_name(at, kind->numbers[i]);
		*at++ = TDH_INTYPE_UINT64;
	}
	at = put_name(at, MESSAGE_NAME);
	*at++ = TDH_INTYPE_ANSISTRING | HAS_OUT_TYPE;
	*at++ = TDH_OUTTYPE_UTF8;
	etw_store16(room, (uint16_t)(at - room));
	return (uint32_t)(at - room);
}

static uint32_t put_traits(uint8_t *room)
{
	const uint8_t *end = put_name(room + 2, WIRE_SESSION_NOTE_PROVIDER_NAME);

	etw_store16(room, (uint16_t)(end - room));
	return (uint32_t)(end - room);
}

/* Returns where the next one stands. */
static uint8_t *put_item(uint8_t *at, uint16_t type, const uint8_t *data, uint32_t data_bytes,
			 bool is_last)
{
	uint32_t bytes = ALIGN_UP((uint32_t)sizeof(struct wire_extended_item) + data_bytes, 8);

	etw_store16(at, (uint16_t)bytes);
	etw_store16(at + 2, type);
	etw_store16(at + 4, is_last ? 0 : WIRE_EXTENDED_LINKAGE);
	etw_store16(at + 6, (uint16_t)data_bytes);
	memcpy(at + sizeof(struct wire_extended_item), data, data_bytes);
	return at + bytes;
}

/* At most so many bytes, and no letter cut in two. */
static size_t message_bytes(const char *message)
{
	size_t bytes = strnlen(message, WIRE_SESSION_NOTE_MESSAGE_MAX + 1);

	if (bytes <= WIRE_SESSION_NOTE_MESSAGE_MAX)
		return bytes;
	bytes = WIRE_SESSION_NOTE_MESSAGE_MAX;
	while (bytes > 0 && ((uint8_t)message[bytes] & 0xC0) == 0x80)
		bytes--;
	return bytes;
}

static uint8_t *put_payload(const struct wire_session_note *note, uint8_t *at)
{
	const struct kind *kind = &kinds[note->kind];
	size_t bytes = message_bytes(note->message);

	for (unsigned i = 0; i < WIRE_SESSION_NOTE_NUMBERS && kind->numbers[i]; i++, at += 8)
		etw_store64(at, note->numbers[i]);
	memcpy(at, note->message, bytes);
	at[bytes] = '\0';
	return at + bytes + 1;
}

uint32_t wire_session_note_encode(const struct wire_session_note *note,
				  const struct wire_session_note_origin *origin, uint8_t *room)
{
	static const GUID provider = WIRE_SESSION_NOTE_PROVIDER;
	uint8_t data[SCHEMA_BYTES_MAX];
	uint8_t *at = room + sizeof(struct wire_event_header);
	uint32_t bytes;

	memset(room, 0, WIRE_SESSION_NOTE_BYTES_MAX);
	at = put_item(at, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, data, put_traits(data), false);
	at = put_item(at, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, data,
		      put_schema(&kinds[note->kind], data), true);
	at = put_payload(note, at);
	bytes = (uint32_t)(at - room);
	etw_store16(room, (uint16_t)bytes);
	room[2] = sizeof(void *) == 8 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32;
	room[3] = WIRE_EVENT_FLAG_TRACE;
	etw_store16(room + 0x04, WIRE_EVENT_EXTENDED_INFO);
	etw_store32(room + 0x08, origin->thread_id);
	etw_store32(room + 0x0C, origin->process_id);
	etw_store64(room + 0x10, (uint64_t)origin->time_raw);
	etw_guid_write(room + 0x18, &provider);
	room[0x2B] = CHANNEL_TRACELOGGING;
	room[0x2C] = TRACE_LEVEL_WARNING;
	return bytes;
}

static bool is_schema_of(const struct kind *kind, struct etw_bytes schema)
{
	uint8_t own[SCHEMA_BYTES_MAX];

	return put_schema(kind, own) == schema.left && memcmp(own, schema.at, schema.left) == 0;
}

static bool take_payload(struct etw_bytes payload, struct wire_session_note *note)
{
	const struct kind *kind = &kinds[note->kind];
	const uint8_t *end;

	for (unsigned i = 0; i < WIRE_SESSION_NOTE_NUMBERS && kind->numbers[i]; i++) {
		if (payload.left < 8)
			return false;
		note->numbers[i] = etw_load64(payload.at);
		payload.at += 8;
		payload.left -= 8;
	}
	end = payload.left ? memchr(payload.at, 0, payload.left) : NULL;
	if (!end || (size_t)(end - payload.at) > WIRE_SESSION_NOTE_MESSAGE_MAX)
		return false;
	memcpy(note->message, payload.at, (size_t)(end - payload.at) + 1);
	return true;
}

bool wire_session_note_decode(struct etw_bytes schema, struct etw_bytes payload,
			      struct wire_session_note *ret)
{
	struct wire_session_note note = {0};

	while (note.kind < WIRE_NOTE_KINDS && !is_schema_of(&kinds[note.kind], schema))
		note.kind++;
	if (note.kind == WIRE_NOTE_KINDS || !take_payload(payload, &note))
		return false;
	*ret = note;
	return true;
}
