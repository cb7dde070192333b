/* SPDX-License-Identifier: MIT */
/* The forms of WPP's items where "%s" asks for them. Sizes were checked by the walk and are checked again. */
#include <string.h>

#include "base/bytes.h"
#include "base/digits.h"
#include "base/float.h"
#include "base/guid.h"
#include "base/time.h"
#include "decode/format_wpp_internal.h"

#define MS_PER_DAY INT64_C(86400000)

static void write_padded(uint64_t value, unsigned digits, struct etw_text *text)
{
	char *to = etw_text_begin(text, digits);

	if (!to)
		return;
	for (unsigned i = digits; i > 0; i--, value /= 10)
		to[i - 1] = (char)('0' + value % 10);
	etw_text_end(text, to + digits);
}

/* "0x" and eight digits, as status codes are shown. */
static void write_hex32(uint32_t value, struct etw_text *text)
{
	char *to = etw_text_begin(text, 2 + ETW_DIGITS_BYTES_MAX);

	if (!to)
		return;
	/* A digit in front makes nine of it, and gives way to the prefix. */
	(void)etw_write_hex(to + 1, UINT64_C(0x100000000) | value);
	for (int i = 2; i < 10; i++)
		to[i] |= 0x20;
	memcpy(to, "0x", 2);
	etw_text_end(text, to + 10);
}

/* "0x1f" without leading zeros. */
static void write_short_hex(uint32_t value, struct etw_text *text)
{
	etw_text_printf(text, "0x%x", value);
}

static void write_in_parentheses(const char *name, struct etw_text *text)
{
	if (!name)
		return;
	etw_text_putc(text, '(');
	etw_text_puts(text, name);
	etw_text_putc(text, ')');
}

static void write_hresult(uint32_t code, struct etw_text *text)
{
	const char *name = NULL;

	/* One that wraps a Win32 error is called by the error's name. */
	if ((code & UINT32_C(0xFFFF0000)) == UINT32_C(0x80070000))
		name = etw_form_win32_name(code & 0xFFFF);
	write_hex32(code, text);
	write_in_parentheses(name ? name : etw_form_hresult_name(code), text);
}

static void write_win32_error(uint32_t code, struct etw_text *text)
{
	etw_text_unsigned(text, code);
	write_in_parentheses(etw_form_win32_name(code), text);
}

static void write_list(const struct etw_map *names, uint32_t value, struct etw_text *text)
{
	write_hex32(value, text);
	write_in_parentheses(names ? etw_map_name(names, value) : NULL, text);
}

/* "[a,c]"; bits beyond the list are shown as what is left of the number. */
static void write_set(const struct etw_map *names, uint32_t value, struct etw_text *text)
{
	bool is_first = true;

	etw_text_putc(text, '[');
	for (uint32_t i = 0; names && i < names->count; i++) {
		if (!(value & names->entries[i].value))
			continue;
		value &= ~names->entries[i].value;
		if (!is_first)
			etw_text_putc(text, ',');
		is_first = false;
		etw_text_puts(text, names->entries[i].text);
	}
	if (value && !is_first)
		etw_text_putc(text, ',');
	if (value)
		write_short_hex(value, text);
	etw_text_putc(text, ']');
}

static void write_enum(const struct etw_map *names, uint32_t value, struct etw_text *text)
{
	const char *name = names ? etw_map_name(names, value) : NULL;

	if (name)
		etw_text_puts(text, name);
	else
		write_short_hex(value, text);
}

/* "A | B(0x3)" */
static void write_flags_enum(const struct etw_map *names, uint32_t value, struct etw_text *text)
{
	bool is_first = true;

	for (uint32_t i = 0; names && i < names->count; i++) {
		uint32_t mask = names->entries[i].value;

		if (!mask || (value & mask) != mask)
			continue;
		if (!is_first)
			etw_text_puts(text, " | ");
		is_first = false;
		etw_text_puts(text, names->entries[i].text);
	}
	if (!is_first)
		etw_text_putc(text, '(');
	write_short_hex(value, text);
	if (!is_first)
		etw_text_putc(text, ')');
}

void etw_wpp_time(int64_t filetime, const struct etw_wpp_options *options, struct etw_text *text)
{
	int64_t offset = options->utc_offset_minutes * INT64_C(60) * ETW_FILETIME_PER_SECOND;
	struct etw_date date;
	int64_t local;

	if (__builtin_add_overflow(filetime, offset, &local) ||
	    !etw_date_of_filetime(local, &date)) {
		etw_text_signed(text, filetime);
		return;
	}
	write_padded(date.month, 2, text);
	etw_text_putc(text, '/');
	write_padded(date.day, 2, text);
	etw_text_putc(text, '/');
	write_padded((uint64_t)date.year, date.year > 9999 ? 5 : 4, text);
	etw_text_putc(text, '-');
	write_padded(date.hour, 2, text);
	etw_text_putc(text, ':');
	write_padded(date.minute, 2, text);
	etw_text_putc(text, ':');
	write_padded(date.second, 2, text);
	etw_text_putc(text, '.');
	if (options->has_long_times)
		write_padded(date.ticks, 7, text);
	else
		write_padded(date.ticks / 10000, 3, text);
}

/* Milliseconds as "day~hour:minute:second". */
static void write_delta(int64_t delta, struct etw_text *text)
{
	uint64_t left = delta < 0 ? -(uint64_t)delta : (uint64_t)delta;
	uint64_t in_day = left % MS_PER_DAY;

	if (delta < 0)
		etw_text_putc(text, '-');
	etw_text_unsigned(text, left / MS_PER_DAY);
	etw_text_putc(text, '~');
	etw_text_unsigned(text, in_day / 3600000);
	etw_text_putc(text, ':');
	etw_text_unsigned(text, in_day / 60000 % 60);
	etw_text_putc(text, ':');
	etw_text_unsigned(text, in_day / 1000 % 60);
}

