/* SPDX-License-Identifier: MIT */
/* UTF-16LE and UTF-8. Inside the project text is UTF-8; UTF-16 lives on the wire and at the A/W edge. */
#ifndef ETW_BASE_UTF_H
#define ETW_BASE_UTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * etw_utf16_decode() - one code point from UTF-16LE.
 *
 * @at:    first unit; @units left, at least 1
 * @used:  units consumed, 1 or 2
 *
 * Returns the code point; a lone surrogate gives U+FFFD and consumes one unit.
 */
uint32_t etw_utf16_decode(const uint8_t *at, size_t units, size_t *used);

/* etw_utf8_encode() - @point as 1 to 4 bytes into @ret; returns how many. */
size_t etw_utf8_encode(uint32_t point, char ret[4]);

/*
 * etw_utf8_decode() - one code point from UTF-8.
 *
 * @bytes: bytes left, at least 1
 * @used:  bytes consumed
 *
 * Returns the code point, or UINT32_MAX with *used = 1 for a malformed, overlong or surrogate form.
 */
uint32_t etw_utf8_decode(const uint8_t *at, size_t bytes, size_t *used);

/* etw_utf8_is_valid() - whether all @bytes are well-formed UTF-8. */
bool etw_utf8_is_valid(const uint8_t *at, size_t bytes);

/*
 * etw_utf8_clean_line() - puts '?' for every byte of a control character, of C1 too, of a format character, such as
 * a mark of direction, and of what is no UTF-8.
 *
 * For a line of text from elsewhere: nothing in it then starts a line, moves a cursor, or hides or turns round what
 * stands beside it.
 */
void etw_utf8_clean_line(char *line, size_t bytes);

/* etw_utf16_length() - units before the first NUL, at most @units. */
size_t etw_utf16_length(const uint8_t *at, size_t units);

/*
 * etw_utf16_to_utf8() - a new UTF-8 string from UTF-16LE.
 *
 * Returns owned memory of malloc(), NUL-terminated, or NULL when memory ran out.
 */
char *etw_utf16_to_utf8(const uint8_t *at, size_t units);

/*
 * etw_utf8_put_utf16() - UTF-8 as UTF-16LE, without a NUL.
 *
 * @to: room for as many units as the function says, any alignment; NULL to have them counted only
 *
 * Malformed bytes become U+FFFD. Returns the units; never more than @bytes.
 */
size_t etw_utf8_put_utf16(const char *text, size_t bytes, uint8_t *to);

/*
 * etw_utf8_to_utf16() - a new UTF-16LE string, NUL-terminated, from UTF-8.
 *
 * @ret_units: units without the NUL; may be NULL
 *
 * Malformed bytes become U+FFFD. Returns owned memory, or NULL when memory ran out.
 */
uint8_t *etw_utf8_to_utf16(const char *text, size_t *ret_units);

/* etw_utf_is_harmful() - whether a character moves a terminal's cursor, begins an escape sequence or turns the writing. */
static inline bool etw_utf_is_harmful(uint32_t point)
{
	return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x200E ||
	       point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
	       (point >= 0x2066 && point <= 0x2069);
}

#endif
