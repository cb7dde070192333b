/* SPDX-License-Identifier: MIT */
/* What the standard streams are connected to, and what follows from it: colours, width, a pager. */
#ifndef ETW_TOOLS_COMMON_TERMINAL_H
#define ETW_TOOLS_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etw_colour_mode {
	ETW_COLOUR_AUTO, /* on a terminal, unless NO_COLOR is set or it is dumb */
	ETW_COLOUR_ALWAYS,
	ETW_COLOUR_NEVER,
};

/* etw_colour_mode_parse() - "auto", "always", "never"; returns whether @word is one of them. */
bool etw_colour_mode_parse(const char *word, enum etw_colour_mode *ret);

/*
 * etw_terminal_moves() - whether there is a terminal behind @fd that knows escape sequences.
 *
 * One that is dumb, or that $TERM says nothing of, gets none: no colours, no line that is written anew.
 */
bool etw_terminal_moves(int fd);

/* etw_colour_wanted() - whether a standard stream gets colours. Ask before the pager starts. */
bool etw_colour_wanted(int fd, enum etw_colour_mode mode);

/* etw_terminal_width() - $COLUMNS, else columns of the terminal behind @fd; 80 when it is none. */
size_t etw_terminal_width(int fd);

/* etw_terminal_height() - $LINES, else lines of the terminal behind @fd; 24 when it is none. */
size_t etw_terminal_height(int fd);

/*
 * etw_pager_start() - puts a pager behind standard output, if that is a terminal.
 *
 * The command is $ETW_PAGER, else $PAGER, else less, else more; "" and "cat" mean none. Without the program, output
 * goes to the terminal as it is. Returns whether a pager runs; then call etw_pager_wait() at the end.
 */
bool etw_pager_start(void);

/* etw_pager_wait() - closes standard output and waits for the user to leave the pager, if one runs. */
void etw_pager_wait(void);

/*
 * Progress on standard error: nothing in the first second, or where it is no terminal or a dumb one. The line
 * is taken away at the end.
 */
struct etw_progress {
	const char *what; /* static: "Reading" */
	uint64_t total;   /* 0: unknown */
	uint64_t done;
	uint64_t start_ms;
	uint64_t shown_ms; /* 0: never */
	bool is_wanted;
};

/* etw_progress_start() / _add() / _end() - @total and @count in whatever unit, buffers say. */
void etw_progress_start(struct etw_progress *progress, const char *what, uint64_t total);
void etw_progress_add(struct etw_progress *progress, uint64_t count);
void etw_progress_end(struct etw_progress *progress);

#endif
