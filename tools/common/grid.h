/* SPDX-License-Identifier: MIT */
/*
 * Tables for terminals: columns as wide as their contents, one column that gives way when the line
 * gets too long. Widths count characters, not bytes.
 */
#ifndef ETW_TOOLS_COMMON_GRID_H
#define ETW_TOOLS_COMMON_GRID_H

#include <stdbool.h>

#include "base/text.h"

#define ETW_GRID_COLUMNS_MAX 10

struct etw_grid_column {
	const char *title; /* static */
	bool is_right;     /* aligned to the right, for numbers */
	bool gives_way;    /* is cut when there is no room; at most one column */
	size_t narrowest;  /* characters, so that several tables look like one */
};

struct etw_grid {
	const struct etw_grid_column *columns; /* borrowed */
	size_t column_count;
	size_t *offsets; /* owned; where each cell begins in `text` */
	size_t cells;
	size_t room;
	struct etw_text text; /* all cells, each ended by a NUL */
	int error;            /* 0 or -ENOMEM */
};

/* etw_grid_init() - an empty table. @columns: borrowed as long as the table lives */
void etw_grid_init(struct etw_grid *grid, const struct etw_grid_column *columns,
		   size_t column_count);
void etw_grid_done(struct etw_grid *grid);

/* etw_grid_cell() - begins the next cell: what is appended to the returned text is in it. */
struct etw_text *etw_grid_cell(struct etw_grid *grid);

/*
 * etw_grid_print() - appends the table with its titles.
 *
 * @width: characters that fit into a line; 0 for no limit
 * @bold, @plain: what to put around the titles, "" for nothing; NULL for a table without titles
 */
void etw_grid_print(struct etw_grid *grid, size_t width, const char *bold, const char *plain,
		    struct etw_text *text);

#endif
