/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf.h"

#define FIRST_ROOM 128

/* Windows-1252's bytes 0x80 to 0x9F; the rest of that code page equals Latin-1. */
static const uint16_t windows_1252[32] = {
	0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
	0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
	0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178,
};

void etw_text_done(struct etw_text *text)
{
	if (!text)
		return;
	free(text->at);
	etw_text_init(text);
}

void etw_text_clear(struct etw_text *text)
{
	text->bytes = 0;
	text->error = 0;
	if (text->at)
		text->at[0] = '\0';
}

int etw_text_reserve(struct etw_text *text, size_t bytes)
{
	size_t need;

	if (text->error)
		return text->error;
	if (__builtin_add_overflow(text->bytes, bytes, &need) || need == SIZE_MAX)
		return text->error = -ENOMEM;
	if (need < text->room)
		return 0;

	size_t room = text->room ? text->room : FIRST_ROOM;

	while (room <= need) {
		if (__builtin_mul_overflow(room, (size_t)2, &room))
			return text->error = -ENOMEM;
	}
	char *grown = realloc(text->at, room);

	if (!grown)
		return text->error = -ENOMEM;
	text->at = grown;
	text->room = room;
	return 0;
}

void etw_text_append(struct etw_text *text, const char *at, size_t bytes)
{
	if (etw_text_reserve(text, bytes))
		return;
	if (bytes)
		memcpy(text->at + text->bytes, at, bytes);
	text->bytes += bytes;
	text->at[text->bytes] = '\0';
}

void etw_text_puts(struct etw_text *text, const char *string)
{
	etw_text_append(text, string, strlen(string));
}

void etw_text_putc(struct etw_text *text, char c)
{
	etw_text_append(text, &c, 1);
}

void etw_text_printf(struct etw_text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	if (etw_text_reserve(text, FIRST_ROOM))
		return;
	va_start(arguments, format);
	length = vsnprintf(text->at + text->bytes, text->room - text->bytes, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length >= text->room - text->bytes) {
		if (etw_text_reserve(text, (size_t)length))
			return;
		va_start(arguments, format);
		(void)vsnprintf(text->at + text->bytes, text->room - text->bytes, format,
				arguments);
		va_end(arguments);
	}
	text->bytes += (size_t)length;
}

void etw_text_unsigned(struct etw_text *text, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	etw_text_append(text, digits + first, sizeof(digits) - first);
}

void etw_text_signed(struct etw_text *text, int64_t value)
{
	if (value < 0) {
		etw_text_putc(text, '-');
		etw_text_unsigned(text, -(uint64_t)value);
		return;
	}
	etw_text_unsigned(text, (uint64_t)value);
}

void etw_text_hex(struct etw_text *text, uint64_t value)
{
	char digits[16];
	size_t first = sizeof(digits);

	do {
		digits[--first] = "0123456789ABCDEF"[value & 15];
		value >>= 4;
	} while (value);
	etw_text_append(text, digits + first, sizeof(digits) - first);
}

void etw_text_utf16(struct etw_text *text, const uint8_t *at, size_t units)
{
	/* A unit gives at most three bytes of UTF-8; a pair gives four. */
	if (units > SIZE_MAX / 4 || etw_text_reserve(text, 3 * units))
		return;
	while (units) {
		uint32_t unit = etw_load16(at);
		size_t used = 1;

		if (unit < 0x80) {
			text->at[text->bytes++] = (char)unit;
		} else {
			uint32_t point = etw_utf16_decode(at, units, &used);

			text->bytes += etw_utf8_encode(point, text->at + text->bytes);
		}
		at += 2 * used;
		units -= used;
	}
	text->at[text->bytes] = '\0';
}

void etw_text_ansi(struct etw_text *text, const uint8_t *at, size_t bytes)
{
	if (etw_utf8_is_valid(at, bytes)) {
		etw_text_append(text, (const char *)at, bytes);
		return;
	}
	for (size_t i = 0; i < bytes; i++) {
		uint32_t point = at[i];
		char encoded[4];

		if (point >= 0x80 && point < 0xA0)
			point = windows_1252[point - 0x80];
		etw_text_append(text, encoded, etw_utf8_encode(point, encoded));
	}
}

static void append_escape(struct etw_text *text, unsigned char c)
{
	switch (c) {
	case '"':
		etw_text_append(text, "\\\"", 2);
		break;
	case '\\':
		etw_text_append(text, "\\\\", 2);
		break;
	case '\n':
		etw_text_append(text, "\\n", 2);
		break;
	case '\r':
		etw_text_append(text, "\\r", 2);
		break;
	case '\t':
		etw_text_append(text, "\\t", 2);
		break;
	default:
		etw_text_printf(text, "\\u%04x", c);
	}
}

void etw_text_json_string(struct etw_text *text, const char *at, size_t bytes)
{
	size_t plain = 0;

	etw_text_putc(text, '"');
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)at[i];

		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F)
			continue;
		etw_text_append(text, at + plain, i - plain);
		append_escape(text, c);
		plain = i + 1;
	}
	etw_text_append(text, at + plain, bytes - plain);
	etw_text_putc(text, '"');
}

const char *etw_text_string(const struct etw_text *text)
{
	return text->at ? text->at : "";
}
