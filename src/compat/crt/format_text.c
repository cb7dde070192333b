/* SPDX-License-Identifier: MIT */
#include "compat/crt/format_text.h"

#include <string.h>

#include "base/macros.h"
#include "base/utf.h"

#define REPLACEMENT 0xFFFDu

static size_t narrow_length(const char *text, size_t most)
{
	const char *end = memchr(text, 0, most);

	return end ? (size_t)(end - text) : most;
}

static size_t wide_length(const uint16_t *text, size_t most)
{
	size_t length = 0;

	while (length < most && text[length])
		length++;
	return length;
}

/* Wide text to a narrow sink, or NULL to have bytes counted; no more than @most, and no part of a character. */
static size_t wide_to_narrow(struct etw_format_sink *sink, const uint16_t *text, size_t units,
			     size_t most)
{
	size_t total = 0, used;
	char bytes[4];

	for (size_t i = 0; i < units && text[i]; i += used) {
		bool is_pair = i + 1 < units && text[i + 1];
		uint32_t point = etw_utf16_decode((const uint8_t *)&text[i], is_pair ? 2 : 1,
						  &used);
		size_t count = etw_utf8_encode(point, bytes);

		if (count > most - total)
			break;
		total += count;
		if (sink)
			etw_sink_put(sink, bytes, count);
	}
	return total;
}

/* How many bytes the character has that begins here; the bytes of a text that ends with NUL are not read past it. */
static uint32_t narrow_character(const char *text, size_t left, size_t *used)
{
	size_t count = narrow_length(text, left < 4 ? left : 4);
	uint32_t point = etw_utf8_decode((const uint8_t *)text, count, used);

	return point == UINT32_MAX ? REPLACEMENT : point;
}

static size_t narrow_to_wide(struct etw_format_sink *sink, const char *text, size_t bytes,
			     size_t most)
{
	size_t total = 0, used;

	for (size_t i = 0; i < bytes && text[i]; i += used) {
		uint32_t point = narrow_character(text + i, bytes - i, &used);
		uint16_t units[2] = {(uint16_t)point, 0};
		size_t count = 1;

		if (point > 0xFFFF) {
			units[0] = (uint16_t)(0xD7C0 + (point >> 10));
			units[1] = (uint16_t)(0xDC00 | (point & 0x3FF));
			count = 2;
		}
		if (count > most - total)
			break;
		total += count;
		if (sink)
			etw_sink_put(sink, units, count);
	}
	return total;
}

static size_t put_converted(struct etw_format_sink *sink, const void *text, size_t units,
			    bool text_is_wide, size_t most)
{
	return text_is_wide ? wide_to_narrow(sink, text, units, most)
			    : narrow_to_wide(sink, text, units, most);
}

void etw_put_text(struct etw_format_sink *sink, const struct etw_spec *spec, const void *text,
		  size_t units, bool text_is_wide)
{
	size_t most = spec->precision < 0 ? SIZE_MAX : (size_t)spec->precision;
	bool same = text_is_wide == sink->is_wide;
	bool is_counted = units != SIZE_MAX;
	size_t length, padding;

	if (same) {
		size_t limit = units < most ? units : most;

		if (is_counted) /* a NUL is a character like others */
			length = limit;
		else
			length = text_is_wide ? wide_length(text, limit)
					      : narrow_length(text, limit);
	} else if (is_counted && units == 1 && text_is_wide && !*(const uint16_t *)text) {
		same = true; /* %lc of NUL: one byte of it */
		length = 1;
	} else {
		length = put_converted(NULL, text, units, text_is_wide, most);
	}
	padding = (size_t)spec->width > length ? (size_t)spec->width - length : 0;
	if (!spec->left)
		etw_sink_repeat(sink, spec->zeros ? '0' : ' ', padding);
	if (same)
		etw_sink_put(sink, text, length);
	else
		(void)put_converted(sink, text, units, text_is_wide, length);
	if (spec->left)
		etw_sink_repeat(sink, ' ', padding);
}
