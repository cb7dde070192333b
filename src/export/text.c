/* SPDX-License-Identifier: MIT */
/*
 * One line per event for people: time, processor, process, thread, name, fields. What could not be
 * decoded is shown raw, with the reason. Nothing in a trace can drive the terminal.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "decode/format.h"
#include "decode/guess.h"
#include "export/export_internal.h"
#include "schema/types.h"

#define PAYLOAD_SHOWN_BYTES 32 /* without ETW_EXPORT_FULL */

#define ARRAY_SHOWN_BYTES 96 /* of the text of an array, without ETW_EXPORT_FULL */

#define NOPRINT_ELEMENTS_MAX 16 /* of an array that is not meant to be shown */

#define STYLE_DIM   "\033[2m"
#define STYLE_NAME  "\033[36m"
#define STYLE_WARN  "\033[33m"
#define STYLE_RESET "\033[0m"

static void put_style(const struct etw_export_event *event, const char *style,
		      struct etw_text *text)
{
	if (event->flags & ETW_EXPORT_COLOUR)
		etw_text_puts(text, style);
}

static unsigned digits_of(uint64_t value)
{
	unsigned digits = 1;

	for (; value >= 10; value /= 10)
		digits++;
	return digits;
}

/* A number, right-aligned; "-" for one that the event does not have. */
static void put_column(uint32_t value, unsigned width, bool is_absent, struct etw_text *text)
{
	unsigned digits = is_absent ? 1 : digits_of(value);

	for (unsigned i = digits; i < width; i++)
		etw_text_putc(text, ' ');
	if (is_absent)
		etw_text_putc(text, '-');
	else
		etw_text_unsigned(text, value);
}

static void put_time(const struct etw_export_event *event, struct etw_text *text)
{
	int64_t time = event->record->EventHeader.TimeStamp.QuadPart;

	if (event->flags & ETW_EXPORT_TIME_RAW) {
		etw_text_signed(text, time);
		return;
	}
	if (!(event->flags & ETW_EXPORT_TIME_RELATIVE)) {
		etw_format_filetime(time, text);
		return;
	}
	uint64_t distance = (uint64_t)time - (uint64_t)event->start_ft;
	bool is_before = time < event->start_ft;

	if (is_before)
		distance = -distance;

	uint64_t seconds = distance / (uint64_t)ETW_FILETIME_PER_SECOND;
	uint64_t fraction = distance % (uint64_t)ETW_FILETIME_PER_SECOND;

	for (unsigned i = digits_of(seconds); i < 5; i++)
		etw_text_putc(text, ' ');
	etw_text_putc(text, is_before ? '-' : '+');
	etw_text_unsigned(text, seconds);
	etw_text_putc(text, '.');
	for (unsigned i = digits_of(fraction); i < 7; i++)
		etw_text_putc(text, '0');
	etw_text_unsigned(text, fraction);
}

static bool is_string(const struct etw_field *field)
{
	unsigned kind = etw_schema_type(field->in_type)->kind;

	return !(field->flags & PropertyStruct) &&
	       (kind == ETW_TYPE_UTF16 || kind == ETW_TYPE_ANSI || kind == ETW_TYPE_CHARACTER);
}

/* Whether a reader could not tell where the value ends. */
static bool needs_quotes(const char *at, size_t bytes)
{
	return !bytes || memchr(at, ' ', bytes) || memchr(at, '"', bytes);
}

/* Long arrays say little on a line: they end early, with how many elements there are. */
static void shorten_array(const struct etw_item *item, size_t from, struct etw_text *text)
{
	size_t end = from + ARRAY_SHOWN_BYTES;

	if (text->error || text->bytes <= end + 32)
		return;
	while (end > from && text->at[end] != ',')
		end--;
	if (end == from)
		return;
	text->bytes = end;
	etw_text_puts(text, ", ... ");
	etw_text_unsigned(text, item->count);
	etw_text_puts(text, " elements]");
}

/*
 * Puts the text from @from on into quotes. A quote within gets a backslash before it; backslashes are
 * doubled right before a quote only, so that paths stay what they are.
 */
static void quote(size_t from, struct etw_text *text)
{
	size_t bytes = text->bytes - from, backslashes = 0;
	char *copy = malloc(bytes + 1);

	if (!copy) {
		text->error = -ENOMEM;
		return;
	}
	memcpy(copy, text->at + from, bytes);
	copy[bytes] = '"';
	text->bytes = from;
	etw_text_putc(text, '"');
	for (size_t i = 0; i <= bytes; i++) {
		if (copy[i] == '"') {
			for (; backslashes; backslashes--)
				etw_text_putc(text, '\\');
			if (i < bytes)
				etw_text_putc(text, '\\');
		}
		backslashes = copy[i] == '\\' ? backslashes + 1 : 0;
		etw_text_putc(text, copy[i]);
	}
	free(copy);
}

static void put_value(const struct etw_decoding *decoding, const struct etw_item *item,
		      uint32_t flags, struct etw_text *text)
{
	size_t from = text->bytes;
	bool may_quote = is_string(&decoding->schema->fields[item->field]);

	etw_format_item(decoding, item, text);
	(void)etw_export_clean(text, from);
	if (item->kind == ETW_ITEM_ARRAY && !may_quote && !(flags & ETW_EXPORT_FULL))
		shorten_array(item, from, text);
	if (!text->error && may_quote && needs_quotes(text->at + from, text->bytes - from))
		quote(from, text);
}

