/* SPDX-License-Identifier: MIT */
/*
 * Traces that were opened, and one pass over one or several of them, merged by time. This is what
 * OpenTrace, ProcessTrace and the tools stand on.
 */
#ifndef ETW_CONSUMER_TRACE_H
#define ETW_CONSUMER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#include "base/fault.h"
#include "consumer/pin.h"
#include "etl/buffer.h"
#include "etl/findings.h"
#include "etl/header.h"

struct etw_trace;

/* The stable address of an event: the buffer's number in the file, and where in the buffer. */
struct etw_event_address {
	uint32_t buffer;
	uint32_t offset; /* from the end of the buffer header; UINT32_MAX for a synthesised event */
};

/*
 * etw_trace_open() - opens an .etl file.
 *
 * @path: a Linux path; see base/path.h for those of Windows programs
 *
 * Returns 0 with an owned trace in @ret; -EBADMSG with @reterr when it is no .etl file; -ENOMEM; the
 * errno of opening and reading (-ENOENT, -EACCES, -EISDIR ...).
 */
int etw_trace_open(const char *path, struct etw_trace **ret, struct etw_fault *reterr);

/* etw_trace_open_memory() - the same over @bytes of memory, which must outlive the trace. */
int etw_trace_open_memory(const uint8_t *memory, uint64_t bytes, struct etw_trace **ret,
			  struct etw_fault *reterr);

/*
 * etw_trace_open_live() - a real-time session as a trace.
 *
 * @session: its name; it is looked for by etw_trace_attach(), at the latest when a pass begins
 *
 * Events are kept for this consumer from the attachment on, and a pass delivers those that came since the
 * last one; what a pass had received when it was stopped is gone. Returns 0 with an owned trace in @ret;
 * -ENOMEM; errno of eventfd.
 */
int etw_trace_open_live(const char *session, struct etw_trace **ret);

/* etw_trace_want_memory() - in which the session keeps buffers for this consumer, in bytes; before the attachment. */
void etw_trace_want_memory(struct etw_trace *trace, uint64_t bytes);

/*
 * etw_trace_attach() - subscribes to the session; there is no header before.
 *
 * Does nothing for a file, or when attached already. Returns 0; -ENOENT: no such session; -EINVAL: it is no
 * real-time session; -EACCES; -EBUSY: too many consumers; -EPROTO; errno of talking to the host.
 */
int etw_trace_attach(struct etw_trace *trace);

/*
 * etw_trace_open_pushed() - a trace whose buffers the program adds.
 *
 * @done: is called with each buffer that nothing needs any more, and with @context
 *
 * Returns 0 with an owned trace in @ret; -ENOMEM; errno of eventfd.
 */
int etw_trace_open_pushed(void (*done)(const void *buffer, void *context), void *context,
			  struct etw_trace **ret);

/*
 * etw_trace_push() - adds a buffer to such a trace, within a pass or before it; the first one has the header.
 *
 * @at, @bytes: borrowed until `done` was called with it, when this returns 0; else not taken
 *
 * The order is that in which another pass showed the buffers (ETW_BUFFERS_IN_ORDER). Returns 0; -EINVAL: the trace is of
 * another kind; -EBADMSG: it is no sound buffer, or the first one has no header; -ERANGE: out of the order of time;
 * -ESHUTDOWN behind etw_trace_end_pushed(); -ENOMEM. Context: any thread; the first one while nobody asks for the header.
 */
int etw_trace_push(struct etw_trace *trace, const uint8_t *at, size_t bytes);

/* etw_trace_end_pushed() - nothing is added any more: a pass delivers what there is, and ends. Any thread. */
void etw_trace_end_pushed(struct etw_trace *trace);

/* etw_trace_is_pushed() - whether it is such a trace. */
bool etw_trace_is_pushed(const struct etw_trace *trace);

/* etw_trace_has_header() - whether the header is known: of a pushed trace and of a session it comes later. */
bool etw_trace_has_header(const struct etw_trace *trace);

/* etw_trace_is_live() - whether it is a session's, or pushed, and not a file's. */
bool etw_trace_is_live(const struct etw_trace *trace);

/* etw_trace_wake() - makes a pass that waits for a session call its sink's `idle` now. Any thread. */
void etw_trace_wake(struct etw_trace *trace);

/* etw_trace_close() - frees the trace; takes NULL. */
void etw_trace_close(struct etw_trace *trace);
void etw_trace_closep(struct etw_trace **trace);

/* etw_trace_header() - what the header event says; lives as long as the trace. */
const struct etw_etl_header *etw_trace_header(const struct etw_trace *trace);

