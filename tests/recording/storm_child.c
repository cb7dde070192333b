/* SPDX-License-Identifier: MIT */
/*
 * The children of storm.c: a consumer, and a controller that asks for what changes nothing in the account. Each may
 * be stopped or killed at any time.
 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
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

#define CONTROL_US   20000
#define SESSION_ROOM 1024

/* Of the second session. The storm's own provider has one session: where one of two refuses an event, the other goes without. */
static const GUID other_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x10}};

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

static int be_consumer(struct storm_consumer *self)
{
	static struct consuming consuming;
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t)STORM_SESSION,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = see_event,
		.Context = &consuming,
	};
	TRACE_LOGFILE_HEADER header = {0};
	TRACEHANDLE trace;
	ULONG error, bytes;

	consuming.self = self;
	trace = OpenTraceA(&logfile);
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

struct control {
	EVENT_TRACE_PROPERTIES properties;
	char name[SESSION_ROOM];
	char file[SESSION_ROOM];
};

static EVENT_TRACE_PROPERTIES *prepare(struct control *control)
{
	memset(control, 0, sizeof(*control));
	control->properties.Wnode.BufferSize = sizeof(*control);
	control->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	control->properties.LoggerNameOffset = offsetof(struct control, name);
	return &control->properties;
}

/* A second session beside the first: what is done to it changes nothing that the storm counts. */
static void use_other_session(struct control *control)
{
	TRACEHANDLE handle = 0;

	prepare(control)->Wnode.ClientContext = 1;
	control->properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	if (StartTraceA(&handle, STORM_OTHER, &control->properties))
		handle = 0;
	if (handle)
		(void)EnableTraceEx2(handle, &other_provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
				     TRACE_LEVEL_VERBOSE, 0, 0, 100, NULL);
	usleep(CONTROL_US);
	(void)ControlTraceA(0, STORM_OTHER, prepare(control), EVENT_TRACE_CONTROL_STOP);
}

static int be_controller(void)
{
	static struct control control;
	unsigned state = (unsigned)getpid();

	for (;;) {
		switch (rand_r(&state) % 4) {
		case 0:
			(void)ControlTraceA(0, STORM_SESSION, prepare(&control),
					    EVENT_TRACE_CONTROL_QUERY);
			break;
		case 1:
		case 2:
			(void)ControlTraceA(0, STORM_SESSION, prepare(&control),
					    EVENT_TRACE_CONTROL_FLUSH);
			break;
		default:
			use_other_session(&control);
			break;
		}
		usleep(CONTROL_US);
	}
	return 0;
}

int storm_child_main(char **arguments, struct storm_shared *shared)
{
	const uint32_t place = (uint32_t)strtoul(arguments[2], NULL, 10);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(arguments[0], "writer") == 0)
		return storm_write(shared, place, 1);
	if (strcmp(arguments[0], "consumer") == 0 && place < STORM_CONSUMERS_MAX)
		return be_consumer(&shared->consumers[place]);
	if (strcmp(arguments[0], "controller") == 0)
		return be_controller();
	return 2;
}
