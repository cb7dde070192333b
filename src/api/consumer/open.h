/* SPDX-License-Identifier: MIT */
/* What the ways to open a trace have in common: OpenTrace and the OpenTraceFrom functions. */
#ifndef ETW_API_CONSUMER_OPEN_H
#define ETW_API_CONSUMER_OPEN_H

#include "api/consumer/trace_handle.h"

/*
 * etw_open_file() - opens a file by its UTF-8 name, of Windows or of Linux.
 *
 * @open: its `path` and `trace` are set
 *
 * Returns ERROR_SUCCESS or the error of OpenTrace.
 */
ULONG etw_open_file(const char *name, struct etw_open_trace *open);

/*
 * etw_open_session() - opens a real-time session by its UTF-8 name.
 *
 * @bytes: of the memory in which the session keeps buffers for this consumer; 0: the session's own choice
 *
 * A session that is not there is no error yet: ProcessTrace says so, as on Windows. One that is there begins to keep
 * events for this consumer now. Returns ERROR_SUCCESS or the error of OpenTrace.
 */
ULONG etw_open_session(const char *name, uint64_t bytes, struct etw_open_trace *open);

/* etw_open_fill_logfile() - the members of the structure that OpenTrace sets, from the trace's header. */
void etw_open_fill_logfile(const struct etw_open_trace *open, EVENT_TRACE_LOGFILEW *logfile);

/*
 * etw_open_finish() - gives a trace its handle.
 *
 * @open: taken
 *
 * Returns INVALID_PROCESSTRACE_HANDLE, and why in GetLastError(), when memory ran out.
 */
PROCESSTRACE_HANDLE etw_open_finish(struct etw_open_trace *open);

/* etw_open_fail() - sets the last error. Returns INVALID_PROCESSTRACE_HANDLE. */
PROCESSTRACE_HANDLE etw_open_fail(ULONG error);

#endif
