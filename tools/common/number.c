/* SPDX-License-Identifier: MIT */
#include "tools/common/number.h"

#include "base/time.h"

void etw_number_grouped(struct etw_text *text, uint64_t value)
{
	char digits[32];
	char *at = digits + sizeof(digits);
	unsigned count = 0;

	do {
		if (count && count % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + value % 10);
		count++;
	} while (value /= 10);
	etw_text_append(text, at, (size_t)(digits + sizeof(digits) - at));
}

/* @value tenths as "12.3", or "123" from a hundred on. */
static void put_tenths(struct etw_text *text, uint64_t tenths)
{
	etw_number_grouped(text, (tenths < 1000 ? tenths : tenths + 5) / 10);
	if (tenths < 1000) {
		etw_text_putc(text, '.');
		etw_text_unsigned(text, tenths % 10);
	}
}

void etw_number_bytes(struct etw_text *text, uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	uint64_t unit = 1000;
	size_t i = 0;

	if (bytes < 1000) {
		etw_number_count(text, bytes, "byte");
		return;
	}
	while (bytes / unit >= 1000 && i + 1 < ARRAY_SIZE(units)) {
		unit *= 1000;
		i++;
	}
	put_tenths(text, bytes / (unit / 10));
	etw_text_putc(text, ' ');
	etw_text_puts(text, units[i]);
}

static void put_two(struct etw_text *text, uint64_t big, const char *big_unit, uint64_t small,
		    const char *small_unit)
{
	etw_number_grouped(text, big);
	etw_text_printf(text, " %s", big_unit);
	if (small) {
		etw_text_putc(text, ' ');
		etw_text_unsigned(text, small);
		etw_text_printf(text, " %s", small_unit);
	}
}

void etw_number_duration(struct etw_text *text, int64_t duration_ft)
{
	uint64_t ticks = (uint64_t)duration_ft;
	uint64_t seconds;

	if (duration_ft < 0) {
		etw_text_putc(text, '-');
		ticks = -ticks;
	}
	seconds = ticks / (uint64_t)ETW_FILETIME_PER_SECOND;
	if (!ticks) {
		etw_text_puts(text, "0 s");
	} else if (ticks < 10000) {
		put_tenths(text, ticks);
		etw_text_puts(text, " us");
	} else if (!seconds) {
		put_tenths(text, ticks / 1000);
		etw_text_puts(text, " ms");
	} else if (seconds < 60) {
		put_tenths(text, ticks / 1000000);
		etw_text_puts(text, " s");
	} else if (seconds < 3600) {
		put_two(text, seconds / 60, "min", seconds % 60, "s");
	} else if (seconds < 86400) {
		put_two(text, seconds / 3600, "h", seconds / 60 % 60, "min");
	} else {
		put_two(text, seconds / 86400, "d", seconds / 3600 % 24, "h");
	}
}

void etw_number_share(struct etw_text *text, uint64_t part, uint64_t whole)
{
	uint64_t tenths;

	if (!part || part >= whole) {
		etw_text_puts(text, part ? "100%" : "0%");
		return;
	}
	tenths = (uint64_t)((unsigned __int128)part * 1000 / whole);
	if (!tenths) {
		etw_text_puts(text, "<0.1%");
		return;
	}
	etw_text_unsigned(text, tenths / 10);
	etw_text_putc(text, '.');
	etw_text_unsigned(text, tenths % 10);
	etw_text_putc(text, '%');
}

void etw_number_count(struct etw_text *text, uint64_t value, const char *noun)
{
	etw_number_grouped(text, value);
	etw_text_putc(text, ' ');
	etw_text_puts(text, noun);
	if (value != 1)
		etw_text_putc(text, 's');
}
