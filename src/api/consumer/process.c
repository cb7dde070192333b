/* SPDX-License-Identifier: MIT */
#include "api/consumer/process.h"

#include <errno.h>

#include "api/consumer/legacy_event.h"
#include "api/consumer/logfile.h"
#include "api/tdh/lock.h"
#include "base/macros.h"

struct pass {
	struct etw_open_trace *const *opens;
	const atomic_bool *stop;
};

/* Relaxed: only whether to go on; what closing did is ordered by the table's lock. */
static bool is_stopped(const struct pass *pass)
{
	return atomic_load_explicit(pass->stop, memory_order_relaxed);
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
	return UNLIKELY(is_stopped(pass)) ? -ECANCELED : 0;
}

static int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct pass *pass = context;
	struct etw_open_trace *open = pass->opens[trace];
	EVENT_TRACE_LOGFILEW *logfile = &open->logfile;

	logfile->BuffersRead++;
	logfile->Filled = buffer->valid_bytes;
	refresh_loss(open);
	if (logfile->BufferCallback && !logfile->BufferCallback(logfile))
		return -ECANCELED;
	return is_stopped(pass) ? -ECANCELED : 0;
}

static int on_idle(void *context)
{
	return is_stopped(context) ? -ECANCELED : 0;
}

/* The header of a session that was not there yet when it was opened. */
static int attach(struct etw_open_trace *open)
{
	const struct etw_etl_header *header = etw_trace_header(open->trace);

	if (!etw_trace_is_live(open->trace))
		return 0;
	TRY(etw_trace_attach(open->trace));
	etw_logfile_header(header, &open->logfile.LogfileHeader);
	open->logfile.BufferSize = header->buffer_bytes;
	open->logfile.IsKernelTrace = etw_logfile_is_kernel(header);
	return 0;
}

int etw_process_traces(struct etw_open_trace *const *opens, ULONG count, const atomic_bool *stop,
		       int64_t from_ft, int64_t to_ft)
{
	struct etw_trace *traces[ETW_TRACE_HANDLES_PER_PASS];
	struct pass pass = {.opens = opens, .stop = stop};
	struct etw_trace_sink sink = {
		.context = &pass,
		.event = on_event,
		.buffer = on_buffer,
		.idle = on_idle,
		.from_ft = from_ft,
		.to_ft = to_ft,
	};

	for (ULONG i = 0; i < count; i++) {
		traces[i] = opens[i]->trace;
		opens[i]->logfile.BuffersRead = 0;
		if (etw_trace_is_live(traces[i]) != etw_trace_is_live(traces[0]))
			return -EINVAL;
	}
	for (ULONG i = 0; i < count; i++)
		TRY(attach(opens[i]));
	return etw_trace_process(traces, count, &sink);
}
