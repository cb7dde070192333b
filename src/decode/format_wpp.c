/* SPDX-License-Identifier: MIT */
/*
 * The message of a WPP event, from its pieces: those that were found once for all events of the kind, or as they
 * are found in a prefix. The item decides the form where "%s" asks for it; any other conversion works on the
 * number.
 */
#include "decode/format_wpp.h"

#include <string.h>

#include "base/bytes.h"
#include "base/float.h"
#include "base/macros.h"
#include "decode/format_wpp_internal.h"

struct formatter {
	const struct etw_decoding *decoding;
	const struct etw_wpp_message *message;
	struct etw_wpp_options options;
	struct etw_text *text;
	size_t start;   /* of the message in the text */
	size_t counted; /* where counting its bytes begins; earlier when precisions cut too much */
	size_t cut_bytes; /* of values, that precisions took away */
	unsigned nesting;
};

/* Of what precisions take away from one message: it was written all the same. */
#define CUT_BYTES_MAX ((size_t)1024 * 1024)

static void put_prefix(struct formatter *formatter);

static bool is_full(const struct formatter *formatter)
{
	return etw_text_error(formatter->text) ||
	       formatter->text->bytes - formatter->counted > formatter->options.bytes_max;
}

/* Counts what a precision took away; more than may be makes the message full. */
static void count_cut(struct formatter *formatter, size_t bytes)
{
	formatter->cut_bytes += bytes;
	if (formatter->cut_bytes > CUT_BYTES_MAX)
		formatter->counted = formatter->text->bytes - formatter->options.bytes_max - 1;
}

/* Ends a text that began at @start as its conversion wants it. */
static void pad(struct formatter *formatter, const struct wpp_conversion *conversion, size_t start)
{
	const size_t end = formatter->text->bytes;

	/* Most want nothing; the call is saved. */
	if (LIKELY(!conversion->width && conversion->precision < 0))
		return;
	etw_wpp_pad(conversion, start, formatter->text);
	if (UNLIKELY(formatter->text->bytes < end))
		count_cut(formatter, end - formatter->text->bytes);
}

static void put_string(struct formatter *formatter, const struct wpp_conversion *conversion,
		       const char *string)
{
	size_t start = formatter->text->bytes;

	if (string)
		etw_text_puts(formatter->text, string);
	pad(formatter, conversion, start);
}

static void put_u32(struct formatter *formatter, const struct wpp_conversion *conversion,
		    uint32_t value)
{
	const char type = etw_wpp_is_integer(conversion->type) ? conversion->type : 'u';

	etw_wpp_number(conversion, type, value, 4, 4, formatter->text);
}

static void put_time(struct formatter *formatter, const struct wpp_conversion *conversion)
{
	size_t start = formatter->text->bytes;

	etw_wpp_time(formatter->decoding->record->EventHeader.TimeStamp.QuadPart,
		     &formatter->options, formatter->text);
	etw_wpp_pad(conversion, start, formatter->text);
}

bool etw_wpp_sequence(const EVENT_RECORD *record, uint32_t *ret)
{
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		if (item->ExtType != EVENT_HEADER_EXT_TYPE_INSTANCE_INFO || item->DataSize < 4)
			continue;
		*ret = etw_load32((const uint8_t *)(uintptr_t)item->DataPtr);
		return true;
	}
	return false;
}

/* "%7"; 0 for a message that was written without one. */
static void put_sequence(struct formatter *formatter, const struct wpp_conversion *conversion)
{
	uint32_t sequence = 0;

	(void)etw_wpp_sequence(formatter->decoding->record, &sequence);
	put_u32(formatter, conversion, sequence);
}

/* "%1" to "%9" */
static void put_variable(struct formatter *formatter, unsigned number,
			 const struct wpp_conversion *conversion)
{
	const EVENT_HEADER *header = &formatter->decoding->record->EventHeader;

	switch (number) {
	case 1:
		put_string(formatter, conversion, formatter->message->module);
		break;
	case 2:
		put_string(formatter, conversion, formatter->message->type_name);
		break;
	case 3:
		put_u32(formatter, conversion, header->ThreadId);
		break;
	case 4:
		put_time(formatter, conversion);
		break;
	case 5:
		put_u32(formatter, conversion, header->KernelTime);
		break;
	case 6:
		put_u32(formatter, conversion, header->UserTime);
		break;
	case 7:
		put_sequence(formatter, conversion);
		break;
	case 8:
		put_u32(formatter, conversion, header->ProcessId);
		break;
	default:
		put_u32(formatter, conversion, GetEventProcessorIndex(formatter->decoding->record));
	}
}

