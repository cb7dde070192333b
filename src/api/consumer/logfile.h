/* SPDX-License-Identifier: MIT */
/* EVENT_TRACE_LOGFILE: what OpenTrace fills in of it. */
#ifndef ETW_API_CONSUMER_LOGFILE_H
#define ETW_API_CONSUMER_LOGFILE_H

#include <evntrace.h>

#include "consumer/trace.h"

/*
 * etw_logfile_header() - a file's header as Microsoft's structure.
 *
 * The two name pointers are NULL: on Windows they are not to be used either.
 */
void etw_logfile_header(const struct etw_etl_header *header, TRACE_LOGFILE_HEADER *ret);

/* etw_logfile_is_kernel() - whether the session was one that gets the kernel's events. */
ULONG etw_logfile_is_kernel(const struct etw_etl_header *header);

#endif
