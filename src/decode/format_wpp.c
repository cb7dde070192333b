/* SPDX-License-Identifier: MIT */
/*
 * The message of a WPP event. "%10" and up are its arguments by number, "%1" to "%9" what the header and the
 * TMF say of the event, "%0" the prefix, "%!NAME!" the same by name. The item decides the form where "%s" asks
 * for it; any other conversion works on the number.
 */
#include "decode/format_wpp.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "decode/format_wpp_internal.h"

struct formatter {
	const struct etw_decoding *decoding;
	const struct etw_wpp_message *message;
	struct etw_wpp_options options;
	struct etw_text *text;
	size_t start; /* of the message in the text */
	unsigned nesting;
};

static void format_text(struct formatter *formatter, const char *at);

static bool is_full(const struct formatter *formatter)
{
	return etw_text_error(formatter->text) ||
	       formatter->text->bytes - formatter->start > formatter->options.bytes_max;
}

static void put_string(struct formatter *formatter, const struct wpp_conversion *conversion,
		       const char *string)
{
	size_t start = formatter->text->bytes;

	if (string)
		etw_text_puts(formatter->text, string);
	etw_wpp_pad(conversion, start, formatter->text);
}

static void put_u32(struct formatter *formatter, const struct wpp_conversion *conversion,
		    uint32_t value)
{
	struct wpp_conversion decimal = *conversion;

	if (etw_wpp_number(conversion, value, 4, 4, formatter->text))
		return;
	decimal.type = 'u';
	(void)etw_wpp_number(&decimal, value, 4, 4, formatter->text);
}

static void put_time(struct formatter *formatter, const struct wpp_conversion *conversion)
{
	size_t start = formatter->text->bytes;

	etw_wpp_time(formatter->decoding->record->EventHeader.TimeStamp.QuadPart,
		     &formatter->options, formatter->text);
	etw_wpp_pad(conversion, start, formatter->text);
}

static uint32_t processor_of(const EVENT_RECORD *record)
{
	if (record->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX)
		return record->BufferContext.ProcessorIndex;
	return record->BufferContext.ProcessorNumber;
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
		put_u32(formatter, conversion, formatter->options.sequence);
		break;
	case 8:
		put_u32(formatter, conversion, header->ProcessId);
		break;
	default:
		put_u32(formatter, conversion, processor_of(formatter->decoding->record));
	}
}

/* Where the argument stands in the schema, or -1. */
static int find_argument(const struct etw_wpp_message *message, unsigned number)
{
	for (unsigned i = 0; i < message->argument_count; i++) {
		if (message->arguments[i].number == number)
			return (int)i;
	}
	return -1;
}

/* Marks an argument that could not be read, in the manner of tracefmt's marks. */
static void put_missing(struct formatter *formatter, unsigned number, int index)
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

static bool is_number(enum etw_wpp_item item)
{
	switch (item) {
	case ETW_WPP_UNKNOWN:
	case ETW_WPP_FLOAT:
	case ETW_WPP_DOUBLE:
	case ETW_WPP_STRING:
	case ETW_WPP_WSTRING:
	case ETW_WPP_COUNTED_STRING:
	case ETW_WPP_COUNTED_WSTRING:
	case ETW_WPP_SID:
	case ETW_WPP_GUID:
	case ETW_WPP_IPV6:
	case ETW_WPP_MAC:
	case ETW_WPP_HEX_DUMP:
		return false;
	default:
		return true;
	}
}

/* Numbers that "%s" shows in decimal, hexadecimal or octal: those without a form of their own. */
static char plain_type(enum etw_wpp_item item)
{
	switch (item) {
	case ETW_WPP_SHORT:
	case ETW_WPP_LONG:
	case ETW_WPP_LONGLONG:
		return 'd';
	case ETW_WPP_USHORT:
	case ETW_WPP_ULONG:
	case ETW_WPP_ULONGLONG:
		return 'u';
	case ETW_WPP_LONGLONG_HEX:
		return 'X';
	case ETW_WPP_LONGLONG_OCTAL:
		return 'o';
	case ETW_WPP_POINTER:
		return 'p';
	default:
		return 0;
	}
}

