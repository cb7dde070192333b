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
#include "decode/format_message.h"
#include "decode/guess.h"
#include "export/export_internal.h"
#include "schema/manifest/embedded.h"
#include "schema/types.h"

#define PAYLOAD_SHOWN_BYTES 32 /* without ETW_EXPORT_FULL */

#define ARRAY_SHOWN_BYTES 96 /* of the text of an array, without ETW_EXPORT_FULL */

#define NOPRINT_ELEMENTS_MAX 16 /* of an array that is not meant to be shown */

#define PROCESS_WIDTH 15 /* of the column of names */

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

/* Room for a column, whatever its number. */
#define COLUMN_BYTES (7 + ETW_DIGITS_BYTES_MAX)

/* A number, right-aligned behind a blank at least; "-" for one that the event does not have. */
static char *write_column(char *to, uint32_t value, unsigned width, bool is_absent)
{
	char digits[ETW_DIGITS_BYTES_MAX] = "-";
	const char *end = is_absent ? digits + 1 : etw_write_unsigned(digits, value);
	const size_t count = (size_t)(end - digits);
	const size_t blanks = count < width ? width - count : 1;

	memset(to, ' ', 8);
	memcpy(to + blanks, digits, sizeof(digits));
	return to + blanks + count;
}

/* Whether a reader could not tell where the value ends. */
static bool needs_quotes(const char *at, size_t bytes)
{
	return !bytes || memchr(at, ' ', bytes) || memchr(at, '"', bytes);
}

/* Whether quotes around the text are all that it needs. */
static bool is_quoted_as_is(const char *at, size_t bytes)
{
	return !bytes || (at[bytes - 1] != '\\' && !memchr(at, '"', bytes));
}

static void quote_as_is(size_t from, struct etw_text *text)
{
	const size_t bytes = text->bytes - from;
	char *at = etw_text_begin(text, 2);

	if (!at)
		return;
	at = text->at + from;
	memmove(at + 1, at, bytes);
	at[0] = at[bytes + 1] = '"';
	etw_text_end(text, at + bytes + 2);
}

/*
 * Puts the text from @from on into quotes. A quote within gets a backslash before it; backslashes are
 * doubled right before a quote only, so that paths stay what they are.
 */
