/* SPDX-License-Identifier: MIT */
/* A consumer of storm.c, which may be stopped or killed at any time. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "base/atomic.h"
#include "recording/storm_shared.h"

#define AGAIN_US 5000

struct consuming {
	struct storm_consumer *self;
	uint64_t last[STORM_WRITERS_MAX];
};

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct consuming *consuming = record->UserContext;
	struct storm_consumer *self = consuming->self;
	struct storm_payload payload;

	add_relaxed(&self->progress, UINT64_C(1));
	if (!IsEqualGUID(&record->EventHeader.ProviderId, &storm_provider))
		return;
	if (record->UserDataLength != sizeof(payload)) {
		store_release(&self->fault, (uint32_t)__LINE__);
		return;
	}
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer >= STORM_WRITERS_MAX ||
	    payload.number <= consuming->last[payload.writer]) {
		store_release(&self->fault, (uint32_t)__LINE__);
		return;
	}
	consuming->last[payload.writer] = payload.number;
	add_relaxed(&self->received, UINT64_C(1));
}

static TRACEHANDLE open_session(struct consuming *consuming)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t)STORM_SESSION,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = see_event,
		.Context = consuming,
	};

	return OpenTraceA(&logfile);
}

static int be_consumer(struct storm_consumer *self)
{
	static struct consuming consuming;
	TRACE_LOGFILE_HEADER header = {0};
	TRACEHANDLE trace;
	ULONG error, bytes;

	consuming.self = self;
	trace = open_session(&consuming);
	if (trace == INVALID_PROCESSTRACE_HANDLE)
		return 1;
	store_release(&self->is_open, 1u);
	error = ProcessTrace(&trace, 1, NULL, NULL);
	store_release(&self->error, (uint32_t)error);
	if (QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
				       sizeof(header), &bytes))
		return 1;
	store_release(&self->lost, (uint64_t)header.EventsLost);
	store_release(&self->is_done, 1u);
	return 0;
}

/* Of a session whose real-time mode comes and goes: until it is killed. */
static void consume_now_and_then(struct storm_consumer *self)
{
	static struct consuming consuming;

	consuming.self = self;
	store_release(&self->is_open, 1u);
	for (;;) {
		TRACEHANDLE trace = open_session(&consuming);

		if (trace != INVALID_PROCESSTRACE_HANDLE) {
			(void)ProcessTrace(&trace, 1, NULL, NULL);
			CloseTrace(trace);
		}
		usleep(AGAIN_US);
	}
}

int storm_child_main(char **arguments, struct storm_shared *shared)
{
	const uint32_t place = (uint32_t)strtoul(arguments[2], NULL, 10);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(arguments[0], "writer") == 0)
		return storm_write(shared, place, 1);
	if (strcmp(arguments[0], "consumer") == 0 && place < STORM_CONSUMERS_MAX) {
		if (load_acquire(&shared->is_loose))
			consume_now_and_then(&shared->consumers[place]);
		return be_consumer(&shared->consumers[place]);
	}
	return 2;
}
