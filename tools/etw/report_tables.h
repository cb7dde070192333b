/* SPDX-License-Identifier: MIT */
/* The tables of the page that `etw summary` prints: kinds of events, processes, providers; the first two also as JSON. */
#ifndef ETW_TOOLS_ETW_REPORT_TABLES_H
#define ETW_TOOLS_ETW_REPORT_TABLES_H

#include "tools/etw/report_data.h"

/* report_title_write() - a blank line and the title of what follows. */
void report_title_write(struct etw_text *text, const struct report_look *look, const char *title);

/* report_more_write() - counts what a table of @rows leaves out of @count, and says which verb of etw lists all; "": none. */
void report_more_write(struct etw_text *text, size_t count, size_t rows, const char *verb);

/* report_kinds_write() - what happened: the @rows commonest kinds of events. Nothing when there is none. */
void report_kinds_write(struct etw_text *text, const struct report *report,
			const struct report_look *look, size_t rows);

/*
 * report_kinds_json() - the same of all kinds, as a member of an object: `,"kinds":[...]`.
 *
 * Without memory for them @text fails.
 */
void report_kinds_json(struct etw_text *text, const struct report *report);

/* report_process_name() - of a row of the table; NULL when unknown. */
const char *report_process_name(const struct etw_process_share *share);

/* report_processes_write() - the @rows busiest processes, with their command lines. */
void report_processes_write(struct etw_text *text, const struct report *report,
			    const struct report_look *look, size_t rows);

/* report_lives_json() - how many processes the trace tells of, and how many of them start and end in it; as members. */
void report_lives_json(struct etw_text *text, const struct report *report);

/* report_providers_write() - who wrote the events, and how much of theirs decodes. */
void report_providers_write(struct etw_text *text, const struct report *report,
			    const struct report_look *look);

#endif
