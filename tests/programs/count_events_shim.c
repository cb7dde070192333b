/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into an unmodified program: counts what its EventRecordCallback receives and prints the
 * number at exit, so that a test sees that a program which prints nothing has read its trace.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <evntcons.h>
#include <evntrace.h>

static PEVENT_RECORD_CALLBACK program_callback;
static unsigned long events;
static ULONG last_result = 0xFFFFFFFF;

static VOID WINAPI count_event(PEVENT_RECORD record)
{
	events++;
	program_callback(record);
}

PROCESSTRACE_HANDLE OpenTraceW(PEVENT_TRACE_LOGFILEW Logfile)
{
	PROCESSTRACE_HANDLE (*next)(PEVENT_TRACE_LOGFILEW);

	*(void **)&next = dlsym(RTLD_NEXT, "OpenTraceW");
	program_callback = Logfile->EventRecordCallback;
	Logfile->EventRecordCallback = count_event;
	return next(Logfile);
}

ULONG ProcessTrace(PTRACEHANDLE HandleArray, ULONG HandleCount, LPFILETIME StartTime,
		   LPFILETIME EndTime)
{
	ULONG (*next)(PTRACEHANDLE, ULONG, LPFILETIME, LPFILETIME);

	*(void **)&next = dlsym(RTLD_NEXT, "ProcessTrace");
	last_result = next(HandleArray, HandleCount, StartTime, EndTime);
	return last_result;
}

__attribute__((destructor)) static void report(void)
{
	printf("ProcessTrace %u events %lu\n", last_result, events);
}
