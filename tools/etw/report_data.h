/* SPDX-License-Identifier: MIT */
/* What the page of `etw summary` tells, and how it is to look. */
#ifndef ETW_TOOLS_ETW_REPORT_DATA_H
#define ETW_TOOLS_ETW_REPORT_DATA_H

#include "process/usage.h"
#include "tools/common/inputs.h"
#include "tools/etw/notes.h"
#include "tools/etw/tally.h"
#include "tools/etw/trace_machine.h"

/* Everything that the passes found out. */
struct report {
	const struct etw_inputs *inputs;
	struct machine *machines; /* owned; of each trace */
	struct etw_process_usage usage;
	struct tally tally;
	bool is_known_used;        /* whether there was a table of known providers to decode with */
	int64_t first_ft, last_ft; /* of the events; 0 when there is none */
	struct etw_loss loss;
	struct notes notes;
	size_t schema_damage;       /* schemas within the trace that could not be read */
	const char *schema_problem; /* why the first of them */
};

struct report_look {
	size_t width;                    /* of the terminal */
	size_t height;                   /* lines that are seen at first; 0: of no matter */
	size_t top;                      /* rows of each table */
	const char *bold, *warn, *plain; /* escape sequences, or "" */
};

#endif
