/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
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

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
				     "25262728293031323334353637383940414243444546474849"
				     "50515253545556575859606162636465666768697071727374"
				     "75767778798081828384858687888990919293949596979899";

static unsigned count_digits(uint64_t value)
{
	unsigned digits = 1;

	for (;; value /= 10000, digits += 4) {
		if (value < 10)
			return digits;
		if (value < 100)
			return digits + 1;
		if (value < 1000)
			return digits + 2;
		if (value < 10000)
			return digits + 3;
	}
}

static char *write_unsigned(char *to, uint64_t value)
{
	char *end = to + count_digits(value);
	char *at = end;

	while (value >= 100) {
		at -= 2;
		memcpy(at, &digit_pairs[2 * (value % 100)], 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(at - 2, &digit_pairs[2 * value], 2);
	else
		at[-1] = (char)('0' + value);
	return end;
}

void etw_text_unsigned(struct etw_text *text, uint64_t value)
{
	char *to = etw_text_begin(text, 20);

	if (to)
		etw_text_end(text, write_unsigned(to, value));
}

void etw_text_signed(struct etw_text *text, int64_t value)
{
	char *to = etw_text_begin(text, 20);

	if (!to)
		return;
	if (value < 0) {
		*to = '-';
		etw_text_end(text, write_unsigned(to + 1, -(uint64_t)value));
		return;
	}
	etw_text_end(text, write_unsigned(to, (uint64_t)value));
}

void etw_text_hex(struct etw_text *text, uint64_t value)
{
	unsigned digits = value ? (67u - (unsigned)__builtin_clzll(value)) / 4 : 1;
	char *to = etw_text_begin(text, 16);

	if (!to)
		return;
	for (unsigned i = digits; i > 0; i--, value >>= 4)
		to[i - 1] = "0123456789ABCDEF"[value & 15];
	etw_text_end(text, to + digits);
}

/* Room for @count units of at most @most bytes each, and two quotes. */
static char *begin_each(struct etw_text *text, size_t count, size_t most)
{
	return etw_text_begin(text, count > SIZE_MAX / 8 ? SIZE_MAX : count * most + 2);
}

/* Whether four UTF-16 units, read as one word, are all ASCII. */
static bool is_ascii_units(uint64_t word)
{
	return !(word & UINT64_C(0xFF80FF80FF80FF80));
}

/* Four ASCII units as four bytes. */
static uint32_t pack_units(uint64_t word)
{
	word = (word | word >> 8) & UINT64_C(0x0000FFFF0000FFFF);
	return (uint32_t)(word | word >> 16);
}

void etw_text_utf16(struct etw_text *text, const uint8_t *at, size_t units)
{
	/* A unit gives at most three bytes of UTF-8; a pair gives four. */
	char *to = begin_each(text, units, 3);

	if (!to)
		return;
	while (units) {
		size_t used = 1;

		if (units >= 4 && is_ascii_units(etw_load64(at))) {
			etw_store32((uint8_t *)to, pack_units(etw_load64(at)));
			to += 4;
			used = 4;
		} else {
			to += etw_utf8_encode(etw_utf16_decode(at, units, &used), to);
		}
		at += 2 * used;
		units -= used;
	}
	etw_text_end(text, to);
}

static uint32_t ansi_point(uint8_t byte)
{
	return byte >= 0x80 && byte < 0xA0 ? windows_1252[byte - 0x80] : byte;
}

void etw_text_ansi(struct etw_text *text, const uint8_t *at, size_t bytes)
{
	if (etw_utf8_is_valid(at, bytes)) {
		etw_text_append(text, (const char *)at, bytes);
		return;
	}
	char *to = begin_each(text, bytes, 3);

	if (!to)
		return;
	for (size_t i = 0; i < bytes; i++)
		to += etw_utf8_encode(ansi_point(at[i]), to);
	etw_text_end(text, to);
}

/* Bytes that a JSON string cannot hold as they are; those of UTF-8 sequences can. */
static bool needs_escape(uint32_t point)
{
	return point < 0x20 || point == '"' || point == '\\' || point == 0x7F;
}

/* Whether one of eight bytes may need an escape; never misses one. */
static bool word_needs_escape(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t quote = word ^ ones * '"';
	uint64_t backslash = word ^ ones * '\\';
	uint64_t delete = word ^ ones * 0x7F;
	uint64_t found = (word - ones * 0x20) & ~word;

	found |= (quote - ones) & ~quote;
	found |= (backslash - ones) & ~backslash;
	found |= (delete - ones) & ~delete;
	return found & ones * 0x80;
}

static char *write_escape(char *to, uint32_t c)
{
	*to++ = '\\';
	switch (c) {
	case '"':
	case '\\':
		*to++ = (char)c;
		return to;
	case '\n':
		*to++ = 'n';
		return to;
	case '\r':
		*to++ = 'r';
		return to;
	case '\t':
		*to++ = 't';
		return to;
	default:
		memcpy(to, "u00", 3);
		to[3] = "0123456789abcdef"[c >> 4 & 15];
		to[4] = "0123456789abcdef"[c & 15];
		return to + 5;
	}
}

void etw_text_json_string(struct etw_text *text, const char *at, size_t bytes)
{
	/* An escape has six bytes. */
	char *to = begin_each(text, bytes, 6);

	if (!to)
		return;
	*to++ = '"';
	while (bytes) {
		uint64_t word;

		if (bytes >= 8 && (memcpy(&word, at, 8), !word_needs_escape(word))) {
			memcpy(to, &word, 8);
			to += 8;
			at += 8;
			bytes -= 8;
			continue;
		}
		if (needs_escape((uint8_t)*at))
			to = write_escape(to, (uint8_t)*at);
		else
			*to++ = *at;
		at++;
		bytes--;
	}
	*to++ = '"';
	etw_text_end(text, to);
}

void etw_text_json_utf16(struct etw_text *text, const uint8_t *at, size_t units)
{
	char *to = begin_each(text, units, 6);

	if (!to)
		return;
	*to++ = '"';
	while (units) {
		size_t used = 1;

		if (units >= 4 && is_ascii_units(etw_load64(at))) {
			uint32_t packed = pack_units(etw_load64(at));

			/* The upper half is filled with blanks, which need no escape. */
			if (!word_needs_escape(packed | UINT64_C(0x2020202000000000))) {
				etw_store32((uint8_t *)to, packed);
				to += 4;
				at += 8;
				units -= 4;
				continue;
			}
		}
		uint32_t point = etw_utf16_decode(at, units, &used);

		to = needs_escape(point) ? write_escape(to, point)
					 : to + etw_utf8_encode(point, to);
		at += 2 * used;
		units -= used;
	}
	*to++ = '"';
	etw_text_end(text, to);
}

void etw_text_json_ansi(struct etw_text *text, const uint8_t *at, size_t bytes)
{
	if (etw_utf8_is_valid(at, bytes)) {
		etw_text_json_string(text, (const char *)at, bytes);
		return;
	}
	char *to = begin_each(text, bytes, 6);

	if (!to)
		return;
	*to++ = '"';
	for (size_t i = 0; i < bytes; i++) {
		uint32_t point = ansi_point(at[i]);

		to = needs_escape(point) ? write_escape(to, point)
					 : to + etw_utf8_encode(point, to);
	}
	*to++ = '"';
	etw_text_end(text, to);
}

const char *etw_text_string(const struct etw_text *text)
{
	return text->at ? text->at : "";
}
