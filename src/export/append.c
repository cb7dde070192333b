/* SPDX-License-Identifier: MIT */
/* Appending: hexadecimal forms, and text that may be shown on a terminal. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/utf.h"
#include "export/export_internal.h"

static const char hex_digits[] = "0123456789abcdef";

void etw_export_hex(const void *at, size_t bytes, struct etw_text *text)
{
	const uint8_t *from = at;
	char *to = etw_text_begin(text, 2 * bytes);

	if (!to)
		return;
	for (size_t i = 0; i < bytes; i++) {
		*to++ = hex_digits[from[i] >> 4];
		*to++ = hex_digits[from[i] & 15];
	}
	etw_text_end(text, to);
}

void etw_export_hex64(uint64_t value, struct etw_text *text)
{
	unsigned digits = value ? (67u - (unsigned)__builtin_clzll(value)) / 4 : 1;
	char *to = etw_text_begin(text, 18);

	if (!to)
		return;
	*to++ = '0';
	*to++ = 'x';
	for (unsigned i = digits; i > 0; i--, value >>= 4)
		to[i - 1] = hex_digits[value & 15];
	etw_text_end(text, to + digits);
}

void etw_export_guid(const GUID *guid, struct etw_text *text)
{
	char *to = etw_text_begin(text, ETW_GUID_BARE_BYTES);

	if (!to)
		return;
	etw_guid_format(guid, to);
	etw_text_end(text, to + ETW_GUID_BARE_BYTES - 1);
}

size_t etw_export_trimmed(const char *name)
{
	size_t bytes = strlen(name);

	while (bytes && name[bytes - 1] == ' ')
		bytes--;
	return bytes;
}

#define ONES UINT64_C(0x0101010101010101)
#define TOPS (ONES * 0x80)

/* The top bit of each of eight bytes that is an ASCII control character. */
static inline uint64_t ascii_controls(uint64_t word)
{
	const uint64_t low = word & ~TOPS;

	return (~(low + ONES * 0x60) | (low + ONES)) & ~word & TOPS;
}

/* Whether one of eight bytes may be or begin a harmful character; E2 begins those beyond C1. */
static inline bool has_harmful(uint64_t word)
{
	/* C2 and E2 become zero. */
	const uint64_t lead = (word | ONES * 0x20) ^ ONES * 0xE2;

	return (ascii_controls(word) | ((lead - ONES) & ~lead & TOPS)) != 0;
}

static bool looks_harmful(const uint8_t *at, size_t bytes)
{
	uint8_t rest[8];

	for (; bytes >= 8; bytes -= 8, at += 8) {
		if (UNLIKELY(has_harmful(etw_load64(at))))
			return true;
	}
	if (!bytes)
		return false;
	memset(rest, ' ', sizeof(rest));
	memcpy(rest, at, bytes);
	return has_harmful(etw_load64(rest));
}

/* Copies what is printable ASCII from @at on, and up to seven bytes of anything behind it. Returns how much it is. */
static size_t copy_printable(const uint8_t *at, size_t bytes, char *to)
{
	size_t count = 0;

	for (; bytes - count >= 8; count += 8) {
		const uint64_t word = etw_load64(at + count);
		const uint64_t other = ascii_controls(word) | (word & TOPS);

		memcpy(to + count, &word, sizeof(word));
		if (other)
			return count + (unsigned)__builtin_ctzll(other) / 8;
	}
	for (; count < bytes && at[count] >= 0x20 && at[count] < 0x7F; count++)
		to[count] = (char)at[count];
	return count;
}

/* Returns where it ends: 6 bytes on at most, or 4 for a byte. */
static char *write_escape(uint32_t point, char *to)
{
	*to++ = '\\';
	if (point == '\n' || point == '\r' || point == '\t') {
		*to++ = point == '\n' ? 'n' : point == '\r' ? 'r' : 't';
		return to;
	}
	*to++ = point < 0x100 ? 'x' : 'u';
	for (unsigned shift = point < 0x100 ? 8 : 16; shift; shift -= 4)
		*to++ = hex_digits[point >> (shift - 4) & 15];
	return to;
}

/* A harmless character as it is, else an escape; @ret_found is set for one. Returns where it ends. */
static char *write_character(const uint8_t *at, size_t bytes, char *to, size_t *ret_used,
			     int *ret_found)
{
	const uint32_t point = etw_utf8_decode(at, bytes, ret_used);

	if (point != UINT32_MAX && !etw_utf_is_harmful(point)) {
		memcpy(to, at, *ret_used);
		return to + *ret_used;
	}
	*ret_found = 1;
	return write_escape(point == UINT32_MAX ? *at : point, to);
}

/* Four bytes of an escape for one, and what is copied too much. Messages have a line end for each of their fields. */
static int write_clean(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	char *to = etw_text_begin(text, 4 * bytes + 8);
	int found = 0;

	if (!to)
		return 0;
	while (bytes) {
		size_t used = copy_printable(at, bytes, to);

		to += used;
		at += used;
		bytes -= used;
		if (!bytes)
			break;
		to = write_character(at, bytes, to, &used, &found);
		at += used;
		bytes -= used;
	}
	etw_text_end(text, to);
	return found;
}

int etw_export_clean(struct etw_text *text, size_t from)
{
	size_t left = text->bytes - from;
	uint8_t few[1024], *copy;
	int found;

	if (text->error || from >= text->bytes ||
	    LIKELY(!looks_harmful((uint8_t *)text->at + from, left)))
		return 0;
	copy = left <= sizeof(few) ? few : malloc(left);
	if (!copy) {
		text->error = -ENOMEM;
		return 0;
	}
	memcpy(copy, text->at + from, left);
	text->bytes = from;
	found = write_clean(copy, left, text);
	if (copy != few)
		free(copy);
	return found;
}
