/* SPDX-License-Identifier: MIT */
/* Summed-up stacks for people: `etw stacks`, and the end of `etw record`. */
#ifndef ETW_TOOLS_ETW_STACK_TEXT_H
#define ETW_TOOLS_ETW_STACK_TEXT_H

#include "tools/etw/stack_data.h"

struct stack_look {
	size_t width;             /* of the terminal; 0: no limit */
	size_t rows;              /* of each table; SIZE_MAX: all */
	unsigned least_permille;  /* of the whole weight: what is less is not in a tree */
	const char *bold, *plain; /* escape sequences, or "" */
};

/* stack_frame_write() - "module!function", "module!0x12f0", "?!0x7f0012345678"; with file and line where known. */
void stack_frame_write(struct etw_text *text, const struct etw_call_name *name);

/* stack_weight_write() - "1.2 s", or a number where stacks are counted. */
void stack_weight_write(struct etw_text *text, const struct stack_query *query, uint64_t weight);

/* stack_processes_write() - a table of processes. Returns 0 or -ENOMEM, as all these. */
int stack_processes_write(struct etw_text *text, struct stack_profile *profile,
			  const struct stack_look *look);

/* stack_functions_write() - a table of functions, by what they took themselves. */
int stack_functions_write(struct etw_text *text, struct stack_profile *profile,
			  const struct stack_look *look);

/* stack_tree_write() - a tree of calls. @calls: the profile's, or an inverted one; @title: its heading */
void stack_tree_write(struct etw_text *text, const struct stack_query *query,
		      const struct etw_calls *calls, const struct stack_look *look,
		      const char *title);

/*
 * stack_frameless_write() - "12 of 500 stacks lack callers: ...", and what helps: one line, indented; nothing where none does.
 */
void stack_frameless_write(struct etw_text *text, const struct stack_profile *profile);

/* stack_end_write() - how many events had a stack, and which modules have no names. */
void stack_end_write(struct etw_text *text, const struct stack_profile *profile,
		     const struct stack_look *look);

#endif