/* Long arrays that their maker did not mean for people, such as a time zone's bytes. */
static bool is_left_out(const struct etw_field *field, const struct etw_item *item)
{
	return item->kind == ETW_ITEM_ARRAY && item->count > NOPRINT_ELEMENTS_MAX &&
	       field->out_type == TDH_OUTTYPE_NOPRINT;
}

/* A WPP message and where it was written. */
static void put_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	size_t from;

	etw_text_putc(text, ' ');
	from = text->bytes;
	etw_export_wpp_message(decoding, text);
	(void)etw_export_clean(text, from);
	if (!text->error)
		quote(from, text);
	etw_export_wpp_text(decoding, text);
}

static void put_fields(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_decoding *decoding = event->decoding;

	if (!decoding || !decoding->schema)
		return;
	if (decoding->schema->wpp)
		put_message(decoding, text);
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end) {
		const struct etw_item *item = &decoding->items[i];
		const struct etw_field *field = &decoding->schema->fields[item->field];
		size_t from;

		if (is_left_out(field, item))
			continue;
		etw_text_putc(text, ' ');
		put_style(event, STYLE_DIM, text);
		from = text->bytes;
		etw_text_puts(text, field->name);
		(void)etw_export_clean(text, from);
		etw_text_putc(text, '=');
		put_style(event, STYLE_RESET, text);
		put_value(decoding, item, event->flags, text);
	}
}

static void put_payload(const struct etw_export_event *event, size_t offset, struct etw_text *text)
{
	const EVENT_RECORD *record = event->record;
	size_t bytes = record->UserDataLength - offset, shown = bytes;

	if (!(event->flags & ETW_EXPORT_FULL) && shown > PAYLOAD_SHOWN_BYTES)
		shown = PAYLOAD_SHOWN_BYTES;
	etw_text_unsigned(text, bytes);
	etw_text_puts(text, bytes == 1 ? " byte" : " bytes");
	if (!shown)
		return;
	etw_text_putc(text, ' ');
	etw_export_hex((const uint8_t *)record->UserData + offset, shown, text);
	if (shown < bytes)
		etw_text_puts(text, "...");
}

static void put_guesses(const struct etw_export_event *event, size_t offset, struct etw_text *text)
{
	const EVENT_RECORD *record = event->record;
	const char *before = "; a guess:";
	struct etw_guesser guesser;
	struct etw_guess guess;
	size_t from;

	etw_guesser_init(&guesser, record->UserData, record->UserDataLength, offset,
			 event->start_ft);
	while (etw_guesser_next(&guesser, &guess)) {
		const bool is_text = guess.in_type == TDH_INTYPE_UNICODESTRING ||
				     guess.in_type == TDH_INTYPE_ANSISTRING;

		etw_text_puts(text, before);
		etw_text_putc(text, ' ');
		before = "";
		from = text->bytes;
		etw_format_value(guess.in_type, TDH_OUTTYPE_NULL, NULL, 8,
				 (const uint8_t *)record->UserData + guess.offset, guess.bytes,
				 text);
		(void)etw_export_clean(text, from);
		if (!text->error && is_text)
			quote(from, text);
	}
}

/* What is not decoded: the bytes from where the fields end, and why. */
static void put_rest(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_decoding *decoding = event->decoding;
	size_t offset = 0;

	if (decoding && decoding->status == ETW_DECODE_COMPLETE)
		return;
	if (decoding && decoding->consumed <= event->record->UserDataLength)
		offset = decoding->consumed;
	etw_text_putc(text, ' ');
	put_style(event, STYLE_WARN, text);
	etw_text_putc(text, '[');
	put_payload(event, offset, text);
	if (decoding && decoding->reason) {
		etw_text_puts(text, "; ");
		etw_text_puts(text, decoding->reason);
	}
	if (event->flags & ETW_EXPORT_GUESS)
		put_guesses(event, offset, text);
	etw_text_putc(text, ']');
	put_style(event, STYLE_RESET, text);
}

static void put_event(const struct etw_export_event *event, struct etw_text *text)
{
	const EVENT_HEADER *header = &event->record->EventHeader;
	size_t from;

	put_style(event, STYLE_DIM, text);
	put_time(event, text);
	put_style(event, STYLE_RESET, text);
	if (event->flags & ETW_EXPORT_FILES) {
		etw_text_putc(text, ' ');
		etw_text_putc(text, '@');
		etw_text_unsigned(text, event->trace + 1);
	}
	put_column(event->processor, 4, false, text);
	put_column(header->ProcessId, 7, header->ProcessId == NO_ID, text);
	put_column(header->ThreadId, 7, header->ThreadId == NO_ID, text);
	etw_text_putc(text, ' ');
	put_style(event, STYLE_NAME, text);
	from = text->bytes;
	etw_export_event_name(event, text);
	(void)etw_export_clean(text, from);
	put_style(event, STYLE_RESET, text);
	put_fields(event, text);
	put_rest(event, text);
	etw_text_putc(text, '\n');
}

static void do_nothing(struct etw_text *text)
{
	(void)text;
}

const struct etw_export_format etw_export_text = {
	.name = "text",
	.one_line = "one line per event for people",
	.begin = do_nothing,
	.event = put_event,
	.end = do_nothing,
};
