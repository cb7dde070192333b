/* SPDX-License-Identifier: MIT */
#include "tools/common/grid.h"

#include <errno.h>
#include <stdlib.h>

#define INDENT       2
#define GAP          2
#define NARROWEST    16 /* the column that gives way never gets narrower */
#define CUT_MARK     "..."
#define CUT_MARK_LEN 3

void etw_grid_init(struct etw_grid *grid, const struct etw_grid_column *columns,
		   size_t column_count)
{
	*grid = (struct etw_grid){.columns = columns, .column_count = column_count};
}

void etw_grid_done(struct etw_grid *grid)
{
	free(grid->offsets);
	etw_text_done(&grid->text);
	*grid = (struct etw_grid){0};
}

struct etw_text *etw_grid_cell(struct etw_grid *grid)
{
	if (grid->cells == grid->room) {
		size_t room = grid->room ? 2 * grid->room : 64;
		size_t *grown = realloc(grid->offsets, room * sizeof(*grown));

		if (!grown) {
			grid->error = -ENOMEM;
			return &grid->text;
		}
		grid->offsets = grown;
		grid->room = room;
	}
	if (grid->cells)
		etw_text_append(&grid->text, "", 1);
	grid->offsets[grid->cells++] = grid->text.bytes;
	return &grid->text;
}

static const char *cell_at(const struct etw_grid *grid, size_t row, size_t column)
{
	size_t index = row * grid->column_count + column;

	return index < grid->cells && grid->text.at ? grid->text.at + grid->offsets[index] : "";
}

/* Characters of a UTF-8 string: bytes that continue none. */
static size_t count_characters(const char *string)
{
	size_t count = 0;

	for (; *string; string++)
		count += ((unsigned char)*string & 0xC0) != 0x80;
	return count;
}

static void measure(const struct etw_grid *grid, size_t width, size_t *widths)
{
	size_t rows = grid->cells / grid->column_count, sum = INDENT;

	for (size_t column = 0; column < grid->column_count; column++) {
		widths[column] = count_characters(grid->columns[column].title);
		if (widths[column] < grid->columns[column].narrowest)
			widths[column] = grid->columns[column].narrowest;
		for (size_t row = 0; row < rows; row++) {
			size_t characters = count_characters(cell_at(grid, row, column));

			if (characters > widths[column])
				widths[column] = characters;
		}
		sum += widths[column] + (column ? GAP : 0);
	}
	for (size_t column = 0; column < grid->column_count && width && sum > width; column++) {
		size_t excess = sum - width;

		if (!grid->columns[column].gives_way)
			continue;
		if (widths[column] < NARROWEST + excess)
			widths[column] = widths[column] < NARROWEST ? widths[column] : NARROWEST;
		else
			widths[column] -= excess;
		return;
	}
}

static void put_blanks(struct etw_text *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		etw_text_putc(text, ' ');
}

/* The first @characters characters. */
static void put_start(struct etw_text *text, const char *string, size_t characters)
{
	const char *end = string;

	while (*end) {
		if (((unsigned char)*end & 0xC0) != 0x80 && !characters--)
			break;
		end++;
	}
	etw_text_append(text, string, (size_t)(end - string));
}

static void put_cell(struct etw_text *text, const char *cell, size_t width, bool is_right,
		     bool is_last)
{
	size_t characters = count_characters(cell);

	if (characters > width) {
		put_start(text, cell, width - CUT_MARK_LEN);
		etw_text_puts(text, CUT_MARK);
		return;
	}
	if (is_right)
		put_blanks(text, width - characters);
	etw_text_puts(text, cell);
	if (!is_right && !is_last)
		put_blanks(text, width - characters);
}

static void put_row(const struct etw_grid *grid, size_t row, bool is_title, const size_t *widths,
		    struct etw_text *text)
{
	put_blanks(text, INDENT);
	for (size_t column = 0; column < grid->column_count; column++) {
		const char *cell = is_title ? grid->columns[column].title
					    : cell_at(grid, row, column);

		if (column)
			put_blanks(text, GAP);
		put_cell(text, cell, widths[column], grid->columns[column].is_right,
			 column + 1 == grid->column_count);
	}
}

void etw_grid_print(struct etw_grid *grid, size_t width, const char *bold, const char *plain,
		    struct etw_text *text)
{
	size_t widths[ETW_GRID_COLUMNS_MAX];

	if (grid->error || grid->text.error) {
		text->error = -ENOMEM;
		return;
	}
	measure(grid, width, widths);
	if (bold) {
		etw_text_puts(text, bold);
		put_row(grid, 0, /* is_title= */ true, widths, text);
		etw_text_puts(text, plain);
		etw_text_putc(text, '\n');
	}
	for (size_t row = 0; row < grid->cells / grid->column_count; row++) {
		put_row(grid, row, /* is_title= */ false, widths, text);
		etw_text_putc(text, '\n');
	}
}
