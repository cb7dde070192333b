/* SPDX-License-Identifier: MIT */
/* Processes as a tree in a table, for people: `etw processes`, and what `etw record` says of its command. */
#ifndef ETW_TOOLS_ETW_PROCESS_TABLE_H
#define ETW_TOOLS_ETW_PROCESS_TABLE_H

#include <stdbool.h>

#include "base/text.h"
#include "process/tree.h"
#include "process/usage.h"

struct process_table {
	const struct etw_processes *processes;
	const struct etw_process_usage *usage;
	const struct etw_process_node *root; /* NULL: all from `first` on */
	bool is_prepared; /* the root was made before the trace, and took its program in it: that is where it began */
	const struct etw_process_node *first;
	int64_t start_ft; /* of the trace: what starts count from */
	bool has_start;   /* a column for it */
	size_t rows;      /* at most; the rest is counted */
	size_t width;     /* of the terminal; 0: nothing is cut */
	const char *bold, *plain;
};

/* process_table_write() - appends the table. */
void process_table_write(struct etw_text *text, const struct process_table *table);

/* process_measure_words() - "context switches", by which CPU time is known; NULL without any. Static. */
const char *process_measure_words(enum etw_process_measure measure);

#endif
