/* SPDX-License-Identifier: MIT */
/* Numbers as people write them, and sums that do not wrap. */
#ifndef ETW_BASE_NUMBER_H
#define ETW_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* etw_sum_saturated() - of counts that may be anybody's: as far as 64 bits go. */
static inline uint64_t etw_sum_saturated(uint64_t left, uint64_t right)
{
	uint64_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

/* etw_saturate32() - a count where a field of Windows' has 32 bits. */
static inline uint32_t etw_saturate32(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* etw_hex_digit() - what a hexadecimal digit stands for, in capitals or not; -1: it is none. */
static inline int etw_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* etw_number_parse() - a decimal or 0x number up to @max; returns whether @string is one, whole. */
bool etw_number_parse(const char *string, uint64_t max, uint64_t *ret);

#endif
