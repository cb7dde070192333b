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

void etw_text_unsigned(struct etw_text *text, uint64_t value)
{
	char *to = etw_text_begin(text, 20);

	if (to)
		etw_text_end(text, etw_write_unsigned(to, value));
}

void etw_text_signed(struct etw_text *text, int64_t value)
{
	char *to = etw_text_begin(text, 20);

	if (!to)
		return;
	if (value < 0) {
		*to = '-';
		etw_text_end(text, etw_write_unsigned(to + 1, -(uint64_t)value));
		return;
	}
	etw_text_end(text, etw_write_unsigned(to, (uint64_t)value));
}

void etw_text_hex(struct etw_text *text, uint64_t value)
{
	char *to = etw_text_begin(text, 16);

	if (to)
		etw_text_end(text, etw_write_hex(to, value));
}

/* Room for @count units of at most @most bytes each, and two quotes. */
static char *begin_each(struct etw_text *text, size_t count, size_t most)
{
	return etw_text_begin(text, count > SIZE_MAX / 8 ? SIZE_MAX : count * most + 2);
}

#define NOT_ASCII_UNITS UINT64_C(0xFF80FF80FF80FF80)

/* Whether four UTF-16 units, read as one word, are all ASCII. */
static bool is_ascii_units(uint64_t word)
{
	return !(word & NOT_ASCII_UNITS);
}

/* Four ASCII units as four bytes. */
static uint32_t pack_units(uint64_t word)
{
	word = (word | word >> 8) & UINT64_C(0x0000FFFF0000FFFF);
	return (uint32_t)(word | word >> 16);
}

/* Sixteen bytes at once: the compiler makes of it what the machine has. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signs16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

#define WIDE_UNITS 16 /* that load_wide() takes */
#define LOW_BYTES  0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define HIGH_BYTES 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31

/* Sixteen units as bytes; returns which of them, as bytes of 0xFF, are no bytes. */
static inline bytes16 load_wide(const uint8_t *at, bytes16 *ret)
{
	bytes16 low, high;

	memcpy(&low, at, sizeof(low));
	memcpy(&high, at + sizeof(low), sizeof(high));
	*ret = __builtin_shufflevector(low, high, LOW_BYTES);
	return (bytes16)(__builtin_shufflevector(low, high, HIGH_BYTES) != 0);
}

/* How many bytes in front are zero. */
static inline size_t count_clear(bytes16 found)
{
	const words2 words = (words2)found;

	if (words[0])
		return (size_t)__builtin_ctzll(le64toh(words[0])) / 8;
	return words[1] ? 8 + (size_t)__builtin_ctzll(le64toh(words[1])) / 8 : 16;
}

