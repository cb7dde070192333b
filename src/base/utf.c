/* SPDX-License-Identifier: MIT */
#include "base/utf.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"

#define REPLACEMENT 0xFFFDu

#define UTF8_BYTES_A_UNIT 3 /* at most: what takes 4 bytes takes 2 units */

static bool is_high_surrogate(uint32_t unit)
{
	return (unit & 0xFC00u) == 0xD800u;
}

static bool is_low_surrogate(uint32_t unit)
{
	return (unit & 0xFC00u) == 0xDC00u;
}

uint32_t etw_utf16_decode(const uint8_t *at, size_t units, size_t *used)
{
	uint32_t unit = etw_load16(at);

	*used = 1;
	if (!is_high_surrogate(unit))
		return is_low_surrogate(unit) ? REPLACEMENT : unit;
	if (units < 2)
		return REPLACEMENT;
	uint32_t low = etw_load16(at + 2);

	if (!is_low_surrogate(low))
		return REPLACEMENT;
	*used = 2;
	return 0x10000u + ((unit & 0x3FFu) << 10 | (low & 0x3FFu));
}

size_t etw_utf8_encode(uint32_t point, char ret[4])
{
	if (point < 0x80) {
		ret[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		ret[0] = (char)(0xC0 | point >> 6);
		ret[1] = (char)(0x80 | (point & 0x3F));
		return 2;
	}
	if (point < 0x10000) {
		ret[0] = (char)(0xE0 | point >> 12);
		ret[1] = (char)(0x80 | (point >> 6 & 0x3F));
		ret[2] = (char)(0x80 | (point & 0x3F));
		return 3;
	}
	ret[0] = (char)(0xF0 | point >> 18);
	ret[1] = (char)(0x80 | (point >> 12 & 0x3F));
	ret[2] = (char)(0x80 | (point >> 6 & 0x3F));
	ret[3] = (char)(0x80 | (point & 0x3F));
	return 4;
}

uint32_t etw_utf8_decode(const uint8_t *at, size_t bytes, size_t *used)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t first = at[0];
	size_t length;

	*used = 1;
	if (first < 0x80)
		return first;
	if (first >= 0xC2 && first < 0xE0)
		length = 2;
	else if (first >= 0xE0 && first < 0xF0)
		length = 3;
	else if (first >= 0xF0 && first < 0xF5)
		length = 4;
	else
		return UINT32_MAX;
	if (bytes < length)
		return UINT32_MAX;

	uint32_t point = first & (0x7Fu >> length);

	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xC0) != 0x80)
			return UINT32_MAX;
		point = point << 6 | (at[i] & 0x3Fu);
	}
	if (point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
		return UINT32_MAX;
	*used = length;
	return point;
}

/*
 * Characters without a picture that turn, hide or break the text beside them: Unicode's categories Cf, Zl and
 * Zp, and code points that are reserved for such ones.
 */
static bool is_format(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},
		{0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},
		{0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},
		{0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},
		{0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	}
	return false;
}

void etw_utf8_clean_line(char *line, size_t bytes)
{
	for (size_t i = 0, used; i < bytes; i += used) {
		uint32_t point = etw_utf8_decode((const uint8_t *)line + i, bytes - i, &used);

		if (point < 0x20 || (point >= 0x7F && point < 0xA0) || point == UINT32_MAX ||
		    is_format(point))
			memset(line + i, '?', used);
	}
}

static bool is_ascii(uint64_t word)
{
	return !(word & UINT64_C(0x8080808080808080));
}

bool etw_utf8_is_valid(const uint8_t *at, size_t bytes)
{
	const uint8_t *const start = at;

	while (bytes) {
		size_t used;

		if (bytes >= 8 && is_ascii(etw_load64(at))) {
			at += 8;
			bytes -= 8;
			continue;
		}
		/* The last eight bytes, some of which were seen. */
		if (bytes < 8 && at - start >= 8 && is_ascii(etw_load64(at + bytes - 8)))
			return true;
		if (etw_utf8_decode(at, bytes, &used) == UINT32_MAX)
			return false;
		at += used;
		bytes -= used;
	}
	return true;
}

size_t etw_utf16_length(const uint8_t *at, size_t units)
{
	size_t i = 0;

	/* Four units at once; the borrow may only cry wolf above a unit that is zero. */
	for (; units - i >= 4; i += 4) {
		uint64_t word = etw_load64(at + 2 * i);

		if ((word - UINT64_C(0x0001000100010001)) & ~word & UINT64_C(0x8000800080008000))
			break;
	}
	for (; i < units; i++) {
		if (etw_load16(at + 2 * i) == 0)
			break;
	}
	return i;
}

char *etw_utf16_to_utf8(const uint8_t *at, size_t units)
{
	char *text = units < SIZE_MAX / UTF8_BYTES_A_UNIT ? malloc(UTF8_BYTES_A_UNIT * units + 1)
							  : NULL;
	char *exact;
	size_t bytes = 0;

	if (!text)
		return NULL;
	for (size_t used; units; units -= used, at += 2 * used) {
		uint32_t point = etw_utf16_decode(at, units, &used);

		bytes += etw_utf8_encode(point, text + bytes);
	}
	text[bytes] = '\0';
	exact = realloc(text, bytes + 1);
	return exact ? exact : text;
}

static size_t put_units(uint32_t point, uint8_t *to)
{
	if (point < 0x10000) {
		if (to)
			etw_store16(to, (uint16_t)point);
		return 1;
	}
	point -= 0x10000;
	if (to) {
		etw_store16(to, (uint16_t)(0xD800 | point >> 10));
		etw_store16(to + 2, (uint16_t)(0xDC00 | (point & 0x3FF)));
	}
	return 2;
}

size_t etw_utf8_put_utf16(const char *text, size_t bytes, uint8_t *to)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t units = 0;

	while (bytes) {
		size_t used;
		uint32_t point = etw_utf8_decode(at, bytes, &used);

		at += used;
		bytes -= used;
		if (point == UINT32_MAX)
			point = REPLACEMENT;
		units += put_units(point, to ? to + 2 * units : NULL);
	}
	return units;
}

uint8_t *etw_utf8_to_utf16(const char *text, size_t *ret_units)
{
	size_t bytes = strlen(text);
	uint8_t *result = malloc(2 * (bytes + 1));
	size_t units;

	if (!result)
		return NULL;
	units = etw_utf8_put_utf16(text, bytes, result);
	etw_store16(result + 2 * units, 0);
	if (ret_units)
		*ret_units = units;
	return result;
}
