/* SPDX-License-Identifier: MIT */
#include "api/consumer/process.h"

#include <errno.h>

#include "api/consumer/buffer_reference.h"
#include "api/consumer/legacy_event.h"
#include "api/consumer/logfile.h"
#include "api/tdh/lock.h"
#include "base/macros.h"

struct pass {
	struct etw_open_trace *const *opens;
	const atomic_bool *stop;
	bool is_streaming; /* of sessions and pushed traces */
};

/* Relaxed: only whether to go on; what closing did is ordered by the table's lock. */
static bool is_stopped(const struct pass *pass)
{
	return atomic_load_explicit(pass->stop, memory_order_relaxed);
}

/*
 * A closed file ends at once. A closed session takes nothing more, but delivers what has come: on_ends() says so, and
 * nothing else stops it.
 */
static bool is_cut_short(const struct pass *pass)
{
	return UNLIKELY(is_stopped(pass)) && !pass->is_streaming;
}

/*
 * The older callbacks get an EVENT_TRACE: first the trace's own, then the one bound to the event's class.
 * Only classic events belong to a class.
 */
static void deliver_legacy(struct etw_open_trace *open, const EVENT_RECORD *record)
{
	PEVENT_CALLBACK class_callback = NULL;

	etw_legacy_event(record, &open->logfile.CurrentEvent);
	if (open->logfile.EventCallback)
		open->logfile.EventCallback(&open->logfile.CurrentEvent);
	if (etw_class_callback_any() &&
	    (record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER))
		class_callback = etw_class_callback_find(&record->EventHeader.ProviderId);
	if (class_callback)
		class_callback(&open->logfile.CurrentEvent);
}

/* A file's losses are in its header from the start; a session's grow. */
static void refresh_loss(struct etw_open_trace *open)
{
	const struct etw_etl_header *header = etw_trace_header(open->trace);

	if (!etw_trace_is_live(open->trace))
		return;
	open->logfile.EventsLost = header->events_lost;
	open->logfile.LogfileHeader.EventsLost = header->events_lost;
	open->logfile.LogfileHeader.BuffersLost = header->buffers_lost;
}

static int on_event(void *context, size_t trace, EVENT_RECORD *record,
		    struct etw_event_address address)
{
	struct pass *pass = context;
	struct etw_open_trace *open = pass->opens[trace];

	if (UNLIKELY(address.offset == UINT32_MAX))
		refresh_loss(open);
	etw_tdh_note_build(etw_trace_header(open->trace)->os_build);
	/* Before the callback: an event may describe itself. Without memory it stays undescribed. */
	if (UNLIKELY(etw_schema_store_is_metadata(record)) && etw_tdh_learn(record) < 0)
		open->has_missed_schema = true;
	open->logfile.CurrentTime = record->EventHeader.TimeStamp.QuadPart;
	if (!open->is_record)
		deliver_legacy(open, record);
	else if (LIKELY(open->logfile.EventRecordCallback != NULL))
		open->logfile.EventRecordCallback(record);
	return is_cut_short(pass) ? -ECANCELED : 0;
}

/* The callback of ETW_OPEN_TRACE_OPTIONS gets the buffer itself. */
static BOOL show_whole(struct etw_open_trace *open)
{
	const ETW_BUFFER_CALLBACK_INFORMATION information = {
		.TraceHandle = open->handle,
		.LogfileHeader = &open->logfile.LogfileHeader,
		.BuffersRead = open->logfile.BuffersRead,
	};
	uint32_t bytes;
	const ETW_BUFFER_HEADER *buffer = (const void *)etw_trace_buffer_bytes(open->trace, &bytes);
	BOOL goes_on;

	etw_buffer_show(open, buffer);
	goes_on = open->whole_buffer(buffer, bytes, &information, open->whole_context);
	etw_buffer_hide(open);
	return goes_on;
}

static int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct pass *pass = context;
	struct etw_open_trace *open = pass->opens[trace];
	EVENT_TRACE_LOGFILEW *logfile = &open->logfile;

	logfile->BuffersRead++;
	logfile->Filled = buffer->valid_bytes;
	refresh_loss(open);
	if (open->whole_buffer && !show_whole(open))
		return -ECANCELED;
	if (logfile->BufferCallback && !logfile->BufferCallback(logfile))
		return -ECANCELED;
	return is_cut_short(pass) ? -ECANCELED : 0;
}

static bool on_ends(void *context)
{
	return is_stopped(context);
}

/* What the header says, where it was not known when the trace was opened. */
static void take_header(struct etw_open_trace *open)
{
	const struct etw_etl_header *header = etw_trace_header(open->trace);

	etw_logfile_header(header, &open->logfile.LogfileHeader);
	open->logfile.BufferSize = header->buffer_bytes;
	open->logfile.IsKernelTrace = etw_logfile_is_kernel(header);
}

static void on_header(void *context, size_t trace)
{
	const struct pass *pass = context;

	take_header(pass->opens[trace]);
}

/*
 * A session may not have been there yet when it was opened. Windows has one error for one that is not there and one
 * that is not a real-time session.
 */
static int attach(struct etw_open_trace *open)
{
	int result;

	if (!etw_trace_is_live(open->trace))
		return 0;
	result = etw_trace_attach(open->trace);
	if (result)
		return result == -EINVAL ? -ENOENT : result;
	if (etw_trace_has_header(open->trace))
		take_header(open);
	return 0;
}

/* Closing is how a pushed trace ends; of a session it is a cancellation. */
static int result_when_closed(const struct etw_open_trace *const *opens, ULONG count)
{
	for (ULONG i = 0; i < count; i++) {
		if (!etw_trace_is_pushed(opens[i]->trace))
			return -ECANCELED;
	}
	return 0;
}

static bool has_callback(const struct etw_open_trace *open)
{
	return open->logfile.EventCallback || open->logfile.BufferCallback || open->whole_buffer ||
	       etw_class_callback_any();
}

int etw_process_traces(struct etw_open_trace *const *opens, ULONG count, const atomic_bool *stop,
		       int64_t from_ft, int64_t to_ft)
{
	struct etw_trace *traces[ETW_TRACE_HANDLES_PER_PASS] = {NULL};
	struct pass pass = {.opens = opens, .stop = stop};
	struct etw_trace_sink sink = {
		.context = &pass,
		.event = on_event,
		.buffer = on_buffer,
		.ends = on_ends,
		.header = on_header,
		.from_ft = from_ft,
		.to_ft = to_ft,
	};

	for (ULONG i = 0; i < count; i++) {
		traces[i] = opens[i]->trace;
		opens[i]->logfile.BuffersRead = 0;
		if (etw_trace_is_live(traces[i]) != etw_trace_is_live(traces[0]) ||
		    !has_callback(opens[i]))
			return -EINVAL;
	}
	pass.is_streaming = etw_trace_is_live(traces[0]);
	for (ULONG i = 0; i < count; i++)
		TRY(attach(opens[i]));

	int result = etw_trace_process(traces, count, &sink);

	for (ULONG i = 0; i < count; i++)
		etw_buffer_references_wait(opens[i]);
	if (!result && pass.is_streaming && is_stopped(&pass))
		return result_when_closed((const struct etw_open_trace *const *)opens, count);
	return result;
}