static double load_float(const uint8_t *at, size_t bytes)
{
	uint64_t raw = etw_form_load(at, bytes);
	uint32_t raw_single = (uint32_t)raw;
	double value;
	float single;

	memcpy(&value, &raw, sizeof(value));
	memcpy(&single, &raw_single, sizeof(single));
	return bytes == 8 ? value : (double)single;
}

static bool is_sized(size_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static void put_argument(struct formatter *formatter, const struct etw_item *item,
			 const struct wpp_conversion *conversion)
{
	const struct etw_wpp_argument *argument = &formatter->message->arguments[item->field];
	const uint8_t *at = etw_form_item(formatter->decoding, item);
	struct wpp_conversion plain = *conversion;
	struct etw_text *text = formatter->text;
	size_t start = text->bytes;

	if (is_number(argument->item) && is_sized(item->bytes)) {
		uint64_t value = etw_form_load(at, item->bytes);
		unsigned pointer_bytes = argument->item == ETW_WPP_POINTER ? item->bytes : 8;

		if (etw_wpp_number(conversion, value, item->bytes, pointer_bytes, text))
			return;
		plain.type = plain_type(argument->item);
		if (plain.type && etw_wpp_number(&plain, value, item->bytes, pointer_bytes, text))
			return;
	} else if ((argument->item == ETW_WPP_DOUBLE || argument->item == ETW_WPP_FLOAT) &&
		   (item->bytes == 4 || item->bytes == 8) &&
		   etw_wpp_float(conversion, load_float(at, item->bytes), text)) {
		return;
	}
	etw_wpp_item(argument, at, item->bytes, &formatter->options, text);
	/* "%.3d" of a text is no wish to cut it. */
	if (conversion->type != 's' && conversion->type != 'S')
		plain.precision = -1;
	etw_wpp_pad(&plain, start, text);
}

/* "%0"; one within the prefix means nothing. */
static void put_prefix(struct formatter *formatter)
{
	if (formatter->options.prefix && formatter->nesting == 1)
		format_text(formatter, formatter->options.prefix);
}

/* "%10!d!" from its digits on; returns where to go on. */
static const char *put_numbered(struct formatter *formatter, const char *at)
{
	struct wpp_conversion conversion = {.precision = -1, .type = 's'};
	const char *start = at - 1;
	unsigned number = 0;
	int index;

	for (; *at >= '0' && *at <= '9'; at++)
		number = number < UINT16_MAX ? number * 10 + (unsigned)(*at - '0') : number;
	(void)etw_wpp_conversion(&at, &conversion);
	if (!number) {
		put_prefix(formatter);
		return at;
	}
	if (number < ETW_WPP_FIRST_ARGUMENT) {
		put_variable(formatter, number, &conversion);
		return at;
	}
	index = find_argument(formatter->message, number);
	if (index < 0)
		etw_text_append(formatter->text, start, (size_t)(at - start));
	else if ((size_t)index < formatter->decoding->item_count)
		/* Arguments are values: the nth item is the nth argument. */
		put_argument(formatter, &formatter->decoding->items[index], &conversion);
	else
		put_missing(formatter, number, index);
	return at;
}

/* Names that stand for a variable with its usual conversion. */
struct named_variable {
	const char *name;
	unsigned number;
	char type;
};

static const struct named_variable variables[] = {
	{"MOD", 1, 's'}, {"TYP", 2, 's'}, {"TID", 3, 'x'}, {"NOW", 4, 's'},
	{"SEQ", 7, 'x'}, {"PID", 8, 'x'}, {"CPU", 9, 'x'},
};

static bool is_name(const char *at, size_t bytes, const char *name)
{
	return strlen(name) == bytes && !strncasecmp(at, name, bytes);
}

static bool put_known_name(struct formatter *formatter, const char *at, size_t bytes)
{
	const struct wpp_conversion conversion = {.precision = -1, .type = 's'};
	const struct etw_wpp_message *message = formatter->message;

	if (is_name(at, bytes, "FUNC"))
		put_string(formatter, &conversion, message->function);
	else if (is_name(at, bytes, "LEVEL"))
		put_string(formatter, &conversion, message->level);
	else if (is_name(at, bytes, "FLAGS"))
		put_string(formatter, &conversion, message->flags);
	else if (is_name(at, bytes, "FILE"))
		put_string(formatter, &conversion, message->source_file);
	else if (is_name(at, bytes, "LINE"))
		put_u32(formatter, &conversion, message->line);
	else if (is_name(at, bytes, "COMPNAME"))
		put_string(formatter, &conversion, message->component);
	else if (is_name(at, bytes, "SUBCOMP"))
		put_string(formatter, &conversion, message->subcomponent);
	else
		return false;
	return true;
}

/* "%!FUNC!" from the exclamation mark on; unknown names stay as they are. */
static const char *put_named(struct formatter *formatter, const char *at)
{
	const char *end = strchr(at + 1, '!');
	size_t bytes = end ? (size_t)(end - at - 1) : 0;

	if (!bytes) {
		etw_text_putc(formatter->text, '!');
		return at + 1;
	}
	if (put_known_name(formatter, at + 1, bytes))
		return end + 1;
	if (is_name(at + 1, bytes, "STDPREFIX")) {
		put_prefix(formatter);
		return end + 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const struct wpp_conversion conversion = {.precision = -1,
							  .type = variables[i].type};

		if (!is_name(at + 1, bytes, variables[i].name))
			continue;
		put_variable(formatter, variables[i].number, &conversion);
		return end + 1;
	}
	etw_text_append(formatter->text, at - 1, bytes + 3);
	return end + 1;
}

/* One escape, from behind its percent sign. */
static const char *put_escape(struct formatter *formatter, const char *at)
{
	static const char letters[] = "nrtb";
	static const char meanings[] = "\n\r\t ";
	const char *letter;

	if (*at >= '0' && *at <= '9')
		return put_numbered(formatter, at);
	if (*at == '!')
		return put_named(formatter, at);
	if (!*at) {
		etw_text_putc(formatter->text, '%');
		return at;
	}
	letter = strchr(letters, *at);
	/* "%%", "%." and what has no meaning: the character itself. */
	etw_text_putc(formatter->text, letter ? meanings[letter - letters] : *at);
	return at + 1;
}

static void format_text(struct formatter *formatter, const char *at)
{
	formatter->nesting++;
	while (*at && !is_full(formatter)) {
		size_t plain = strcspn(at, "%");

		etw_text_append(formatter->text, at, plain);
		at += plain;
		if (*at == '%')
			at = put_escape(formatter, at + 1);
	}
	formatter->nesting--;
}

/* Ends a text that is too long at a character, with dots. */
static void end_text(struct formatter *formatter)
{
	struct etw_text *text = formatter->text;
	size_t end = formatter->start + formatter->options.bytes_max;

	if (etw_text_error(text) || text->bytes <= end)
		return;
	while (end > formatter->start && ((unsigned char)text->at[end] & 0xC0) == 0x80)
		end--;
	etw_text_end(text, text->at + end);
	etw_text_puts(text, "...");
}

bool etw_format_wpp(const struct etw_decoding *decoding, const struct etw_wpp_options *options,
		    struct etw_text *text)
{
	struct formatter formatter = {.decoding = decoding, .text = text, .start = text->bytes};

	if (!decoding->schema || !decoding->schema->wpp)
		return false;
	if (options)
		formatter.options = *options;
	if (!formatter.options.bytes_max)
		formatter.options.bytes_max = ETW_WPP_MESSAGE_BYTES_MAX;
	formatter.message = decoding->schema->wpp;
	format_text(&formatter, formatter.message->text);
	end_text(&formatter);
	return true;
}
