/* SPDX-License-Identifier: MIT */
/* perf maps. See perf_map.h. */
#include "symbol/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"

#define DIGITS_MAX 16

/* A hexadecimal number, with "0x" or without, and the blank behind it. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *digit = *at;
	uint64_t value = 0;
	int digits = 0;

	if (end - digit > 2 && digit[0] == '0' && (digit[1] | 0x20) == 'x')
		digit += 2;
	for (; digit < end && etw_hex_digit(*digit) >= 0; digit++, digits++)
		value = value << 4 | (uint64_t)etw_hex_digit(*digit);
	if (!digits || digits > DIGITS_MAX || digit == end || *digit != ' ')
		return false;
	*at = digit + 1;
	*ret = value;
	return true;
}

static int add_line(const char *at, const char *end, uint32_t rank, struct etw_symbol_table *table)
{
	struct etw_symbol_entry entry = {.rank = rank};

	if (end > at && end[-1] == '\r')
		end--;
	if (!take_number(&at, end, &entry.start) || !take_number(&at, end, &entry.bytes))
		return 0;
	entry.name = at;
	return at < end ? etw_symbol_table_add(table, &entry, (size_t)(end - at)) : 0;
}

int etw_symbol_perf_map_parse(const char *at, size_t bytes, struct etw_symbol_table *table)
{
	const char *end = at + bytes, *line_end;
	uint32_t rank = UINT32_MAX;

	for (; at < end && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1) {
		if (table->count >= ETW_SYMBOL_PERF_MAP_SYMBOLS_MAX)
			return -E2BIG;
		TRY(add_line(at, line_end, rank, table));
		if (rank)
			rank--;
	}
	return 0;
}
