/* SPDX-License-Identifier: MIT */
/*
 * Messages: FormatMessage's inserts and escapes over an event's top-level fields. An insert without a
 * value (the event was cut off, or has fewer fields) stays as it is written, so that nothing is hidden.
 */
#include "decode/format_message.h"

#include <string.h>

#include "base/float.h"
#include "decode/format.h"
#include "decode/format_wpp_internal.h"

#define CUT_MARK "..."

/* A message on its way out. */
struct message {
	const struct etw_decoding *decoding;
	struct etw_text *text;
	size_t bytes_max;
	size_t cut_bytes; /* of values, that precisions took away */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const struct etw_item *find_insert(const struct etw_decoding *decoding, unsigned number)
{
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end) {
		if (decoding->items[i].field == number - 1)
			return &decoding->items[i];
	}
	return NULL;
}

/* Conversions for numbers show the number itself; what they are not for is shown as text. */
static bool write_number(const struct etw_decoding *decoding, const struct etw_item *item,
			 const struct wpp_conversion *conversion, struct etw_text *text)
{
	const struct etw_type *type =
		etw_schema_type(decoding->schema->fields[item->field].in_type);
	const bool is_decimal = conversion->type == 'd' || conversion->type == 'i';
	uint64_t value;

	if (item->kind == ETW_ITEM_VALUE && type->kind == ETW_TYPE_FLOAT &&
	    item->bytes == type->bytes)
		return etw_wpp_float(conversion,
				     etw_load_float(etw_form_item(decoding, item), item->bytes),
				     text);
	if (!etw_wpp_is_integer(conversion->type) || !etw_decoding_u64(decoding, item, &value))
		return false;
	/* "%d" of an unsigned number is what it is: it was widened as C does. */
	etw_wpp_number(conversion, conversion->type, value, is_decimal ? 8 : item->bytes,
		       type->extent == ETW_EXTENT_POINTER ? item->bytes : 8, text);
	return true;
}

static void write_insert(struct message *message, const struct etw_item *item,
			 const struct wpp_conversion *conversion)
{
	struct etw_text *text = message->text;
	const size_t start = text->bytes;
	size_t end;

	if (write_number(message->decoding, item, conversion, text))
		return;
	etw_format_item(message->decoding, item, text);
	end = text->bytes;
	etw_wpp_pad_text(conversion, start, text);
	if (text->bytes < end)
		message->cut_bytes += end - text->bytes;
}

/* "%12!fmt!" from its digits on; returns where to go on. */
static const char *write_numbered(struct message *message, const char *at)
{
	struct wpp_conversion conversion = {.precision = -1, .type = 's'};
	const char *start = at - 1;
	unsigned number = (unsigned)(*at++ - '0');
	const struct etw_item *item;

	if (is_digit(*at))
		number = number * 10 + (unsigned)(*at++ - '0');
	(void)etw_wpp_conversion(&at, &conversion);
	item = find_insert(message->decoding, number);
	if (item)
		write_insert(message, item, &conversion);
	else
		etw_text_append(message->text, start, (size_t)(at - start));
	return at;
}

/* One escape, from behind its percent sign; NULL when the message ends here. */
static const char *write_escape(struct message *message, const char *at)
{
	struct etw_text *text = message->text;

	if (*at == '0')
		return NULL;
	if (is_digit(*at))
		return write_numbered(message, at);
	switch (*at) {
	case '\0':
		etw_text_putc(text, '%');
		return at;
	case 'n':
		etw_text_putc(text, '\n');
		break;
	case 'r':
		etw_text_putc(text, '\r');
		break;
	case 't':
		etw_text_putc(text, '\t');
		break;
	case 'b':
		etw_text_putc(text, ' ');
		break;
	default:
		/* "%%", "%.", "%!", "% " and what has no meaning: the character itself. */
		etw_text_putc(text, *at);
	}
	return at + 1;
}

/* Keeps the first @bytes of what stands behind @start at most, whole characters. */
static void cut_text(struct etw_text *text, size_t start, size_t bytes)
{
	size_t end = start + bytes;

	if (text->bytes <= end)
		return;
	while (end > start && ((unsigned char)text->at[end] & 0xC0) == 0x80)
		end--;
	etw_text_end(text, text->at + end);
}

/* What was written only to be cut counts as well, since it takes as long. */
static bool is_too_long(const struct message *message, size_t start)
{
	return message->text->bytes - start + message->cut_bytes > message->bytes_max;
}

bool etw_format_message_within(const struct etw_decoding *decoding, size_t bytes_max,
			       struct etw_text *text)
{
	struct message message = {.decoding = decoding, .text = text, .bytes_max = bytes_max};
	const size_t start = text->bytes;
	const char *at = decoding->schema ? decoding->schema->message : NULL;

	if (!at || !*at)
		return false;
	while (at && *at && !is_too_long(&message, start)) {
		size_t plain = strcspn(at, "%");

		etw_text_append(text, at, plain);
		at += plain;
		if (*at == '%')
			at = write_escape(&message, at + 1);
	}
	if (is_too_long(&message, start)) {
		cut_text(text, start, bytes_max - strlen(CUT_MARK));
		etw_text_puts(text, CUT_MARK);
	}
	return true;
}

bool etw_format_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	return etw_format_message_within(decoding, ETW_FORMAT_MESSAGE_BYTES_MAX, text);
}
