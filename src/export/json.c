/* SPDX-License-Identifier: MIT */
/*
 * One JSON object per event and line; the keys are described in docs/format/json.md. This is a hot
 * path: no printf, no allocation per event once the text has grown.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "decode/format_message.h"
#include "decode/guess.h"
#include "export/export_internal.h"
#include "schema/origin.h"

/* Room for three numbers with their keys, and for an event's address. */
#define CONTEXT_BYTES_MAX (3 * (8 + ETW_DIGITS_BYTES_MAX))
#define ADDRESS_BYTES_MAX (40 + 2 * ETW_DIGITS_BYTES_MAX)

/* Extended items up to which all before one are looked at. */
#define FEW_ITEMS 32

#define PUT_LITERAL(text, literal) etw_text_append(text, literal, sizeof(literal) - 1)

static void put_string(const char *string, size_t bytes, struct etw_text *text)
{
	etw_text_json_string(text, string, bytes);
}

/* ,"key":"name" where there is a name. */
static void put_name(const char *prefix, const char *name, struct etw_text *text)
{
	if (!name || !*name)
		return;
	etw_text_puts(text, prefix);
	put_string(name, etw_export_trimmed(name), text);
}

/* Prefixes are literals: inline, their length is known and the copy is a store or two. */
static ALWAYS_INLINE char *write_prefix(char *to, const char *prefix)
{
	const size_t bytes = strlen(prefix);

	memcpy(to, prefix, bytes);
	return to + bytes;
}

static ALWAYS_INLINE char *write_number(char *to, const char *prefix, uint64_t value)
{
	return etw_write_unsigned(write_prefix(to, prefix), value);
}

static ALWAYS_INLINE void put_number(const char *prefix, uint64_t value, struct etw_text *text)
{
	char *to = etw_text_begin(text, strlen(prefix) + ETW_DIGITS_BYTES_MAX);

	if (to)
		etw_text_end(text, write_number(to, prefix, value));
}

static void put_guid(const char *prefix, const GUID *guid, struct etw_text *text)
{
	etw_text_puts(text, prefix);
	etw_text_putc(text, '"');
	etw_export_guid(guid, text);
	etw_text_putc(text, '"');
}

static void put_hex(const char *prefix, uint64_t value, struct etw_text *text)
{
	etw_text_puts(text, prefix);
	etw_text_putc(text, '"');
	etw_export_hex64(value, text);
	etw_text_putc(text, '"');
}

static void put_bytes(const char *prefix, const void *at, size_t bytes, struct etw_text *text)
{
	etw_text_puts(text, prefix);
	etw_text_putc(text, '"');
	etw_export_hex(at, bytes, text);
	etw_text_putc(text, '"');
}

static void put_addresses(const uint8_t *at, size_t bytes, size_t each, struct etw_text *text)
{
	PUT_LITERAL(text, ",\"stack\":[");
	for (size_t i = 0; i + each <= bytes; i += each)
		put_hex(i ? "," : "", each == 4 ? etw_load32(at + i) : etw_load64(at + i), text);
	etw_text_putc(text, ']');
}

/* Stacks with their match id, which joins a kernel and a user half. */
static void put_stack(const uint8_t *at, size_t bytes, size_t each, struct etw_text *text)
{
	if (etw_load64(at))
		put_hex(",\"stack_match_id\":", etw_load64(at), text);
	put_addresses(at + 8, bytes - 8, each, text);
}

static void put_sid(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	PUT_LITERAL(text, ",\"sid\":\"");
	etw_format_value(TDH_INTYPE_SID, TDH_OUTTYPE_NULL, NULL, at, bytes, text);
	etw_text_putc(text, '"');
}

static void put_other_item(unsigned type, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	put_number(",\"item_", type, text);
	put_bytes("\":", at, bytes, text);
}

