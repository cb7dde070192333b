/* SPDX-License-Identifier: MIT */
/* What the completion of a command line offers out of traces: their providers, and the names of their events. */
#ifndef ETW_TOOLS_ETW_COMPLETE_TRACE_H
#define ETW_TOOLS_ETW_COMPLETE_TRACE_H

#include <stddef.h>

#include "base/text.h"

/* Who waits for a completion does not wait long: of large files only the beginning is looked at. */
#define COMPLETE_EVENTS_MAX 1000000u

/*
 * complete_trace_providers() - appends the names of the providers of the files, a line each, busiest first.
 *
 * Files that cannot be read are left out. Returns 0 or a negative errno.
 */
int complete_trace_providers(char *const *files, size_t count, struct etw_text *text);

/*
 * complete_trace_events() - the same of events, as --event takes them.
 *
 * @provider: only events of this one, by its name; NULL: of all
 */
int complete_trace_events(char *const *files, size_t count, const char *provider,
			  struct etw_text *text);

#endif
