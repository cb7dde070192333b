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

/* Characters that move the cursor, start escape sequences or turn the direction of writing. */
static bool is_harmful(uint32_t point)
{
	return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x200E ||
	       point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
	       (point >= 0x2066 && point <= 0x2069);
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

/* How many bytes from @at on are printable ASCII. */
static size_t printable_bytes(const uint8_t *at, size_t bytes)
{
	size_t count = 0;

	for (; bytes - count >= 8; count += 8) {
		const uint64_t word = etw_load64(at + count);
		const uint64_t other = ascii_controls(word) | (word & TOPS);

		if (other)
			return count + (unsigned)__builtin_ctzll(other) / 8;
	}
	while (count < bytes && at[count] >= 0x20 && at[count] < 0x7F)
		count++;
	return count;
}

/* How many bytes from @at on may be shown as they are; what follows them begins with *@point. */
static size_t harmless_bytes(const uint8_t *at, size_t bytes, uint32_t *point, size_t *used)
{
	size_t count = printable_bytes(at, bytes);

	while (count < bytes) {
		*point = etw_utf8_decode(at + count, bytes - count, used);
		if (*point == UINT32_MAX || is_harmful(*point))
			break;
		count += *used;
		count += printable_bytes(at + count, bytes - count);
	}
	return count;
}

static void append_escape(uint32_t point, struct etw_text *text)
{
	if (point == '\n' || point == '\r' || point == '\t') {
		etw_text_append(text, point == '\n' ? "\\n" : point == '\r' ? "\\r" : "\\t", 2);
	} else if (point < 0x100) {
		uint8_t byte = (uint8_t)point;

		etw_text_append(text, "\\x", 2);
		etw_export_hex(&byte, 1, text);
	} else {
		const uint8_t bytes[2] = {(uint8_t)(point >> 8), (uint8_t)point};

		etw_text_append(text, "\\u", 2);
		etw_export_hex(bytes, 2, text);
	}
}

/* The text is written again run by run: messages have a line end for each of their fields. */
static int write_clean(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	int found = 0;

	while (bytes) {
		uint32_t point = 0;
		size_t used = 0;
		const size_t run = harmless_bytes(at, bytes, &point, &used);

		if (run)
			etw_text_append(text, (const char *)at, run);
		if (run == bytes)
			break;
		append_escape(point == UINT32_MAX ? at[run] : point, text);
		found = 1;
		at += run + used;
		bytes -= run + used;
	}
	return found;
}

int etw_export_clean(struct etw_text *text, size_t from)
{
	size_t left = text->bytes - from;
	uint8_t *copy;
	int found;

	if (text->error || from >= text->bytes ||
	    LIKELY(!looks_harmful((uint8_t *)text->at + from, left)))
		return 0;
	copy = malloc(left);
	if (!copy) {
		text->error = -ENOMEM;
		return 0;
	}
	memcpy(copy, text->at + from, left);
	text->bytes = from;
	found = write_clean(copy, left, text);
	free(copy);
	return found;
}
