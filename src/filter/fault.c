/* SPDX-License-Identifier: MIT */
/* Showing where an expression is wrong. */
#include <string.h>

#include "base/utf.h"
#include "filter/parse.h"

#define COLUMNS_MAX   100 /* of a line that is shown; the rest is "..." */
#define COLUMNS_AHEAD 60  /* shown before the place in a longer line */

/* The line that holds the place, from @*start to @*end. */
static void find_line(const char *text, size_t bytes, size_t at, size_t *start, size_t *end)
{
	*start = at < bytes ? at : bytes;
	while (*start && text[*start - 1] != '\n')
		--*start;
	*end = *start;
	while (*end < bytes && text[*end] != '\n')
		++*end;
}

/* Marks of the direction of writing: a terminal would move what comes behind them. */
static bool reverses_writing(uint32_t point)
{
	return point == 0x61C || point == 0x200E || point == 0x200F ||
	       (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

/* One character of an expression in one column; returns the bytes that it has. */
static size_t put_character(const char *text, size_t bytes, struct etw_text *to)
{
	size_t used;
	const uint32_t point = etw_utf8_decode((const uint8_t *)text, bytes, &used);

	if (point == '\t')
		etw_text_putc(to, ' ');
	else if (point < 0x20 || point == UINT32_MAX || (point >= 0x7F && point < 0xA0) ||
		 reverses_writing(point))
		etw_text_putc(to, '?');
	else
		etw_text_append(to, text, used);
	return used;
}

/* Columns from one byte to another. */
static size_t count_columns(const char *text, size_t from, size_t to)
{
	size_t columns = 0;

	for (size_t i = from; i < to; i++)
		columns += ((uint8_t)text[i] & 0xC0) != 0x80;
	return columns;
}

/* Where a line that is too long begins to be shown. */
static size_t skip_columns(const char *text, size_t start, size_t place)
{
	size_t columns = count_columns(text, start, place);

	while (columns > COLUMNS_AHEAD) {
		start++;
		while (start < place && ((uint8_t)text[start] & 0xC0) == 0x80)
			start++;
		columns--;
	}
	return start;
}

void etw_filter_fault_write(const struct etw_filter_fault *fault, const char *text, size_t bytes,
			    struct etw_text *to)
{
	const size_t place = fault->at < bytes ? fault->at : bytes;
	size_t start, end, first, columns = 0, marks;
	size_t last = place + (fault->bytes < bytes - place ? fault->bytes : bytes - place);

	find_line(text, bytes, place, &start, &end);
	first = skip_columns(text, start, place);
	last = last < end ? last : end;
	etw_text_puts(to, fault->sentence);
	etw_text_puts(to, first > start ? "\n  ..." : "\n  ");
	for (size_t i = first; i < end; columns++) {
		if (columns == COLUMNS_MAX) {
			etw_text_puts(to, "...");
			break;
		}
		i += put_character(text + i, end - i, to);
	}
	etw_text_puts(to, first > start ? "\n     " : "\n  ");
	columns = count_columns(text, first, place);
	for (size_t i = 0; i < columns; i++)
		etw_text_putc(to, ' ');
	marks = count_columns(text, place, last);
	marks = marks < COLUMNS_MAX - columns ? marks : COLUMNS_MAX - columns;
	for (size_t i = 0; i < (marks ? marks : 1); i++)
		etw_text_putc(to, '^');
}
