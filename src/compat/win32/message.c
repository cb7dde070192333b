/* SPDX-License-Identifier: MIT */
/* FormatMessage: the text of a message, and its inserts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <winternl.h>

#include "base/text.h"
#include "base/utf.h"
#include "compat/win32/message_texts.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

#define INSERTS_MAX      99
#define STARS_MAX        2
#define RESULT_BYTES_MAX ((size_t)128 * 1024)
#define RESULT_UNITS_MAX (RESULT_BYTES_MAX / sizeof(WCHAR))
#define SPEC_BYTES_MAX   32
#define INSERT_WIDTH_MAX 4096

/* What inserts stand for: one slot each, as wide as a pointer. */
struct inserts {
	uintptr_t slots[INSERTS_MAX + STARS_MAX];
	const uintptr_t *array; /* of the caller; NULL: the list's first `count` are in slots */
	va_list *list;
	size_t count;
};

static uintptr_t insert(struct inserts *inserts, size_t index)
{
	if (inserts->array)
		return inserts->array[index];
	if (!inserts->list)
		return 0;
	while (inserts->count <= index)
		inserts->slots[inserts->count++] = va_arg(*inserts->list, uintptr_t);
	return inserts->slots[index];
}

/* What stands between the exclamation marks behind an insert, without prefixes of size. */
struct spec {
	char flags[8];
	int width, precision; /* -1: none */
	int bytes;            /* of an integer */
	char conversion;
	bool is_wide;
};

static int read_count(const char **at, struct inserts *inserts, size_t *index)
{
	int count = 0;

	if (**at == '*') {
		(*at)++;
		count = (int)insert(inserts, (*index)++);
	} else {
		while (**at >= '0' && **at <= '9' && count < INSERT_WIDTH_MAX)
			count = count * 10 + (*(*at)++ - '0');
	}
	return count < INSERT_WIDTH_MAX ? count : INSERT_WIDTH_MAX;
}

/* Returns whether it is one that this function knows. *@index moves on behind the widths that inserts give. */
static bool read_spec(const char *at, struct inserts *inserts, size_t *index, bool is_wide,
		      struct spec *ret)
{
	size_t flags = 0;
	bool is_narrow = false, is_long = false;

	*ret = (struct spec){.width = -1, .precision = -1, .bytes = 4};
	while (*at && strchr("-+ #0", *at) && flags < sizeof(ret->flags) - 1)
		ret->flags[flags++] = *at++;
	if (*at == '*' || (*at >= '1' && *at <= '9'))
		ret->width = read_count(&at, inserts, index);
	if (*at == '.') {
		at++;
		ret->precision = read_count(&at, inserts, index);
	}
	if (!strncmp(at, "I64", 3) || !strncmp(at, "I32", 3)) {
		ret->bytes = at[1] == '6' ? 8 : 4;
		at += 3;
	}
	for (; *at && strchr("hlwIjzt", *at); at++) {
		if (*at == 'h')
			is_narrow = true;
		if (*at == 'l' && is_long)
			ret->bytes = 8;
		is_long |= *at == 'l' || *at == 'w';
		if (strchr("Ijzt", *at))
			ret->bytes = 8;
	}
	ret->conversion = *at;
	ret->is_wide = is_narrow ? false : is_long ? true : (*at == 'S' || *at == 'C') != is_wide;
	return *at && !at[1] && strchr("sScCdiuxXop", *at);
}

static void pad(struct etw_text *text, int count)
{
	while (count-- > 0)
		etw_text_putc(text, ' ');
}

static void put_text(struct etw_text *text, const struct spec *spec, uintptr_t value)
{
	const size_t limit = spec->precision < 0 ? SIZE_MAX : (size_t)spec->precision;
	struct etw_text piece;
	size_t length = 0;

	etw_text_init(&piece);
	if (!value) {
		etw_text_append(&piece, "(null)", limit < 6 ? limit : 6);
		length = piece.bytes;
	} else if (spec->is_wide) {
		const WCHAR *wide = (const WCHAR *)value;

		while (length < limit && wide[length])
			length++;
		etw_text_utf16(&piece, (const uint8_t *)wide, length);
	} else {
		length = strnlen((const char *)value, limit);
		etw_text_append(&piece, (const char *)value, length);
	}
	if (spec->width >= 0 && !strchr(spec->flags, '-') && (size_t)spec->width > length)
		pad(text, spec->width - (int)length);
	etw_text_puts(text, etw_text_string(&piece));
	if (spec->width >= 0 && strchr(spec->flags, '-') && (size_t)spec->width > length)
		pad(text, spec->width - (int)length);
	etw_text_done(&piece);
}