/*
 * etw_trace_dropped() - when events were lost last on a processor, in raw time; 0: never.
 *
 * @processor: below etw_trace_dropped_count()
 *
 * Of a file as its header says. Of a session and of a pushed trace since this consumer has read it, by the flags of its
 * buffers: the first event of the buffer that told. Context: any thread, once the header is known.
 */
int64_t etw_trace_dropped(const struct etw_trace *trace, uint32_t processor);

/* etw_trace_dropped_count() - of how many processors that is known; 0: of none. */
uint32_t etw_trace_dropped_count(const struct etw_trace *trace);

/*
 * etw_trace_findings() - what was skipped so far: in part after opening and indexing, complete after a
 * pass. A further pass starts the account anew, but one over a part never forgets what one over more found.
 * Lives as long as the trace.
 */
const struct etw_findings *etw_trace_findings(const struct etw_trace *trace);

/* etw_trace_bytes() - the file's size when it was opened. */
uint64_t etw_trace_bytes(const struct etw_trace *trace);

/*
 * etw_trace_index() - builds the directory of buffers, if it is not there yet.
 *
 * A pass does it by itself; a caller does it to know etw_trace_buffers() and the last time before.
 * Returns 0, -ENOMEM, -EFBIG or the errno of reading.
 */
int etw_trace_index(struct etw_trace *trace);

/* etw_trace_buffers() - buffers in the file; 0 before etw_trace_index(). */
uint32_t etw_trace_buffers(const struct etw_trace *trace);

/*
 * etw_trace_keep() - lets etw_trace_each_buffer() keep what it loads, so that no pass behind it loads a buffer again.
 *
 * @bytes: of memory, the directory included, beyond which no block is kept; until the trace is closed
 *
 * Blocks are those of compressed buffers, and those with findings. Of others it is kept how many events they have, in
 * eight bytes each. A later pass brings these in again: it reads them, and decompresses where there was no memory, but
 * does not check them or search them for damage.
 */
void etw_trace_keep(struct etw_trace *trace, size_t bytes);

/* etw_trace_forget() - gives back what is kept, and keeps no more. Not within a pass. */
void etw_trace_forget(struct etw_trace *trace);

/* etw_trace_memory() - bytes that the trace holds between passes: its directory, and what it keeps. */
size_t etw_trace_memory(const struct etw_trace *trace);

/* How often a pass took a buffer out of the file, since the trace was opened. */
struct etw_trace_loads {
	uint64_t loaded;  /* read, decompressed, and checked */
	uint64_t fetched; /* brought in again: see etw_trace_keep() */
};
struct etw_trace_loads etw_trace_loads(const struct etw_trace *trace);

/*
 * etw_trace_each_buffer() - every buffer in file order, with each of its events, no merge.
 *
 * @buffer: called first for each buffer; may be NULL
 * @event:  called for each event in the buffer's order, with its TimeStamp raw; may be NULL
 *
 * Either stops the pass by returning other than 0. Returns that value, 0 at the end, or an error as
 * etw_trace_process().
 */
struct etw_trace_visitor {
	void *context;
	int (*buffer)(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count);
	int (*event)(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		     const EVENT_RECORD *record, struct etw_event_address address);
};
int etw_trace_each_buffer(struct etw_trace *trace, const struct etw_trace_visitor *visitor);

/*
 * etw_trace_search() - as etw_trace_each_buffer(), also from within a callback of a pass over the same trace.
 *
 * What it skips is not added to the findings: whoever delivers finds it too. What it keeps, the pass that goes on has.
 */
int etw_trace_search(struct etw_trace *trace, const struct etw_trace_visitor *visitor);

/* Where a pass delivers to; callbacks may be NULL, and stop the pass by returning other than 0. */
struct etw_trace_sink {
	void *context;
	/*
	 * @trace: the index of the trace in the array
	 * @record: borrowed for the call; TimeStamp is FILETIME, or raw for traces set so. UserContext
	 *          is the trace's
	 */
	int (*event)(void *context, size_t trace, EVENT_RECORD *record,
		     struct etw_event_address address);
	/* After the last event of a buffer went out. */
	int (*buffer)(void *context, size_t trace, const struct etw_etl_buffer *buffer);
	/* Of a pass over sessions, while nothing comes: about every second, and when it was woken. */
	int (*idle)(void *context);
	/* Of such a pass: whether it is to take nothing more, deliver what it has, and end. */
	bool (*ends)(void *context);
	/* Of a pushed trace: its header is there from now on. */
	void (*header)(void *context, size_t trace);
	int64_t from_ft; /* events from here on; INT64_MIN for all */
	int64_t to_ft;   /* up to and including; INT64_MAX for all */
};

