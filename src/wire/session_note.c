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
#include "wire/own_event.h"

#define HAS_OUT_TYPE     0x80
#define SCHEMA_BYTES_MAX 128
#define MESSAGE_NAME     "Message"

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
	[WIRE_NOTE_STACKS_BY_TABLES] = {"StacksByTables", {NULL}},
	[WIRE_NOTE_LOST] = {"Lost", {"Cause", "Class", "Processor", "Events"}},
	[WIRE_NOTE_INCOMPLETE] = {"Incomplete", {"Cause", "Class", "Processor", "Events"}},
	[WIRE_NOTE_SUSPENDED] = {"Suspended", {"AsleepNs", "TooEarlyNs", "NoticedAt"}},
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

/* The event's metadata: no tags, its name; each field's name and type. */
static uint32_t put_schema(const struct kind *kind, uint8_t *room)
{
	uint8_t *at = room;

	*at++ = 0;
	at = put_name(at, kind->name);
	for (unsigned i = 0; i < WIRE_SESSION_NOTE_NUMBERS && kind->numbers[i]; i++) {
		at = put_name(at, kind->numbers[i]);
		*at++ = TDH_INTYPE_UINT64;
	}
	at = put_name(at, MESSAGE_NAME);
	*at++ = TDH_INTYPE_ANSISTRING | HAS_OUT_TYPE;
	*at++ = TDH_OUTTYPE_UTF8;
	return (uint32_t)(at - room);
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
	uint8_t schema[SCHEMA_BYTES_MAX];
	const struct wire_own_event event = {
		.provider = &provider,
		.provider_name = WIRE_SESSION_NOTE_PROVIDER_NAME,
		.schema = schema,
		.schema_bytes = put_schema(&kinds[note->kind], schema),
		.level = TRACE_LEVEL_WARNING,
		.process_id = origin->process_id,
		.thread_id = origin->thread_id,
	};
	uint8_t *at;

	memset(room, 0, WIRE_SESSION_NOTE_BYTES_MAX);
	etw_store64(room + 0x10, (uint64_t)origin->time_raw);
	at = wire_own_event_begin(&event, room);
	return wire_own_event_end(room, put_payload(note, at));
}

static bool is_schema_of(const struct kind *kind, struct etw_bytes schema)
{
	uint8_t own[SCHEMA_BYTES_MAX];

	return wire_own_event_is(schema, own, put_schema(kind, own));
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
