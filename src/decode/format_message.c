/* SPDX-License-Identifier: MIT */
/*
 * Messages: FormatMessage's inserts and escapes over an event's top-level fields. An insert without a
 * value (the event was cut off, or has fewer fields) stays as it is written, so that nothing is hidden.
 */
#include <string.h>

#include "decode/format.h"
#include "decode/format_internal.h"

#define CUT_MARK  "..."
#define WIDTH_MAX 1024 /* of "%1!1024s!"; more is a damaged message */

/* A message on its way out. */
struct message {
	const struct etw_decoding *decoding;
	struct etw_text *text;
	size_t cut_bytes; /* of values, that precisions took away */
};

/* What stands between the exclamation marks. */
struct insert_format {
	bool is_left;
	bool is_zero_filled;
	bool has_prefix;
	int width;
	int precision; /* -1: none */
	char type;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int read_number(const char **at)
{
	int value = 0;

	while (is_digit(**at)) {
		value = value * 10 + (**at - '0');
		if (value > WIDTH_MAX)
			value = WIDTH_MAX;
		(*at)++;
	}
	return value;
}

/* Reads "!format!" if there is one; @at is left behind it. A broken one is taken as text. */
static struct insert_format read_format(const char **at)
{
	struct insert_format format = {.precision = -1, .type = 's'};
	const char *from = *at;

	if (*from != '!')
		return format;
	for (from++; *from && strchr("-0#+ ", *from); from++) {
		format.is_left |= *from == '-';
		format.is_zero_filled |= *from == '0';
		format.has_prefix |= *from == '#';
	}
	format.width = read_number(&from);
	if (*from == '.') {
		from++;
		format.precision = read_number(&from);
	}
	while (*from && strchr("hlwIL0123456789", *from))
		from++;
	if (!*from || from[1] != '!')
		return (struct insert_format){.precision = -1, .type = 's'};
	format.type = *from;
	*at = from + 2;
	return format;
}

static const struct etw_item *find_insert(const struct etw_decoding *decoding, unsigned number)
{
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end) {
		if (decoding->items[i].field == number - 1)
			return &decoding->items[i];
	}
	return NULL;
}

/* Numeric types look at the number itself; what is no number is shown as text. */
static bool write_number(const struct etw_decoding *decoding, const struct etw_item *item,
			 const struct insert_format *format, struct etw_text *text)
{
	uint64_t value;
	int64_t signed_value;

	if (!etw_decoding_u64(decoding, item, &value) ||
	    !etw_decoding_i64(decoding, item, &signed_value))
		return false;
	switch (format->type) {
	case 'd':
	case 'i':
		etw_text_signed(text, signed_value);
		return true;
	case 'u':
		if (item->bytes < 8)
			value &= (UINT64_C(1) << (8 * item->bytes)) - 1;
		etw_text_unsigned(text, value);
		return true;
	case 'x':
	case 'X':
	case 'p':
		if (item->bytes < 8)
			value &= (UINT64_C(1) << (8 * item->bytes)) - 1;
		if (format->has_prefix)
			etw_text_append(text, "0x", 2);
		etw_text_hex(text, value);
		return true;
	default:
		return false;
	}
}

static void to_lower(char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (at[i] >= 'A' && at[i] <= 'F')
			at[i] = (char)(at[i] + ('a' - 'A'));
	}
}

/* The bytes of the first @points code points. */
static size_t cut_points(const char *at, size_t bytes, size_t points)
{
	size_t i = 0;

	for (; i < bytes; i++) {
		bool is_lead = ((unsigned char)at[i] & 0xC0) != 0x80;

		if (is_lead && points-- == 0)
			break;
	}
	return i;
}

static size_t count_points(const char *at, size_t bytes)
{
	size_t points = 0;

	for (size_t i = 0; i < bytes; i++)
		points += ((unsigned char)at[i] & 0xC0) != 0x80;
	return points;
}

/* Fills what stands behind @start up to the width. */
static void pad(struct etw_text *text, size_t start, const struct insert_format *format,
		bool is_number)
{
	size_t bytes = text->bytes - start;
	size_t points = count_points(text->at + start, bytes);
	size_t missing = (size_t)format->width > points ? (size_t)format->width - points : 0;
	bool is_zero = format->is_zero_filled && is_number && !format->is_left;

	if (missing == 0 || etw_text_reserve(text, missing))
		return;
	char *from = text->at + start;

	if (is_zero && bytes && *from == '-') {
		from++;
		bytes--;
	}
	if (format->is_left) {
		memset(from + bytes, ' ', missing);
	} else {
		memmove(from + missing, from, bytes);
		memset(from, is_zero ? '0' : ' ', missing);
	}
	etw_text_end(text, text->at + text->bytes + missing);
}

static void write_insert(struct message *message, const struct etw_item *item,
			 const struct insert_format *format)
{
	const struct etw_decoding *decoding = message->decoding;
	struct etw_text *text = message->text;
	size_t start = text->bytes;
	bool is_number = format->type != 's' && write_number(decoding, item, format, text);

	if (!is_number)
		etw_format_item(decoding, item, text);
	if (etw_text_error(text))
		return;
	if (is_number && format->type == 'x')
		to_lower(text->at + start, text->bytes - start);
	if (!is_number && format->precision >= 0) {
		size_t bytes = text->bytes - start;
		size_t cut = cut_points(text->at + start, bytes, (size_t)format->precision);

		etw_text_end(text, text->at + start + cut);
		message->cut_bytes += bytes - cut;
	}
	pad(text, start, format, is_number);
}

/* "%12!fmt!" from its digits on; returns where to go on. */
static const char *write_numbered(struct message *message, const char *at)
{
	const char *start = at - 1;
	unsigned number = (unsigned)(*at++ - '0');

	if (is_digit(*at))
		number = number * 10 + (unsigned)(*at++ - '0');
	struct insert_format format = read_format(&at);
	const struct etw_item *item = find_insert(message->decoding, number);

	if (item)
		write_insert(message, item, &format);
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
	return message->text->bytes - start + message->cut_bytes > ETW_FORMAT_MESSAGE_BYTES_MAX;
}

bool etw_format_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	struct message message = {.decoding = decoding, .text = text};
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
		cut_text(text, start, ETW_FORMAT_MESSAGE_BYTES_MAX - strlen(CUT_MARK));
		etw_text_puts(text, CUT_MARK);
	}
	return true;
}
