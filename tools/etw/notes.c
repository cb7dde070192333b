/* SPDX-License-Identifier: MIT */
#include "tools/etw/notes.h"

#include <inttypes.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "consumer/trace.h"
#include "export/export.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/etw/schema_item.h"

static bool decode(const EVENT_RECORD *record, struct wire_session_note *ret)
{
	static const GUID provider = WIRE_SESSION_NOTE_PROVIDER;
	const GUID *own = &record->EventHeader.ProviderId;
	struct etw_bytes schema;

	if (LIKELY(own->Data1 != provider.Data1) || !etw_guid_equal(own, &provider))
		return false;
	schema = schema_item_of(record);
	return schema.at &&
	       wire_session_note_decode(
		       schema, (struct etw_bytes){record->UserData, record->UserDataLength}, ret);
}

bool notes_is_of(const EVENT_RECORD *record, enum wire_session_note_kind kind)
{
	struct wire_session_note note;

	return decode(record, &note) && note.kind == (uint32_t)kind;
}

void notes_take(struct notes *notes, const EVENT_RECORD *record)
{
	struct wire_session_note note;

	if (!decode(record, &note))
		return;
	if (note.kind == WIRE_NOTE_LOST || note.kind == WIRE_NOTE_INCOMPLETE) {
		loss_table_take(&notes->losses, &note);
		return;
	}
	if (notes->count < NOTES_KEPT_MAX)
		notes->kept[notes->count] = note;
	notes->count++;
}

static int take_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	(void)buffer;
	(void)header_type;
	(void)address;
	notes_take(context, record);
	return 0;
}

int notes_read(struct notes *notes, const char *path)
{
	const struct etw_trace_visitor visitor = {.context = notes, .event = take_event};
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;

	TRY(etw_trace_open(path, &trace, NULL));
	return etw_trace_each_buffer(trace, &visitor);
}

static uint32_t kept_count(const struct notes *notes)
{
	return notes->count < NOTES_KEPT_MAX ? (uint32_t)notes->count : NOTES_KEPT_MAX;
}

bool notes_kernel_missing(const struct notes *notes, uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS], any = 0;

	memset(ret, 0, sizeof(masks));
	for (uint32_t i = 0; i < kept_count(notes); i++) {
		if (notes->kept[i].kind != WIRE_NOTE_NOT_COLLECTED)
			continue;
		wire_session_note_masks(&notes->kept[i], masks);
		for (unsigned k = 0; k < WIRE_GROUP_MASKS_WORDS; k++)
			any |= ret[k] |= masks[k];
	}
	return any != 0;
}

void notes_write(struct etw_text *text, const struct notes *notes)
{
	for (uint32_t i = 0; i < kept_count(notes); i++) {
		etw_text_puts(text, "note: ");
		etw_output_clean(text, notes->kept[i].message);
		etw_text_putc(text, '\n');
	}
	if (notes->count > NOTES_KEPT_MAX) {
		etw_text_puts(text, "... and ");
		etw_number_count(text, notes->count - NOTES_KEPT_MAX, "note");
		etw_text_puts(text, " more\n");
	}
	loss_table_write(text, &notes->losses, "");
}

/* "EnableFlags" as this format's keys are: "enable_flags". */
static void put_key(struct etw_text *text, const char *name)
{
	etw_text_puts(text, ",\"");
	for (const char *at = name; *at; at++) {
		bool is_capital = *at >= 'A' && *at <= 'Z';

		if (is_capital && at > name)
			etw_text_putc(text, '_');
		etw_text_putc(text, is_capital ? (char)(*at - 'A' + 'a') : *at);
	}
	etw_text_puts(text, "\":");
}

static void put_note(struct etw_text *text, const struct wire_session_note *note)
{
	const char *name;

	etw_text_printf(text, "{\"kind\":\"%s\"", wire_session_note_name(note->kind));
	for (unsigned i = 0; (name = wire_session_note_number_name(note->kind, i)) != NULL; i++) {
		put_key(text, name);
		etw_text_unsigned(text, note->numbers[i]);
	}
	etw_text_puts(text, ",\"message\":");
	etw_text_json_ansi(text, (const uint8_t *)note->message, strlen(note->message));
	etw_text_putc(text, '}');
}

void notes_write_json(struct etw_text *text, const struct notes *notes)
{
	loss_table_write_json(text, &notes->losses);
	if (!notes->count)
		return;
	etw_text_puts(text, ",\"notes\":[");
	for (uint32_t i = 0; i < kept_count(notes); i++) {
		if (i)
			etw_text_putc(text, ',');
		put_note(text, &notes->kept[i]);
	}
	etw_text_putc(text, ']');
}