void etw_text_utf16(struct etw_text *text, const uint8_t *at, size_t units)
{
	/* A unit gives at most three bytes of UTF-8; a pair gives four. */
	char *to = begin_each(text, units, 3);

	if (!to)
		return;
	while (units) {
		size_t used = 1;

		if (units >= WIDE_UNITS) {
			bytes16 wide;
			const bytes16 beyond = load_wide(at, &wide);
			const size_t plain = count_clear(beyond | (bytes16)((signs16)wide < 0));

			memcpy(to, &wide, sizeof(wide));
			to += plain;
			at += 2 * plain;
			units -= plain;
			if (plain == WIDE_UNITS)
				continue;
		}
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

/* What a JSON string cannot hold, and what a terminal must not get: readers print what they are given. */
static bool needs_escape(uint32_t point)
{
	return point == '"' || point == '\\' || etw_utf_is_harmful(point);
}

/* Of a byte of UTF-8: those two begin all such characters beyond ASCII. */
static bool may_need_escape(uint8_t byte)
{
	return byte == 0xC2 || byte == 0xE2 || (byte < 0x80 && needs_escape(byte));
}

/*
 * How many bytes at the front of eight are ASCII that needs no escape. In words of ASCII each test sets
 * the high bit of a byte that fails; borrows and carries go to bytes behind it only.
 */
static inline unsigned count_plain(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t found = word;

	found |= word - ones * 0x20;
	found |= word + ones;
	found |= (word ^ ones * '"') - ones;
	found |= (word ^ ones * '\\') - ones;
	found &= ones * 0x80;
	return found ? (unsigned)__builtin_ctzll(found) / 8 : 8;
}

/* Which of sixteen bytes are not ASCII that needs no escape; those of UTF-8 sequences have a sign. */
static inline bytes16 find_not_plain(bytes16 bytes)
{
	const signs16 at = (signs16)bytes;

	return (bytes16)((at < 0x20) | (at == '"') | (at == '\\') | (at == 0x7F));
}

/* Which of sixteen bytes may need an escape. C2 and E2 differ in one bit. */
static inline bytes16 find_escaped(bytes16 bytes)
{
	return (bytes16)((bytes < 0x20) | (bytes == '"') | (bytes == '\\') | (bytes == 0x7F) |
			 ((bytes | 0x20) == 0xE2));
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
		*to++ = 'u';
		for (unsigned shift = 16; shift; shift -= 4)
			*to++ = "0123456789abcdef"[c >> (shift - 4) & 15];
		return to;
	}
}

/* Up to eight bytes as a word, blanks in the place of those that are missing. */
static inline uint64_t load_word(const char *text, size_t bytes)
{
	const uint8_t *at = (const uint8_t *)text;
	uint64_t word;

	if (bytes >= 8)
		return etw_load64(at);
	if (bytes >= 4)
		word = etw_load32(at) | (uint64_t)etw_load32(at + bytes - 4) << 8 * (bytes - 4);
	else
		word = (uint64_t)at[0] | (uint64_t)at[bytes / 2] << 8 * (bytes / 2) |
		       (uint64_t)at[bytes - 1] << 8 * (bytes - 1);
	return word | UINT64_C(0x2020202020202020) << 8 * bytes;
}

/*
 * Copies the front of a text as far as it needs no escape, up to sixteen bytes; returns how many. Eight or
 * sixteen are written in any case: what comes next overwrites the rest.
 */
static inline size_t write_plain(char *to, const char *at, size_t bytes)
{
	uint64_t word;
	size_t plain;

	if (bytes >= sizeof(bytes16)) {
		bytes16 wide;

		memcpy(&wide, at, sizeof(wide));
		memcpy(to, &wide, sizeof(wide));
		return count_clear(find_escaped(wide));
	}
	word = load_word(at, bytes);
	plain = count_plain(word);
	etw_store64((uint8_t *)to, word);
	return plain < bytes ? plain : bytes;
}

/* Writes what a JSON string holds of @bytes of UTF-8; returns where it ends. Up to sixteen bytes behind that change. */
static char *write_escaped(char *to, const char *at, size_t bytes)
{
	while (bytes) {
		size_t plain = write_plain(to, at, bytes), used = 0;
		uint32_t point;

		to += plain;
		at += plain;
		bytes -= plain;
		if (bytes == 0 || plain == 8 || plain == sizeof(bytes16))
			continue;
		point = etw_utf8_decode((const uint8_t *)at, bytes, &used);
		if (point != UINT32_MAX && needs_escape(point)) {
			to = write_escape(to, point);
		} else {
			*to++ = *at;
			used = 1;
		}
		at += used;
		bytes -= used;
	}
	return to;
}

void etw_text_json_string(struct etw_text *text, const char *at, size_t bytes)
{
	/* An escape has six bytes, so that there is always room for what is written at once. */
	char *to = begin_each(text, bytes, 6);

	if (!to)
		return;
	*to++ = '"';
	to = write_escaped(to, at, bytes);
	*to++ = '"';
	etw_text_end(text, to);
}

/* How many bytes at the front need no escape. */
static size_t count_unescaped(const char *at, size_t bytes)
{
	size_t count = 0;

	for (; bytes - count >= sizeof(bytes16); count += sizeof(bytes16)) {
		bytes16 wide;
		size_t plain;

		memcpy(&wide, at + count, sizeof(wide));
		plain = count_clear(find_escaped(wide));
		if (plain != sizeof(bytes16))
			return count + plain;
	}
	while (count < bytes && !may_need_escape((uint8_t)at[count]))
		count++;
	return count;
}

void etw_text_json_escape(struct etw_text *text, size_t start)
{
	size_t from, bytes;
	char *to, *end;

	if (text->error || text->bytes == start)
		return;
	from = start + count_unescaped(text->at + start, text->bytes - start);
	bytes = text->bytes - from;
	if (!bytes)
		return;
	/* It is written behind the text, and moved over what it was. */
	to = begin_each(text, bytes, 6);
	if (!to)
		return;
	end = write_escaped(to, text->at + from, bytes);
	memmove(text->at + from, to, (size_t)(end - to));
	etw_text_end(text, text->at + from + (end - to));
}

/* The ASCII without escapes at the front of sixteen units; returns how many units that are. */
static inline size_t write_wide_units(char *to, const uint8_t *at)
{
	bytes16 wide;
	const bytes16 beyond = load_wide(at, &wide);

	memcpy(to, &wide, sizeof(wide));
	return count_clear(beyond | find_not_plain(wide));
}

/* The same of 4 to 8 units. */
static inline size_t write_plain_units(char *to, const uint8_t *at, size_t units)
{
	size_t more = units < 8 ? units - 4 : 4;
	uint64_t low = etw_load64(at);
	uint64_t high = etw_load64(at + 2 * more);
	uint64_t word = pack_units(low) | (uint64_t)pack_units(high) << 8 * more;
	size_t plain;

	if (!is_ascii_units(low)) {
		plain = (size_t)__builtin_ctzll(low & NOT_ASCII_UNITS) / 16;
		word |= UINT64_C(0x8080808080808080) << 8 * plain;
	} else if (!is_ascii_units(high)) {
		plain = more + (size_t)__builtin_ctzll(high & NOT_ASCII_UNITS) / 16;
		word |= UINT64_C(0x8080808080808080) << 8 * plain;
	}
	plain = count_plain(word);
	etw_store64((uint8_t *)to, word);
	return plain < more + 4 ? plain : more + 4;
}

void etw_text_json_utf16(struct etw_text *text, const uint8_t *at, size_t units)
{
	char *to = begin_each(text, units, 6);

	if (!to)
		return;
	*to++ = '"';
	while (units) {
		const size_t most = units >= WIDE_UNITS ? WIDE_UNITS : 8;
		size_t used = 1, plain = 0;

		if (units >= WIDE_UNITS)
			plain = write_wide_units(to, at);
		else if (units >= 4)
			plain = write_plain_units(to, at, units);
		to += plain;
		at += 2 * plain;
		units -= plain;
		if (plain == most || units == 0)
			continue;
		uint32_t point = etw_load16(at);

		if (point >= 0x80)
			point = etw_utf16_decode(at, units, &used);
		if (point == '\\') {
			memcpy(to, "\\\\", 2);
			to += 2;
		} else if (needs_escape(point)) {
			to = write_escape(to, point);
		} else if (point < 0x80) {
			*to++ = (char)point;
		} else {
			to += etw_utf8_encode(point, to);
		}
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