/* What a pass does with the buffers of a trace. */
enum etw_trace_buffers {
	ETW_BUFFERS_AS_DONE, /* `buffer` is called when the events of one went out */
	ETW_BUFFERS_IN_ORDER, /* and not before those that were flushed before it; of a session the header buffer first */
	ETW_BUFFERS_ALONE, /* in that order, and `event` is not called at all: events are not looked at */
};

/* etw_trace_set_buffers() - ETW_BUFFERS_AS_DONE at first. Not within a pass. */
void etw_trace_set_buffers(struct etw_trace *trace, enum etw_trace_buffers how);

/*
 * etw_trace_buffer_bytes() - within the sink's `buffer` call: the buffer as it was stored, with its header.
 *
 * @ret_bytes: what is there of it: its valid bytes, of a compressed one all
 *
 * Of a session, the last buffer of a batch says in its header what the session has promised (wire/etl_buffer.h).
 */
const uint8_t *etw_trace_buffer_bytes(const struct etw_trace *trace, uint32_t *ret_bytes);

/*
 * etw_trace_pin_buffer() - within the sink's `buffer` call: keeps those bytes, where they are.
 *
 * Returns 0 with a reference for etw_pin_unref(); -ENODATA: no buffer is being shown, or the bytes are the program's
 * own (etw_trace_push()); -ENOBUFS when the account is full; -ENOMEM.
 */
int etw_trace_pin_buffer(struct etw_trace *trace, struct etw_pin_account *account,
			 struct etw_pin **ret);

/* etw_trace_set_raw() - records carry raw time instead of FILETIME from now on. */
void etw_trace_set_raw(struct etw_trace *trace, bool is_raw);

/* etw_trace_raw_time() - of the event that is being delivered, in the session clock's unit. */
int64_t etw_trace_raw_time(const struct etw_trace *trace);

/* How the event that is being delivered stands in its buffer. */
struct etw_trace_stored {
	const uint8_t *
		at; /* its header; borrowed for the call; NULL for an event of loss, which stands in none */
	uint32_t bytes;      /* exact */
	uint8_t header_type; /* enum wire_header_type; 0 for an event of loss */
	uint16_t loss;       /* of such a one the WIRE_BUFFER_*LOST/CORRUPT flag that it tells of */
	bool is_in_head;     /* in the header buffer: the header event or a companion of it */
};

/* etw_trace_stored() - within the sink's `event` call, of the trace that the event is of. Returns false outside. */
bool etw_trace_stored(const struct etw_trace *trace, struct etw_trace_stored *ret);

/*
 * etw_trace_read_head() - the first bytes of a file, where its header buffer is; of a session the header buffer.
 *
 * @ret_bytes: how many of the @room_bytes there are
 *
 * Returns 0 or the errno of reading. Of a session that was not attached there are none.
 */
int etw_trace_read_head(const struct etw_trace *trace, uint8_t *room, size_t room_bytes,
			size_t *ret_bytes);

/* etw_trace_set_context() - what UserContext of the records is. */
void etw_trace_set_context(struct etw_trace *trace, void *context);

/*
 * etw_trace_process() - delivers the events of all traces in order of time.
 *
 * @traces: borrowed for the call
 *
 * Equal times come in order of the array, then of the file. Where a buffer's flags tell of loss, an
 * RT_LostEvent precedes its first event. Sessions are merged up to what each has promised; an event that
 * comes later than another one's by more than that is delivered with a finding. Files and sessions do not mix,
 * and pushed traces are sessions here.
 * Returns 0 at the end, of sessions when all of them are over; what a callback returned to stop; -EINVAL for
 * files and sessions together; -ENOMEM, -EFBIG, the errno of reading, or what etw_trace_attach() says; -ENOENT
 * also behind the last event of a session that was over before its dead host was replaced for this consumer.
 * Context: one pass at a time per trace.
 */
int etw_trace_process(struct etw_trace *const *traces, size_t count,
		      const struct etw_trace_sink *sink);

/*
 * etw_trace_pin() - keeps the bytes that the record of the event being delivered points to.
 *
 * @trace:   the one that the event is of, within its sink's `event` call
 * @account: charged for the buffer, which stays in memory as a whole
 *
 * The record itself and its array of extended items are not kept, nor is what a message's items point to:
 * its sequence number lies in no buffer as an item does. Returns 0 with a reference for
 * etw_pin_unref(); -ENODATA for a record that no buffer holds, such as one of loss; -ENOBUFS when the account
 * is full; -ENOMEM.
 */
int etw_trace_pin(struct etw_trace *trace, struct etw_pin_account *account, struct etw_pin **ret);

#endif
