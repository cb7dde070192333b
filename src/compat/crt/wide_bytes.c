/* SPDX-License-Identifier: MIT */
/* Between multi-byte text, which is UTF-8 whatever the locale is, and wide text. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf.h"

static int refuse(void)
{
	errno = EILSEQ;
	return -1;
}

/* The low half of a pair waits in a state, of which the C library shows the size only. */
static uint16_t *waiting(mbstate_t *state)
{
	static _Thread_local mbstate_t own;

	return (uint16_t *)(state ? state : &own);
}

size_t mbrtowc(wchar_t *to, const char *from, size_t bytes, mbstate_t *state)
{
	uint16_t *low = waiting(state);
	size_t length, used;
	uint32_t point;
	wchar_t none;

	if (!from)
		return 0;
	if (!to)
		to = &none;
	if (*low) {
		*to = *low;
		*low = 0;
		return (size_t)-3; /* as mbrtoc16 says: of what was read before */
	}
	if (!bytes)
		return (size_t)-2;
	length = strnlen(from, bytes < 4 ? bytes : 4);
	point = etw_utf8_decode((const uint8_t *)from, length ? length : 1, &used);
	if (point == UINT32_MAX)
		return (size_t)refuse();
	if (point > 0xFFFF) {
		*to = (wchar_t)(0xD7C0 + (point >> 10));
		*low = (uint16_t)(0xDC00 | (point & 0x3FF));
		return used;
	}
	*to = (wchar_t)point;
	return point ? used : 0;
}

int mbtowc(wchar_t *to, const char *from, size_t bytes)
{
	mbstate_t state = {0};
	size_t used;

	if (!from)
		return 0;
	used = mbrtowc(to, from, bytes, &state);
	return used > bytes ? -1 : (int)used;
}

size_t wcrtomb(char *to, wchar_t unit, mbstate_t *state)
{
	uint16_t *high = waiting(state);
	uint32_t point = (uint16_t)unit;

	if (!to)
		return 1;
	if (*high) {
		if ((point & 0xFC00) != 0xDC00)
			return (size_t)refuse();
		point = 0x10000 + ((uint32_t)(*high & 0x3FF) << 10 | (point & 0x3FF));
		*high = 0;
	} else if ((point & 0xFC00) == 0xD800) {
		*high = (uint16_t)point;
		return 0;
	} else if ((point & 0xFC00) == 0xDC00) {
		return (size_t)refuse();
	}
	return etw_utf8_encode(point, to);
}

int wctomb(char *to, wchar_t unit)
{
	mbstate_t state = {0};
	size_t count;

	if (!to)
		return 0;
	count = wcrtomb(to, unit, &state);
	return count && count <= 4 ? (int)count : refuse();
}

wint_t btowc(int byte)
{
	return byte >= 0 && byte < 0x80 ? (wint_t)byte : WEOF;
}

int wctob(wint_t unit)
{
	return unit < 0x80 ? (int)unit : EOF;
}

size_t mbsrtowcs(wchar_t *to, const char **from, size_t count, mbstate_t *state)
{
	const char *at = *from;
	size_t total = 0;

	(void)state;
	for (size_t used; !to || total < count; at += used) {
		mbstate_t own = {0};
		wchar_t units[2] = {0};
		size_t needed = 1;

		used = mbrtowc(&units[0], at, 4, &own);
		if (used == (size_t)-1)
			return used;
		if (*waiting(&own)) {
			units[1] = *waiting(&own);
			needed = 2;
		}
		if (to && needed > count - total)
			break;
		if (to)
			memcpy(to + total, units, needed * sizeof(*to));
		if (!units[0]) {
			if (to)
				*from = NULL;
			return total;
		}
		total += needed;
	}
	*from = at;
	return total;
}

size_t wcsrtombs(char *to, const wchar_t **from, size_t count, mbstate_t *state)
{
	const wchar_t *at = *from;
	size_t total = 0;

	(void)state;
	for (size_t used; !to || total < count; at += used) {
		size_t left = at[0] && at[1] ? 2 : 1, bytes;
		uint32_t point = etw_utf16_decode((const uint8_t *)at, left, &used);
		char text[4];

		if (used == 1 && (at[0] & 0xF800) == 0xD800)
			return (size_t)refuse();
		bytes = etw_utf8_encode(point, text);
		if (to && bytes > count - total)
			break;
		if (to)
			memcpy(to + total, text, bytes);
		if (!point) {
			if (to)
				*from = NULL;
			return total;
		}
		total += bytes;
	}
	*from = at;
	return total;
}

size_t mbstowcs(wchar_t *to, const char *from, size_t count)
{
	return mbsrtowcs(to, &from, count, NULL);
}

size_t wcstombs(char *to, const wchar_t *from, size_t count)
{
	return wcsrtombs(to, &from, count, NULL);
}
