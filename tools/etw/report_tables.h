/* SPDX-License-Identifier: MIT */
/* The tables of the page that `etw summary` prints: kinds of events, processes, providers. */
#ifndef ETW_TOOLS_ETW_REPORT_TABLES_H
#define ETW_TOOLS_ETW_REPORT_TABLES_H

#include "tools/etw/report.h"

/* report_title_write() - a blank line and the title of what follows. */
void report_title_write(struct etw_text *text, const struct report_look *look, const char *title);

/* report_kinds_write() - what happened: the @rows commonest kinds of events. Nothing when there is none. */
void report_kinds_write(struct etw_text *text, const struct report *report,
			const struct report_look *look, size_t rows);

/* report_processes_write() - the @rows busiest processes, with their command lines. */
void report_processes_write(struct etw_text *text, const struct report *report,
			    const struct report_look *look, size_t rows);

/* report_providers_write() - who wrote the events, and how much of theirs decodes. */
void report_providers_write(struct etw_text *text, const struct report *report,
			    const struct report_look *look);

#endif