/* The items with a known meaning and right size; false for the others. */
static bool put_known_item(unsigned type, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	GUID guid;

	switch (type) {
	case EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID:
	case EVENT_HEADER_EXT_TYPE_CONTROL_GUID:
		if (bytes < sizeof(guid))
			return false;
		memcpy(&guid, at, sizeof(guid));
		put_guid(type == EVENT_HEADER_EXT_TYPE_CONTROL_GUID ? ",\"control_guid\":"
								    : ",\"related_activity\":",
			 &guid, text);
		return true;
	case EVENT_HEADER_EXT_TYPE_SID:
		if (bytes < 8 || bytes != 8 + 4 * (size_t)at[1])
			return false;
		put_sid(at, bytes, text);
		return true;
	case EVENT_HEADER_EXT_TYPE_TS_ID:
		if (bytes != 4)
			return false;
		put_number(",\"terminal_session\":", etw_load32(at), text);
		return true;
	case EVENT_HEADER_EXT_TYPE_STACK_TRACE32:
	case EVENT_HEADER_EXT_TYPE_STACK_TRACE64:
		if (bytes < 8)
			return false;
		put_stack(at, bytes, type == EVENT_HEADER_EXT_TYPE_STACK_TRACE32 ? 4 : 8, text);
		return true;
	case EVENT_HEADER_EXT_TYPE_EVENT_KEY:
	case EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY:
		if (bytes != 8)
			return false;
		put_hex(type == EVENT_HEADER_EXT_TYPE_EVENT_KEY ? ",\"event_key\":"
								: ",\"process_start_key\":",
			etw_load64(at), text);
		return true;
	case EVENT_HEADER_EXT_TYPE_INSTANCE_INFO:
		if (bytes < 8)
			return false;
		put_number(",\"instance\":", etw_load32(at), text);
		put_number(",\"parent_instance\":", etw_load32(at + 4), text);
		return true;
	default:
		return false;
	}
}

/* Which of its type the item is, from 1. @counts: by type, of those before it; NULL: they are looked at */
static unsigned nth_of_type(const EVENT_RECORD *record, unsigned index, uint16_t *counts)
{
	const USHORT type = record->ExtendedData[index].ExtType;
	unsigned nth = 1;

	if (counts)
		return ++counts[type];
	for (unsigned i = 0; i < index; i++)
		nth += record->ExtendedData[i].ExtType == type;
	return nth;
}

/* An item whose type came before, raw, since its keys would occur twice: "item_6#2". */
static void put_repeated_item(const EVENT_HEADER_EXTENDED_DATA_ITEM *item, unsigned nth,
			      struct etw_text *text)
{
	put_number(",\"item_", item->ExtType, text);
	put_number("#", nth, text);
	put_bytes("\":", (const void *)(uintptr_t)item->DataPtr, item->DataSize, text);
}

static ALWAYS_INLINE void put_items(const EVENT_RECORD *record, uint16_t *counts,
				    struct etw_text *text)
{
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		const uint8_t *at = (const uint8_t *)(uintptr_t)item->DataPtr;
		const unsigned nth = nth_of_type(record, i, counts);

		/* Schemas and names, which fields and provider show. */
		if (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL ||
		    item->ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS)
			continue;
		if (UNLIKELY(nth > 1))
			put_repeated_item(item, nth, text);
		else if (item->ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO &&
			 (record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) &&
			 item->DataSize >= 4)
			put_number(",\"sequence\":", etw_load32(at), text);
		else if (!put_known_item(item->ExtType, at, item->DataSize, text))
			put_other_item(item->ExtType, at, item->DataSize, text);
	}
}

/* Not all of those before one are looked at. */
static void put_many_items(const EVENT_RECORD *record, struct etw_text *text)
{
	CLEANUP(freep) uint16_t *counts = calloc(UINT16_MAX + (size_t)1, sizeof(*counts));

	if (counts)
		put_items(record, counts, text);
	else
		text->error = -ENOMEM;
}

static void put_time(const struct etw_export_event *event, struct etw_text *text)
{
	PUT_LITERAL(text, "{\"time\":\"");
	etw_export_time(event->cache, event->record->EventHeader.TimeStamp.QuadPart, text);
	etw_text_putc(text, '"');
	if (event->flags & ETW_EXPORT_HAS_RAW) {
		PUT_LITERAL(text, ",\"raw_time\":\"");
		etw_text_signed(text, event->raw_time);
		etw_text_putc(text, '"');
	}
}

/* Who says what the event looks like, and what is doubtful about that. */
static void put_origin(const struct etw_schema *schema, struct etw_text *text)
{
	const char *comma = "";

	put_name(",\"schema\":", etw_schema_origin_name((enum etw_schema_origin)schema->origin),
		 text);
	if (!schema->marks)
		return;
	PUT_LITERAL(text, ",\"schema_marks\":[");
	for (unsigned i = 0; i < ETW_SCHEMA_MARKS; i++) {
		if (!(schema->marks & 1u << i))
			continue;
		etw_text_puts(text, comma);
		put_string(etw_schema_mark_name(i), strlen(etw_schema_mark_name(i)), text);
		comma = ",";
	}
	etw_text_putc(text, ']');
}