static void put_number(struct etw_text *text, const struct spec *spec, uintptr_t value)
{
	char format[SPEC_BYTES_MAX + 16], width[16] = "", precision[16] = "";
	unsigned long long number = spec->bytes == 8 ? value : (uint32_t)value;
	char *room;
	int length;

	if (spec->bytes == 4 && strchr("di", spec->conversion))
		number = (unsigned long long)(int32_t)value;
	if (spec->width >= 0)
		(void)snprintf(width, sizeof(width), "%d", spec->width);
	if (spec->precision >= 0)
		(void)snprintf(precision, sizeof(precision), ".%d", spec->precision);
	(void)snprintf(format, sizeof(format), "%%%s%s%sll%c", spec->flags, width, precision,
		       spec->conversion);
	room = etw_text_begin(text, 2 * INSERT_WIDTH_MAX + 64);
	if (!room)
		return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	length = snprintf(room, 2 * INSERT_WIDTH_MAX + 64, format, number);
#pragma GCC diagnostic pop
	etw_text_end(text, room + (length < 0 ? 0 : length));
}

static void put_insert(struct etw_text *text, const char *spec_text, struct inserts *inserts,
		       size_t index, bool is_wide)
{
	struct spec spec;

	if (!read_spec(spec_text, inserts, &index, is_wide, &spec)) {
		etw_text_puts(text, spec_text);
		return;
	}
	if (spec.conversion == 's' || spec.conversion == 'S') {
		put_text(text, &spec, insert(inserts, index));
	} else if (spec.conversion == 'c' || spec.conversion == 'C') {
		const WCHAR units[2] = {(WCHAR)insert(inserts, index), 0};

		spec.is_wide = true;
		put_text(text, &spec, (uintptr_t)units);
	} else if (spec.conversion == 'p') {
		etw_text_printf(text, "%016llX", (unsigned long long)insert(inserts, index));
	} else {
		put_number(text, &spec, insert(inserts, index));
	}
}

/* "%1!spec!" or "%1". Returns where the text goes on. */
static const char *expand_insert(struct etw_text *text, const char *at, struct inserts *inserts,
				 bool is_wide)
{
	char spec[SPEC_BYTES_MAX] = "s";
	size_t number = (size_t)(*at++ - '0');
	const char *end;

	if (*at >= '0' && *at <= '9')
		number = number * 10 + (size_t)(*at++ - '0');
	end = *at == '!' ? strchr(at + 1, '!') : NULL;
	if (end && (size_t)(end - at) - 1 < sizeof(spec)) {
		memcpy(spec, at + 1, (size_t)(end - at) - 1);
		spec[end - at - 1] = '\0';
		at = end + 1;
	}
	put_insert(text, spec, inserts, number - 1, is_wide);
	return at;
}

static void expand(struct etw_text *text, const char *at, DWORD flags, struct inserts *inserts,
		   bool is_wide)
{
	const bool ignores_breaks = (flags & FORMAT_MESSAGE_MAX_WIDTH_MASK) != 0;

	while (*at) {
		if ((*at == '\r' || *at == '\n') && ignores_breaks) {
			at += at[0] == '\r' && at[1] == '\n' ? 2 : 1;
			etw_text_putc(text, ' ');
		} else if (*at != '%' || !at[1]) {
			etw_text_putc(text, *at++);
		} else if (at[1] >= '1' && at[1] <= '9') {
			if (flags & FORMAT_MESSAGE_IGNORE_INSERTS) {
				etw_text_putc(text, *at++);
				continue;
			}
			at = expand_insert(text, at + 1, inserts, is_wide);
		} else if (at[1] == '0') {
			return;
		} else {
			static const char letters[] = "nrtb";
			static const char *const meanings[] = {"\r\n", "\r", "\t", " "};
			const char *letter = strchr(letters, at[1]);

			if (letter)
				etw_text_puts(text, meanings[letter - letters]);
			else
				etw_text_putc(text, at[1]);
			at += 2;
		}
	}
}

/* Breaks lines that are longer than @width at their last blank. */
static void wrap(struct etw_text *text, size_t width)
{
	size_t start = 0, blank = 0;

	if (!width || width == FORMAT_MESSAGE_MAX_WIDTH_MASK)
		return;
	for (size_t i = 0; i < text->bytes; i++) {
		if (text->at[i] == '\n') {
			start = i + 1;
			blank = 0;
		} else if (text->at[i] == ' ') {
			blank = i;
		}
		if (i - start < width || blank <= start)
			continue;
		/* The blank becomes CR LF: one byte more. */
		if (etw_text_reserve(text, 1))
			return;
		memmove(text->at + blank + 2, text->at + blank + 1, text->bytes - blank);
		memcpy(text->at + blank, "\r\n", 2);
		text->bytes++;
		start = blank + 2;
		blank = 0;
	}
}

