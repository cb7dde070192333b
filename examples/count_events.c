/* SPDX-License-Identifier: MIT */
/*
 * count_events FILE.etl - counts the events of a trace, as a Windows program would: OpenTrace,
 * ProcessTrace with a callback, CloseTrace. Builds with `pkg-config --cflags --libs etw`.
 */
#include <inttypes.h>
#include <stdio.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntrace.h>

struct counts {
	uint64_t events;
	uint64_t bytes; /* of payload */
};

static void WINAPI count_event(PEVENT_RECORD record)
{
	struct counts *counts = record->UserContext;

	counts->events++;
	counts->bytes += record->UserDataLength;
}

int main(int argc, char **argv)
{
	struct counts counts = {0};
	EVENT_TRACE_LOGFILEA file = {
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = count_event,
		.Context = &counts,
	};
	TRACEHANDLE trace;
	ULONG error;

	if (argc != 2) {
		fprintf(stderr, "usage: count_events FILE.etl\n");
		return 2;
	}
	file.LogFileName = argv[1]; /* UTF-8 */
	trace = OpenTraceA(&file);
	if (trace == INVALID_PROCESSTRACE_HANDLE) {
		fprintf(stderr, "count_events: cannot open %s: error %u\n", argv[1],
			(unsigned)GetLastError());
		return 1;
	}
	error = ProcessTrace(&trace, 1, NULL, NULL);
	CloseTrace(trace);
	if (error) {
		fprintf(stderr, "count_events: error %u\n", (unsigned)error);
		return 1;
	}
	printf("%" PRIu64 " events, %" PRIu64 " bytes of payload, %u lost\n", counts.events,
	       counts.bytes, (unsigned)file.LogfileHeader.EventsLost);
	return 0;
}