/* Who wrote the event, and what kind it is. */
static void put_identity(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_schema *schema = event->decoding ? event->decoding->schema : NULL;
	const EVENT_HEADER *header = &event->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

	put_name(",\"provider\":", etw_export_provider_name(event), text);
	put_guid(",\"guid\":", &header->ProviderId, text);
	if (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		PUT_LITERAL(text, ",\"classic\":true");
	else
		put_number(",\"id\":", descriptor->Id, text);
	put_number(",\"version\":", descriptor->Version, text);
	put_number(",\"level\":", descriptor->Level, text);
	put_number(",\"opcode\":", descriptor->Opcode, text);
	if (!(header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)) {
		put_number(",\"task\":", descriptor->Task, text);
		put_number(",\"channel\":", descriptor->Channel, text);
		put_hex(",\"keywords\":", descriptor->Keyword, text);
	}
	if (!schema)
		return;
	put_name(",\"task_name\":", schema->task_name, text);
	put_name(",\"opcode_name\":", schema->opcode_name, text);
	if (schema->event_name != schema->task_name)
		put_name(",\"event_name\":", schema->event_name, text);
	put_name(",\"keyword_names\":", schema->keywords, text);
	put_origin(schema, text);
}

/* The header's ids, where the event is about other ones. */
static void put_header_ids(const struct etw_export_event *event,
			   const struct etw_export_subject *subject, struct etw_text *text)
{
	const EVENT_HEADER *header = &event->record->EventHeader;

	if (header->ProcessId != NO_ID && header->ProcessId != subject->pid)
		put_number(",\"header_pid\":", header->ProcessId, text);
	if (header->ThreadId != NO_ID && header->ThreadId != subject->tid)
		put_number(",\"header_tid\":", header->ThreadId, text);
}

/* Where it happened. */
static void put_context(const struct etw_export_event *event, struct etw_text *text)
{
	const EVENT_RECORD *record = event->record;
	const EVENT_HEADER *header = &record->EventHeader;
	const struct etw_export_subject subject = etw_export_subject_of(event);

	char *to = etw_text_begin(text, CONTEXT_BYTES_MAX);

	if (!to)
		return;
	if (subject.pid != NO_ID)
		to = write_number(to, ",\"pid\":", subject.pid);
	if (subject.tid != NO_ID)
		to = write_number(to, ",\"tid\":", subject.tid);
	etw_text_end(text, write_number(to, ",\"cpu\":", event->processor));
	put_name(",\"process\":", subject.process_name, text);
	put_name(",\"thread_name\":", subject.thread_name, text);
	if (event->subject)
		put_header_ids(event, &subject, text);
	if (!etw_guid_is_null(&header->ActivityId))
		put_guid(",\"activity\":", &header->ActivityId, text);
	if (UNLIKELY(record->ExtendedDataCount > FEW_ITEMS))
		put_many_items(record, text);
	else if (UNLIKELY(record->ExtendedDataCount))
		put_items(record, NULL, text);
}

/* Where, as what, and the value. */
static void put_guess(const EVENT_RECORD *record, const struct etw_guess *guess,
		      struct etw_text *text)
{
	const char *kind = "number";

	if (guess->in_type == TDH_INTYPE_UNICODESTRING || guess->in_type == TDH_INTYPE_ANSISTRING)
		kind = "string";
	else if (guess->in_type == TDH_INTYPE_SID)
		kind = "sid";
	else if (guess->in_type == TDH_INTYPE_FILETIME)
		kind = "time";
	else if (guess->in_type == TDH_INTYPE_POINTER)
		kind = "address";
	put_number("{\"offset\":", guess->offset, text);
	PUT_LITERAL(text, ",\"as\":\"");
	etw_text_puts(text, kind);
	PUT_LITERAL(text, "\",\"value\":");
	etw_format_value_json(guess->in_type, TDH_OUTTYPE_NULL, NULL,
			      (const uint8_t *)record->UserData + guess->offset, guess->bytes,
			      text);
	etw_text_putc(text, '}');
}

static void put_guesses(const struct etw_export_event *event, size_t offset, struct etw_text *text)
{
	const EVENT_RECORD *record = event->record;
	struct etw_guesser guesser;
	struct etw_guess guess;
	bool is_first = true;

	PUT_LITERAL(text, ",\"guess\":[");
	etw_guesser_init(&guesser, record->UserData, record->UserDataLength, offset,
			 event->start_ft);
	while (etw_guesser_next(&guesser, &guess)) {
		if (!is_first)
			etw_text_putc(text, ',');
		is_first = false;
		put_guess(record, &guess, text);
	}
	etw_text_putc(text, ']');
}

/* A WPP message and where its statement stands. */
static void put_wpp(const struct etw_decoding *decoding, const struct etw_export_plan *plan,
		    struct etw_text *text)
{
	etw_export_wpp_json_message(decoding, text);
	if (plan && LIKELY(!etw_text_error(&plan->place)))
		etw_text_append(text, plan->place.at, plan->place.bytes);
	else
		etw_export_wpp_json_place(decoding->schema->wpp, text);
}

/* The message that a manifest has for the event. */
static void put_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	const size_t before = text->bytes;
	size_t from;

	PUT_LITERAL(text, ",\"message\":\"");
	from = text->bytes;
	if (!etw_format_message_within(decoding, ETW_EXPORT_MESSAGE_BYTES_MAX, text)) {
		text->bytes = before;
		return;
	}
	etw_text_json_escape(text, from);
	etw_text_putc(text, '"');
}

