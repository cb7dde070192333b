/* SPDX-License-Identifier: MIT */
/* `etw processes --json`: one object per process and line. The keys are described in docs/format/json.md. */
#ifndef ETW_TOOLS_ETW_PROCESS_JSON_H
#define ETW_TOOLS_ETW_PROCESS_JSON_H

#include "base/text.h"
#include "process/tree.h"
#include "process/usage.h"

/* process_json_write() - appends the object of one node. @machine: from 1; 0: there is only one */
void process_json_write(struct etw_text *text, const struct etw_processes *processes,
			const struct etw_process_usage *usage, const struct etw_process_node *node,
			size_t machine);

/* process_measure_name() - "events", "ticks", "samples", "switches". */
const char *process_measure_name(enum etw_process_measure measure);

#endif
