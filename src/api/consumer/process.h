/* SPDX-License-Identifier: MIT */
/* The pass of ProcessTrace: from the modules' records to the callbacks of the program. */
#ifndef ETW_API_CONSUMER_PROCESS_H
#define ETW_API_CONSUMER_PROCESS_H

#include "api/consumer/trace_handle.h"

/*
 * etw_process_traces() - delivers the events of all traces to their callbacks, in order of time.
 *
 * @stop: looked at after each event and buffer; true ends the pass
 *
 * Returns 0 at the end; -ECANCELED when a buffer callback or CloseTrace ended it; -ENOENT when a session is
 * not there; -EINVAL for files and sessions together, and for a trace without any callback; -ENOMEM, -EFBIG,
 * the errno of reading or of talking to the host.
 */
int etw_process_traces(struct etw_open_trace *const *opens, ULONG count, const atomic_bool *stop,
		       int64_t from_ft, int64_t to_ft);

#endif
