/* SPDX-License-Identifier: MIT */
#include "recording/storm_check.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <errhandlingapi.h>
#include <evntcons.h>

#include "base/atomic.h"
#include "consumer/trace.h"
#include "recording/support.h"

struct reading {
	const struct storm_calls *calls;
	struct storm_found *found;
	int64_t oldest_sequence; /* of data buffers; 0: none was seen */
	int64_t since_raw;       /* when that buffer was written */
};

static bool take(const EVENT_RECORD *record, const struct storm_calls *calls,
		 struct storm_payload *ret)
{
	if (!IsEqualGUID(&record->EventHeader.ProviderId, &storm_provider))
		return false;
	if (record->UserDataLength != sizeof(*ret))
		fail("an event of %u bytes", record->UserDataLength);
	memcpy(ret, record->UserData, sizeof(*ret));
	if (ret->writer >= calls->count)
		fail("an event of writer %u, which there is not", ret->writer);
	if (ret->number <= calls->settled[ret->writer])
		fail("writer %u: event %" PRIu64 " is an earlier session's", ret->writer,
		     ret->number);
	return true;
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	const struct reading *reading = record->UserContext;
	struct storm_found *found = reading->found;
	struct storm_payload payload;

	if (!take(record, reading->calls, &payload))
		return;
	if (payload.number <= found->last[payload.writer])
		fail("writer %u: event %" PRIu64 " comes after %" PRIu64, payload.writer,
		     payload.number, found->last[payload.writer]);
	found->last[payload.writer] = payload.number;
	found->events[payload.writer]++;
	found->count++;
}

void storm_check_file(const char *path, const struct storm_calls *calls, struct storm_found *found)
{
	struct reading reading = {.calls = calls, .found = found};

	(void)recording_read(path, see_event, &reading);
	(void)recording_check_order(path);
}

void storm_check_tried(const struct storm_calls *calls, const struct storm_found *found)
{
	for (uint32_t i = 0; i < calls->count; i++) {
		/* One call may have been inside when its process was killed. */
		const uint64_t most = calls->returned[i] + 1;

		if (found->events[i] > most - calls->settled[i] || found->last[i] > most)
			fail("writer %u: %" PRIu64 " events up to %" PRIu64 " of %" PRIu64
			     " tried, the last one %" PRIu64,
			     i, found->events[i], found->last[i], most - calls->settled[i], most);
	}
}

void storm_check_header(const char *path, const EVENT_TRACE_PROPERTIES *properties)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LogFileName = (char *)(uintptr_t)path,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = see_event, /* never called */
	};
	const TRACE_LOGFILE_HEADER *header = &logfile.LogfileHeader;
	TRACEHANDLE trace = OpenTraceA(&logfile);

	if (trace == INVALID_PROCESSTRACE_HANDLE)
		fail("OpenTrace %s: error %u", path, (unsigned)GetLastError());
	CloseTrace(trace);
	if (header->EventsLost != properties->EventsLost ||
	    header->BuffersLost != properties->LogBuffersLost ||
	    header->BuffersWritten != properties->BuffersWritten)
		fail("%s: %u events lost, %u buffers lost, %u written; the session says %u, %u, %u",
		     path, (unsigned)header->EventsLost, (unsigned)header->BuffersLost,
		     (unsigned)header->BuffersWritten, (unsigned)properties->EventsLost,
		     (unsigned)properties->LogBuffersLost, (unsigned)properties->BuffersWritten);
}

uint64_t storm_check_gaps(const struct storm_calls *calls, const struct storm_found *found)
{
	uint64_t missing = 0;

	for (uint32_t i = 0; i < calls->count; i++) {
		if (found->last[i])
			missing += found->last[i] - calls->settled[i] - found->events[i];
	}
	return missing;
}

static int see_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct reading *reading = context;

	(void)event_count;
	if (buffer->number == 0 ||
	    (reading->oldest_sequence && buffer->sequence >= reading->oldest_sequence))
		return 0;
	reading->oldest_sequence = buffer->sequence;
	reading->since_raw = buffer->time_raw;
	return 0;
}

static int see_new_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
			 const EVENT_RECORD *record, struct etw_event_address address)
{
	const struct reading *reading = context;
	struct storm_found *found = reading->found;
	struct storm_payload payload;

	(void)buffer;
	(void)header_type;
	(void)address;
	if (record->EventHeader.TimeStamp.QuadPart <= reading->since_raw ||
	    !take(record, reading->calls, &payload))
		return 0;
	if (!found->first[payload.writer] || payload.number < found->first[payload.writer])
		found->first[payload.writer] = payload.number;
	found->events[payload.writer]++;
	return 0;
}

static void visit(const char *path, const struct etw_trace_visitor *visitor)
{
	struct etw_trace *trace = NULL;
	int r = etw_trace_open(path, &trace, NULL);

	if (r == 0)
		r = etw_trace_each_buffer(trace, visitor);
	if (r)
		fail("%s cannot be walked: %s", path, strerror(-r));
	etw_trace_close(trace);
}

int64_t storm_check_newest(const char *path, const struct storm_calls *calls,
			   struct storm_found *found)
{
	struct reading reading = {.calls = calls, .found = found};
	const struct etw_trace_visitor of_buffers = {&reading, see_buffer, NULL};
	const struct etw_trace_visitor of_events = {&reading, NULL, see_new_event};
	int64_t missing = 0;

	memset(found, 0, sizeof(*found));
	visit(path, &of_buffers);
	visit(path, &of_events);
	for (uint32_t i = 0; i < calls->count; i++) {
		if (found->first[i])
			missing += (int64_t)(calls->returned[i] - found->first[i] + 1) -
				   (int64_t)found->events[i];
	}
	return missing;
}
