/* SPDX-License-Identifier: MIT */
/*
 * TRACEHANDLEs of the consumer's side. A handle is an index and a generation, so that one which was
 * closed is told from its successor. Closing while a pass runs only asks the pass to end; the trace is
 * given back when it has.
 */
#ifndef ETW_API_CONSUMER_TRACE_HANDLE_H
#define ETW_API_CONSUMER_TRACE_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <evntcons.h>

#include "consumer/trace.h"

/* Most files that one ProcessTrace takes. */
#define ETW_TRACE_HANDLES_PER_PASS 64

/* An opened trace with what its opener asked for. */
struct etw_open_trace {
	struct etw_trace *trace; /* owned */
	char *path;              /* owned; of a file: where it is; NULL: a session */
	/*
	 * What callbacks see of the logfile, in the W form; the A form has the same members at the same
	 * places, so that the callbacks of either kind are called with it. Owns both names.
	 */
	EVENT_TRACE_LOGFILEW logfile;
	/* Of those opened with ETW_OPEN_TRACE_OPTIONS. */
	PETW_BUFFER_CALLBACK whole_buffer; /* NULL: none */
	void *whole_context;
	struct etw_pin_account *pins; /* owned; what references are charged to */
	/* Under the lock of api/consumer/buffer_reference.c. */
	const void *shown_buffer;    /* by a callback now; NULL: none */
	uint64_t referenced_buffers; /* that programs have references to */

	PETW_BUFFER_COMPLETION_CALLBACK completion; /* of a pushed trace */
	void *completion_context;

	PROCESSTRACE_HANDLE handle; /* its own */
	bool is_record;             /* EventRecordCallback, not EventCallback */
	bool has_missed_schema; /* memory ran out where an event taught one, in any pass so far */
	bool is_closed;         /* CloseTrace was called; under the table's lock */
	unsigned borrowers;     /* of etw_trace_handle_borrow(); under the table's lock */
	atomic_bool *stop_pass; /* of the pass that uses it; NULL outside; under the table's lock */
};

/* etw_open_trace_freep() - for CLEANUP(): frees the trace and the names; takes NULL. */
void etw_open_trace_freep(struct etw_open_trace **open);

/*
 * etw_trace_handle_create() - takes @open and gives it a handle.
 *
 * Returns 0, or -ENOMEM: then @open still belongs to the caller. Context: any thread.
 */
int etw_trace_handle_create(struct etw_open_trace *open, PROCESSTRACE_HANDLE *ret);

/*
 * etw_trace_handle_begin() - marks handles as used by a pass.
 *
 * @stop: set when any of them is closed; borrowed until etw_trace_handle_end()
 * @ret: one borrowed trace for each handle, until etw_trace_handle_end()
 *
 * Returns 0; -EBADF when one is not open, is in use, or comes twice: then none is marked.
 * Context: any thread.
 */
int etw_trace_handle_begin(const PROCESSTRACE_HANDLE *handles, ULONG count, atomic_bool *stop,
			   struct etw_open_trace **ret);

/* etw_trace_handle_end() - the pass is over; frees what was closed meanwhile. @opens is used up. */
void etw_trace_handle_end(struct etw_open_trace **opens, ULONG count);

/*
 * etw_trace_handle_close() - closes a handle.
 *
 * Returns 0; -EINPROGRESS when a pass uses the trace and will end soon; -EBADF when it is not open.
 * Context: any thread, also from within a callback of the pass.
 */
int etw_trace_handle_close(PROCESSTRACE_HANDLE handle);

/*
 * etw_trace_handle_borrow() - the trace of a handle, which is not freed before etw_trace_handle_return().
 *
 * Returns 0, or -EBADF when the handle is not open. Context: any thread.
 */
int etw_trace_handle_borrow(PROCESSTRACE_HANDLE handle, struct etw_open_trace **ret);

/* etw_trace_handle_return() - frees the trace when it was closed meanwhile and nobody else uses it. */
void etw_trace_handle_return(struct etw_open_trace *open);

/*
 * etw_trace_handle_with() - calls back with the trace of a handle, which cannot vanish meanwhile.
 *
 * Returns what the callback returned, or -EBADF. The callback must not use this interface.
 */
int etw_trace_handle_with(PROCESSTRACE_HANDLE handle,
			  int (*use)(struct etw_open_trace *open, void *context), void *context);

#endif