/* Marks an argument that could not be read, in the manner of tracefmt's marks. */
static void put_missing(struct formatter *formatter, unsigned number, unsigned index)
{
	const struct etw_decoding *decoding = formatter->decoding;
	const char *reason = "an earlier parameter cannot be read";

	if (decoding->failed_field == index) {
		reason = decoding->reason;
		if (formatter->message->arguments[index].item == ETW_WPP_UNKNOWN)
			reason = "its item is unknown";
	}
	etw_text_printf(formatter->text, "***parameter %u: %s***", number,
			reason ? reason : "it cannot be read");
}

static bool is_sized(size_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static void put_argument(struct formatter *formatter, const struct etw_item *item,
			 const struct wpp_piece *piece)
{
	const struct etw_wpp_argument *argument = &formatter->message->arguments[item->field];
	const struct wpp_conversion *conversion = &piece->conversion;
	const uint8_t *at = etw_form_item(formatter->decoding, item);
	struct etw_text *text = formatter->text;
	size_t start = text->bytes;

	if (piece->integer && is_sized(item->bytes)) {
		etw_wpp_number(conversion, piece->integer, etw_load_unsigned(at, item->bytes),
			       item->bytes, argument->item == ETW_WPP_POINTER ? item->bytes : 8,
			       text);
		return;
	}
	if ((argument->item == ETW_WPP_DOUBLE || argument->item == ETW_WPP_FLOAT) &&
	    (item->bytes == 4 || item->bytes == 8) &&
	    etw_wpp_float(conversion, etw_load_float(at, item->bytes), text))
		return;
	etw_wpp_item(argument, at, item->bytes, &formatter->options, text);
	if (LIKELY(conversion->type == 's' || conversion->type == 'S'))
		pad(formatter, conversion, start);
	else
		etw_wpp_pad_text(conversion, start, text);
}

static void put_piece(struct formatter *formatter, const struct wpp_piece *piece)
{
	const struct wpp_conversion decimal = {.precision = -1, .type = 'u'};

	switch (piece->kind) {
	case WPP_TEXT:
		etw_text_append(formatter->text, piece->at, piece->bytes);
		return;
	case WPP_ARGUMENT:
		/* Arguments are values: the nth item is the nth argument. */
		if (LIKELY(piece->index < formatter->decoding->item_count))
			put_argument(formatter, &formatter->decoding->items[piece->index], piece);
		else
			put_missing(formatter, piece->number, piece->index);
		return;
	case WPP_VARIABLE:
		put_variable(formatter, piece->number, &piece->conversion);
		return;
	case WPP_LINE:
		put_u32(formatter, &decimal, formatter->message->line);
		return;
	case WPP_PREFIX:
		put_prefix(formatter);
		return;
	}
}

/* A prefix, or a message that nobody compiled. */
static void put_text(struct formatter *formatter, const char *at)
{
	formatter->nesting++;
	while (*at && !is_full(formatter)) {
		struct wpp_piece piece;

		at = etw_wpp_piece(formatter->message, at, &piece);
		put_piece(formatter, &piece);
	}
	formatter->nesting--;
}

/* "%0"; one within the prefix means nothing. */
static void put_prefix(struct formatter *formatter)
{
	if (formatter->options.prefix && formatter->nesting == 1)
		put_text(formatter, formatter->options.prefix);
}

static void put_pieces(struct formatter *formatter, const struct etw_wpp_form *form)
{
	formatter->nesting++;
	for (size_t i = 0, count = form->count; i < count && !is_full(formatter); i++) {
		const struct wpp_piece *piece = &form->pieces[i];

		if (piece->kind == WPP_TEXT)
			etw_text_append(formatter->text, piece->at, piece->bytes);
		else
			put_piece(formatter, piece);
	}
	formatter->nesting--;
}

/* Ends a text that is too long at a character, with dots. */
static void end_text(struct formatter *formatter)
{
	struct etw_text *text = formatter->text;
	size_t end = formatter->start + formatter->options.bytes_max;

	if (LIKELY(!is_full(formatter)) || etw_text_error(text))
		return;
	if (text->bytes > end) {
		while (end > formatter->start && ((unsigned char)text->at[end] & 0xC0) == 0x80)
			end--;
		etw_text_end(text, text->at + end);
	}
	etw_text_puts(text, "...");
}

bool etw_format_wpp(const struct etw_decoding *decoding, const struct etw_wpp_options *options,
		    struct etw_text *text)
{
	struct formatter formatter = {
		.decoding = decoding, .text = text, .start = text->bytes, .counted = text->bytes};

	if (!decoding->schema || !decoding->schema->wpp)
		return false;
	if (options)
		formatter.options = *options;
	if (!formatter.options.bytes_max)
		formatter.options.bytes_max = ETW_WPP_MESSAGE_BYTES_MAX;
	formatter.message = decoding->schema->wpp;
	if (LIKELY(decoding->wpp_form))
		put_pieces(&formatter, decoding->wpp_form);
	else
		put_text(&formatter, formatter.message->text);
	end_text(&formatter);
	return true;
}