static void quote(size_t from, struct etw_text *text)
{
	size_t bytes = text->bytes - from, backslashes = 0;
	char *copy;

	if (LIKELY(is_quoted_as_is(text->at + from, bytes))) {
		quote_as_is(from, text);
		return;
	}
	copy = malloc(bytes + 1);
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

/* A name in a column, which a longer one widens. */
static void put_process(const char *name, struct etw_text *text)
{
	static const char blanks[PROCESS_WIDTH + 1] = "               ";
	size_t from;

	etw_text_putc(text, ' ');
	from = text->bytes;
	etw_text_puts(text, name ? name : "-");
	(void)etw_export_clean(text, from);
	if (!text->error && needs_quotes(text->at + from, text->bytes - from))
		quote(from, text);
	if (!text->error && text->bytes - from < PROCESS_WIDTH)
		etw_text_append(text, blanks, PROCESS_WIDTH - (text->bytes - from));
}

/* Processor, process and thread. */
static void put_columns(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_export_subject subject = etw_export_subject_of(event);
	char *to = etw_text_begin(text, 3 * COLUMN_BYTES);

	if (!to)
		return;
	to = write_column(to, event->processor, 4, false);
	to = write_column(to, subject.pid, 7, subject.pid == NO_ID);
	to = write_column(to, subject.tid, 7, subject.tid == NO_ID);
	etw_text_end(text, to);
	if (event->flags & ETW_EXPORT_PROCESS)
		put_process(subject.process_name, text);
}

/* "2011-01-23T15:06:37.4768585-07:00" */
static void put_local_time(const struct etw_export_event *event, struct etw_text *text)
{
	const int32_t east = event->east_minutes;
	const uint32_t minutes = (uint32_t)(east < 0 ? -east : east);
	int64_t time;

	if (__builtin_add_overflow(event->record->EventHeader.TimeStamp.QuadPart,
				   east * (60 * ETW_FILETIME_PER_SECOND), &time)) {
		etw_export_time(event->cache, event->record->EventHeader.TimeStamp.QuadPart, text);
		return;
	}
	etw_export_time(event->cache, time, text);
	if (!text->error && text->bytes && text->at[text->bytes - 1] == 'Z') {
		text->bytes--;
		etw_text_printf(text, "%c%02u:%02u", east < 0 ? '-' : '+', minutes / 60,
				minutes % 60);
	}
}

static void put_time(const struct etw_export_event *event, struct etw_text *text)
{
	int64_t time = event->record->EventHeader.TimeStamp.QuadPart;

	if (event->flags & ETW_EXPORT_TIME_RAW) {
		etw_text_signed(text, event->raw_time);
		return;
	}
	if (event->flags & ETW_EXPORT_TIME_LOCAL) {
		put_local_time(event, text);
		return;
	}
	if (!(event->flags & ETW_EXPORT_TIME_RELATIVE)) {
		etw_export_time(event->cache, time, text);
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

/* The manifest of an EventSource is thousands of bytes, and what it says shows in the other events. */
static void shorten_manifest(const struct etw_item *item, size_t from, struct etw_text *text)
{
	size_t end = from + ARRAY_SHOWN_BYTES;

	if (text->error || text->bytes <= end + 32)
		return;
	while (end > from && ((unsigned char)text->at[end] & 0xC0) == 0x80)
		end--;
	text->bytes = end;
	etw_text_puts(text, " ... ");
	etw_text_unsigned(text, item->bytes);
	etw_text_puts(text, " bytes");
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

static void put_value(const struct etw_decoding *decoding, const struct etw_item *item,
		      uint32_t flags, struct etw_text *text)
{
	size_t from = text->bytes;
	bool may_quote = is_string(&decoding->schema->fields[item->field]);

	if (etw_export_is_id(&decoding->schema->fields[item->field]) &&
	    etw_export_put_id(decoding, item, text))
		return;
	etw_format_item(decoding, item, text);
	(void)etw_export_clean(text, from);
	if (item->kind == ETW_ITEM_ARRAY && !may_quote && !(flags & ETW_EXPORT_FULL))
		shorten_array(item, from, text);
	if (may_quote && decoding->schema == etw_embedded_schema() && !(flags & ETW_EXPORT_FULL))
		shorten_manifest(item, from, text);
	if (!text->error && may_quote && needs_quotes(text->at + from, text->bytes - from))
		quote(from, text);
}

/* Long arrays that their maker did not mean for people, such as a time zone's bytes. */
static bool is_left_out(const struct etw_field *field, const struct etw_item *item)
{
	return item->kind == ETW_ITEM_ARRAY && item->count > NOPRINT_ELEMENTS_MAX &&
	       field->out_type == TDH_OUTTYPE_NOPRINT;
}

/* The message that a manifest has for the event. */
static void put_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	const size_t before = text->bytes;
	size_t from;

	etw_text_putc(text, ' ');
	from = text->bytes;
	if (!etw_format_message_within(decoding, ETW_EXPORT_MESSAGE_BYTES_MAX, text)) {
		text->bytes = before;
		return;
	}
	(void)etw_export_clean(text, from);
	if (!text->error)
		quote(from, text);
}

/* A WPP message and where it was written. */
static void put_wpp(const struct etw_decoding *decoding, struct etw_text *text)
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

/* A name that the file chose, in what is prepared or on the line. */
static void put_clean(const char *name, struct etw_text *text)
{
	size_t from = text->bytes;

	etw_text_puts(text, name);
	(void)etw_export_clean(text, from);
}

static void put_key(const struct etw_export_event *event, const char *name, struct etw_text *text)
{
	etw_text_putc(text, ' ');
	put_style(event, STYLE_DIM, text);
	put_clean(name, text);
	etw_text_putc(text, '=');
	put_style(event, STYLE_RESET, text);
}

/* Returns NULL for a value that is none of the integers. */
static char *write_integer(char *to, const struct etw_plan_field *field, const uint8_t *at,
			   size_t bytes)
{
	uint64_t value, negative;

	if (!etw_plan_is_integer(field->shape) || UNLIKELY(bytes != field->value_bytes))
		return NULL;
	value = etw_load_unsigned(at, bytes);
	if (field->shape == ETW_JSON_HEX) {
		*to++ = '0';
		*to++ = 'x';
		return etw_write_hex(to, value);
	}
	negative = field->shape == ETW_JSON_SIGNED ? etw_plan_negative(value, bytes) : 0;
	if (!negative)
		return etw_write_unsigned(to, value);
	*to++ = '-';
	return etw_write_unsigned(to, negative);
}

/* A field whose key is prepared. */
static void put_planned(const struct etw_export_event *event, const struct etw_export_plan *plan,
			const struct etw_item *item, struct etw_text *text)
{
	const struct etw_plan_field *field = &plan->fields[item->field];
	const uint8_t *payload = event->record->UserData;
	char *end = NULL, *to = etw_text_begin(text, field->key_bytes + ETW_PLAN_COPY_BYTES + 2 +
							     ETW_DIGITS_BYTES_MAX);

	if (!to)
		return;
	to = etw_plan_copy_key(to, plan->keys.at + field->key_at, field->key_bytes);
	if (LIKELY(payload))
		end = write_integer(to, field, payload + item->offset, item->bytes);
	etw_text_end(text, end ? end : to);
	if (!end)
		put_value(event->decoding, item, event->flags, text);
}

static void put_fields(const struct etw_export_event *event, const struct etw_export_plan *plan,
		       struct etw_text *text)
{
	const struct etw_decoding *decoding = event->decoding;

	if (!decoding || !decoding->schema)
		return;
	if (decoding->schema->wpp)
		put_wpp(decoding, text);
	else if (decoding->schema->message)
		put_message(decoding, text);
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end) {
		const struct etw_item *item = &decoding->items[i];
		const struct etw_field *field = &decoding->schema->fields[item->field];

		if (is_left_out(field, item))
			continue;
		if (LIKELY(plan && plan->fields)) {
			put_planned(event, plan, item, text);
			continue;
		}
		put_key(event, field->name, text);
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
		etw_format_value(guess.in_type, TDH_OUTTYPE_NULL, NULL,
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

/* What the event is called. */
static void put_identity(const struct etw_export_event *event, struct etw_text *text)
{
	size_t from;

	etw_text_putc(text, ' ');
	put_style(event, STYLE_NAME, text);
	from = text->bytes;
	etw_export_event_name(event, text);
	(void)etw_export_clean(text, from);
	put_style(event, STYLE_RESET, text);
}

/* From the plan, where there is one. */
static const struct etw_export_plan *put_planned_identity(const struct etw_export_event *event,
							  struct etw_text *text)
{
	bool is_new;
	struct etw_export_plan *plan = etw_export_plan_find(event, &etw_export_text, &is_new);

	if (plan && UNLIKELY(is_new)) {
		put_identity(event, &plan->identity);
		etw_export_plan_fields(plan, event, put_key);
	}
	if (plan && LIKELY(!etw_text_error(&plan->identity)))
		etw_text_append(text, plan->identity.at, plan->identity.bytes);
	else
		put_identity(event, text);
	return plan;
}

static void put_event(const struct etw_export_event *event, struct etw_text *text)
{
	const struct etw_export_plan *plan;

	put_style(event, STYLE_DIM, text);
	put_time(event, text);
	put_style(event, STYLE_RESET, text);
	if (event->flags & ETW_EXPORT_FILES) {
		etw_text_putc(text, ' ');
		etw_text_putc(text, '@');
		etw_text_unsigned(text, event->trace + 1);
	}
	put_columns(event, text);
	plan = put_planned_identity(event, text);
	put_fields(event, plan, text);
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