/* The message's text before its inserts: owned, or NULL with the last error. */
static char *find_text(DWORD flags, LPCVOID source, DWORD id, DWORD language)
{
	const char *text;
	char *line;

	if (!(flags & (FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_FROM_HMODULE)))
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	if (flags & FORMAT_MESSAGE_FROM_HMODULE && source && source == GetModuleHandleA("ntdll") &&
	    id >> 30 == 3 && RtlNtStatusToDosError((NTSTATUS)id) != ERROR_MR_MID_NOT_FOUND)
		id = RtlNtStatusToDosError((NTSTATUS)id);
	else if (!(flags & FORMAT_MESSAGE_FROM_SYSTEM))
		return etw_fail_null(ERROR_RESOURCE_TYPE_NOT_FOUND);
	if (language && language != 0x400 && language != 0x409 && language != 0x800 &&
	    language != 9)
		return etw_fail_null(ERROR_RESOURCE_LANG_NOT_FOUND);
	text = etw_message_text(id);
	if (!text)
		return etw_fail_null(ERROR_MR_MID_NOT_FOUND);
	line = malloc(strlen(text) + 3);
	if (!line)
		return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	(void)stpcpy(stpcpy(line, text), "\r\n");
	return line;
}

/* Owned UTF-8, or NULL with the last error. Takes @message. */
static char *format(DWORD flags, char *message, va_list *arguments, bool is_wide)
{
	struct inserts inserts = {0};
	struct etw_text text;
	int error;

	if (!message)
		return NULL;
	if (flags & FORMAT_MESSAGE_ARGUMENT_ARRAY)
		inserts.array = (const uintptr_t *)(void *)arguments;
	else
		inserts.list = arguments;
	if (!arguments)
		inserts.array = NULL;
	etw_text_init(&text);
	expand(&text, message, flags, &inserts, is_wide);
	wrap(&text, flags & FORMAT_MESSAGE_MAX_WIDTH_MASK);
	etw_text_append(&text, "", 0);
	free(message);
	error = etw_text_error(&text);
	if (error || text.bytes > RESULT_UNITS_MAX) {
		etw_text_done(&text);
		return etw_fail_null(error ? ERROR_NOT_ENOUGH_MEMORY : ERROR_MORE_DATA);
	}
	return text.at;
}

/* Gives a text of @length units to the caller. Returns its length, or 0 with the last error. */
static DWORD give(DWORD flags, const void *text, size_t length, size_t unit, void *buffer,
		  DWORD size)
{
	if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER) {
		const size_t room = length + 1 > size ? length + 1 : size;
		void *copy = LocalAlloc(LMEM_FIXED, room * unit);

		*(void **)buffer = copy;
		if (!copy)
			return 0;
		buffer = copy;
	} else if (size <= length) {
		return (DWORD)etw_fail(ERROR_INSUFFICIENT_BUFFER);
	}
	memcpy(buffer, text, (length + 1) * unit);
	return (DWORD)length;
}

DWORD FormatMessageA(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId,
		     LPSTR lpBuffer, DWORD nSize, va_list *Arguments)
{
	char *message, *text;
	DWORD length;

	if (!lpBuffer || (dwFlags & FORMAT_MESSAGE_FROM_STRING && !lpSource))
		return (DWORD)etw_fail(ERROR_INVALID_PARAMETER);
	message = dwFlags & FORMAT_MESSAGE_FROM_STRING
			  ? strdup(lpSource)
			  : find_text(dwFlags, lpSource, dwMessageId, dwLanguageId);
	text = format(dwFlags, message, Arguments, false);
	length = text ? give(dwFlags, text, strlen(text), sizeof(char), lpBuffer, nSize) : 0;
	free(text);
	return length;
}

DWORD FormatMessageW(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId,
		     LPWSTR lpBuffer, DWORD nSize, va_list *Arguments)
{
	char *message, *text;
	WCHAR *wide;
	DWORD length = 0;

	if (!lpBuffer || (dwFlags & FORMAT_MESSAGE_FROM_STRING && !lpSource))
		return (DWORD)etw_fail(ERROR_INVALID_PARAMETER);
	message = dwFlags & FORMAT_MESSAGE_FROM_STRING
			  ? etw_narrow(lpSource)
			  : find_text(dwFlags, lpSource, dwMessageId, dwLanguageId);
	text = format(dwFlags, message, Arguments, true);
	wide = etw_widen(text);
	if (wide)
		length = give(dwFlags, wide, (size_t)lstrlenW(wide), sizeof(WCHAR), lpBuffer,
			      nSize);
	free(wide);
	free(text);
	return length;
}
