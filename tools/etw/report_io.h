/* SPDX-License-Identifier: MIT */
/* Which processes read and wrote most: a table of the page that `etw summary` prints, and members of a process' JSON object. */
#ifndef ETW_TOOLS_ETW_REPORT_IO_H
#define ETW_TOOLS_ETW_REPORT_IO_H

#include "tools/etw/report_data.h"

/* report_io_write() - the @rows processes with most bytes. Nothing where the trace has no such events. */
void report_io_write(struct etw_text *text, const struct report *report,
		     const struct report_look *look, size_t rows);

/* report_io_json() - bytes of a process, as members of an object: of each area that the trace has events of. */
void report_io_json(struct etw_text *text, const struct etw_process_usage *usage,
		    const struct etw_process_share *share);

#endif
