/* SPDX-License-Identifier: MIT */
/* Where the CPU time of a command, or of all of a recording, went: for the end of `etw record`. */
#ifndef ETW_TOOLS_ETW_STACK_REPORT_H
#define ETW_TOOLS_ETW_STACK_REPORT_H

#include "tools/etw/stack_data.h"

struct stack_report {
	struct etw_inputs *inputs; /* learnt, with names */
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	/* Of which processes, and what they are called together; NULL: of all of them. */
	bool (*wants_process)(const void *context, const struct etw_process *process);
	const void *wants_context;
	const char *whose;        /* "the command's" */
	size_t width;             /* of the terminal */
	const char *bold, *plain; /* escape sequences, or "" */
};

/*
 * stack_report_write() - appends CPU time by process, and the functions that took most, with who called them; nothing where
 * the traces have no profile samples of these processes.
 *
 * Goes once over the traces. Returns 0 or a negative errno, not told.
 */
int stack_report_write(struct etw_text *text, const struct stack_report *report);

#endif
