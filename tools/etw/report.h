/* SPDX-License-Identifier: MIT */
/* The page that `etw summary` prints. */
#ifndef ETW_TOOLS_ETW_REPORT_H
#define ETW_TOOLS_ETW_REPORT_H

#include "tools/etw/report_data.h"

/* report_write() - processes and tally must be sorted. */
void report_write(struct etw_text *text, const struct report *report,
		  const struct report_look *look);

/* report_write_json() - the same as one object, with all rows of all tables. */
void report_write_json(struct etw_text *text, const struct report *report);

#endif