/* The fields, and what is not in them. */
static void put_contents(const struct etw_export_event *event, const struct etw_export_plan *plan,
			 struct etw_text *text)
{
	const struct etw_decoding *decoding = event->decoding;
	const EVENT_RECORD *record = event->record;

	if (decoding && decoding->schema) {
		if (decoding->schema->wpp)
			put_wpp(decoding, plan, text);
		else if (decoding->schema->message)
			put_message(decoding, text);
		PUT_LITERAL(text, ",\"fields\":");
		etw_json_fields(decoding, plan, text);
	}
	if (decoding && LIKELY(decoding->status == ETW_DECODE_COMPLETE)) {
		PUT_LITERAL(text, ",\"status\":\"complete\"");
		return;
	}
	PUT_LITERAL(text, ",\"status\":\"");
	etw_text_puts(text, decoding ? etw_decode_status_name(decoding->status) : "not-decoded");
	etw_text_putc(text, '"');
	if (decoding) {
		put_name(",\"reason\":", decoding->reason, text);
		put_number(",\"decoded_bytes\":", decoding->consumed, text);
	}
	put_bytes(",\"payload\":", record->UserData, record->UserDataLength, text);
	if (event->flags & ETW_EXPORT_GUESS)
		put_guesses(event, decoding ? decoding->consumed : 0, text);
}

/* What is the same for all events of a kind: from the plan, where there is one. */
static const struct etw_export_plan *put_planned_identity(const struct etw_export_event *event,
							  struct etw_text *text)
{
	bool is_new;
	struct etw_export_plan *plan = etw_export_plan_find(event, &etw_export_json, &is_new);

	if (plan && UNLIKELY(is_new)) {
		put_identity(event, &plan->identity);
		if (plan->schema && plan->schema->wpp)
			etw_export_wpp_json_place(plan->schema->wpp, &plan->place);
		etw_json_plan_fields(plan, event);
	}
	if (plan && LIKELY(!etw_text_error(&plan->identity)))
		etw_text_append(text, plan->identity.at, plan->identity.bytes);
	else
		put_identity(event, text);
	return plan;
}

/* Where it was read, and the end of the line. */
static void put_address(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_event_address *address = &event->address;
	char *to = etw_text_begin(text, ADDRESS_BYTES_MAX);

	if (!to)
		return;
	if (LIKELY(address->offset != UINT32_MAX)) {
		to = write_number(to, ",\"address\":\"", address->buffer);
		to = write_number(to, ":", address->offset);
		to = write_prefix(to, "\"}\n");
	} else {
		to = write_number(to, ",\"synthesised\":true,\"address\":\"", address->buffer);
		to = write_prefix(to, ":loss\"}\n");
	}
	etw_text_end(text, to);
}

static void put_event(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_export_plan *plan;

	put_time(event, text);
	if (event->flags & ETW_EXPORT_FILES)
		put_number(",\"file\":", event->trace + 1, text);
	plan = put_planned_identity(event, text);
	put_context(event, text);
	put_contents(event, plan, text);
	put_address(event, text);
}

static void do_nothing(struct etw_text *text)
{
	(void)text;
}

const struct etw_export_format etw_export_json = {
	.name = "json",
	.one_line = "one JSON object per event and line",
	.begin = do_nothing,
	.event = put_event,
	.end = do_nothing,
};