/* When a wait ends: a date, or for a negative value how long it takes from now. */
static void write_wait_time(int64_t value, const struct etw_wpp_options *options,
			    struct etw_text *text)
{
	if (value < 0)
		write_delta((int64_t)(-(uint64_t)value / 10000), text);
	else
		etw_wpp_time(value, options, text);
}

static void write_pairs(const uint8_t *at, size_t bytes, char between, struct etw_text *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < bytes; i++) {
		if (i)
			etw_text_putc(text, between);
		etw_text_putc(text, digits[at[i] >> 4]);
		etw_text_putc(text, digits[at[i] & 15]);
	}
}

static void write_guid(const uint8_t *at, struct etw_text *text)
{
	char guid[ETW_GUID_BARE_BYTES];
	GUID value = etw_guid_read(at);

	etw_guid_format(&value, guid);
	etw_text_puts(text, guid);
}

static void write_double(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	const struct wpp_conversion conversion = {.precision = -1, .type = 'g'};

	(void)etw_wpp_float(&conversion, etw_load_float(at, bytes), text);
}

/* Items of one to four bytes. */
static bool write_small(const struct etw_wpp_argument *argument, uint32_t value,
			struct etw_text *text)
{
	switch (argument->item) {
	case ETW_WPP_NTSTATUS:
		write_hex32(value, text);
		write_in_parentheses(etw_form_ntstatus_name(value), text);
		return true;
	case ETW_WPP_WIN32_ERROR:
		write_win32_error(value, text);
		return true;
	case ETW_WPP_HRESULT:
		write_hresult(value, text);
		return true;
	case ETW_WPP_STATUS:
		write_hex32(value, text);
		return true;
	case ETW_WPP_LIST_BYTE:
	case ETW_WPP_LIST_SHORT:
	case ETW_WPP_LIST_LONG:
		write_list(argument->names, value, text);
		return true;
	case ETW_WPP_SET_BYTE:
	case ETW_WPP_SET_SHORT:
	case ETW_WPP_SET_LONG:
		write_set(argument->names, value, text);
		return true;
	case ETW_WPP_ENUM:
		write_enum(argument->names, value, text);
		return true;
	case ETW_WPP_FLAGS_ENUM:
		write_flags_enum(argument->names, value, text);
		return true;
	case ETW_WPP_ULONG_HEX:
		write_short_hex(value, text);
		return true;
	default:
		return false;
	}
}

static bool write_large(const struct etw_wpp_argument *argument, const uint8_t *at, size_t bytes,
			const struct etw_wpp_options *options, struct etw_text *text)
{
	switch (argument->item) {
	case ETW_WPP_TIMESTAMP:
		if (bytes == 8)
			etw_wpp_time((int64_t)etw_load64(at), options, text);
		return true;
	case ETW_WPP_TIME_DELTA:
		if (bytes == 8)
			write_delta((int64_t)etw_load64(at), text);
		return true;
	case ETW_WPP_WAIT_TIME:
		if (bytes == 8)
			write_wait_time((int64_t)etw_load64(at), options, text);
		return true;
	case ETW_WPP_FLOAT:
	case ETW_WPP_DOUBLE:
		if (bytes == 4 || bytes == 8)
			write_double(at, bytes, text);
		return true;
	case ETW_WPP_GUID:
		if (bytes == 16)
			write_guid(at, text);
		return true;
	case ETW_WPP_MAC:
		write_pairs(at, bytes, '-', text);
		return true;
	case ETW_WPP_HEX_DUMP:
		write_pairs(at, bytes, ' ', text);
		return true;
	default:
		return false;
	}
}

static bool is_character(enum etw_wpp_item item)
{
	return item == ETW_WPP_CHAR || item == ETW_WPP_UCHAR;
}

void etw_wpp_item(const struct etw_wpp_argument *argument, const uint8_t *at, size_t bytes,
		  const struct etw_wpp_options *options, struct etw_text *text)
{
	enum form form = FORM_BYTES;

	if (is_character(argument->item) && bytes == 1)
		form = FORM_CHARACTER;
	else if (argument->item == ETW_WPP_STRING || argument->item == ETW_WPP_COUNTED_STRING ||
		 argument->item == ETW_WPP_CHAR4)
		form = FORM_ANSI;
	else if (argument->item == ETW_WPP_WSTRING || argument->item == ETW_WPP_COUNTED_WSTRING)
		form = FORM_UTF16;
	else if (argument->item == ETW_WPP_SID)
		form = FORM_SID;
	else if (argument->item == ETW_WPP_IPV4 && bytes == 4)
		form = FORM_IPV4;
	else if (argument->item == ETW_WPP_IPV6 && bytes == 16)
		form = FORM_IPV6;
	else if (argument->item == ETW_WPP_PORT && bytes == 2)
		form = FORM_PORT;
	else if ((bytes == 1 || bytes == 2 || bytes == 4) &&
		 write_small(argument, (uint32_t)etw_load_unsigned(at, bytes), text))
		return;
	else if (write_large(argument, at, bytes, options, text))
		return;
	etw_form_write(form, at,
		       form == FORM_UTF16 || form == FORM_ANSI
			       ? etw_form_shown_bytes(form, at, bytes)
			       : bytes,
		       text);
}
