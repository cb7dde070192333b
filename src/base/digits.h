/* SPDX-License-Identifier: MIT */
/*
 * Numbers as digits, for hot output paths: without loops over single digits, and without calls where numbers
 * are small. Writers may write behind the end that they return, within the room that they ask for.
 */
#ifndef ETW_BASE_DIGITS_H
#define ETW_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"

#define ETW_DIGITS_BYTES_MAX 20 /* room that every writer is content with */

/* "00" to "99". */
extern const char etw_digit_pairs[201];

/* etw_digits_four() - four digits, zeros in front, the first in the lowest byte. @value: below 10^4 */
static inline uint32_t etw_digits_four(uint32_t value)
{
	const uint32_t high = value * 5243 >> 19; /* value / 100 */

	return etw_load16((const uint8_t *)&etw_digit_pairs[2 * (size_t)high]) |
	       (uint32_t)etw_load16(
		       (const uint8_t *)&etw_digit_pairs[2 * (value - 100 * (size_t)high)])
		       << 16;
}

/* etw_write_below_10000() - without zeros in front; returns the end. Writes 4 bytes. */
static inline char *etw_write_below_10000(char *to, uint32_t value)
{
	const uint32_t digits = etw_digits_four(value);
	/* Bits of zeros in front, of which the last digit is none. */
	const unsigned skip = (unsigned)__builtin_ctz((digits ^ UINT32_C(0x30303030)) | 1u << 24) &
			      24;

	etw_store32((uint8_t *)to, digits >> skip);
	return to + (4 - skip / 8);
}

/* etw_write_large() - etw_write_unsigned() for any number. */
char *etw_write_large(char *to, uint64_t value);

/* etw_write_unsigned() - in decimal; returns the end. */
static inline char *etw_write_unsigned(char *to, uint64_t value)
{
	return LIKELY(value < 10000) ? etw_write_below_10000(to, (uint32_t)value)
				     : etw_write_large(to, value);
}

/* etw_write_hex() - in hexadecimal with capital letters and without prefix; returns the end. */
char *etw_write_hex(char *to, uint64_t value);

/* etw_write_seven() - seven digits, zeros in front: the fraction of a FILETIME. @value: below 10^7 */
char *etw_write_seven(char *to, uint32_t value);

#endif
