/* SPDX-License-Identifier: MIT */
/*
 * write_classic [COUNT] - a classic provider, as programs were instrumented before Windows Vista: one session at a time
 * enables it, the control callback is told which, and TraceEvent() names that session with each event. Writes COUNT jobs
 * (3 by default), an event at the start and one at the end. write_classic.mof describes what the events hold:
 *
 *   etw record --provider {d4c7a2f6-51b3-4e0c-8a0e-93f1b7c2e615} -o t.etl -- ./write_classic
 *   etw dump --manifest write_classic.mof t.etl
 *
 * Builds with `pkg-config --cflags --libs etw`.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>
#include <winerror.h>

/* {d4c7a2f6-51b3-4e0c-8a0e-93f1b7c2e615}: whom sessions enable. */
static const GUID control_id = {
	0xd4c7a2f6, 0x51b3, 0x4e0c, {0x8a, 0x0e, 0x93, 0xf1, 0xb7, 0xc2, 0xe6, 0x15}};

/* {d4c7a2f7-51b3-4e0c-8a0e-93f1b7c2e615}: the class of the events. */
static const GUID job_class = {
	0xd4c7a2f7, 0x51b3, 0x4e0c, {0x8a, 0x0e, 0x93, 0xf1, 0xb7, 0xc2, 0xe6, 0x15}};

/* The session that has enabled the provider, 0 without one. */
static _Atomic TRACEHANDLE session;

static ULONG WMIAPI on_control(WMIDPREQUESTCODE request, PVOID context, ULONG *size, PVOID buffer)
{
	(void)context;
	(void)size;
	if (request == WMI_ENABLE_EVENTS)
		session = GetTraceLoggerHandle(buffer);
	else if (request == WMI_DISABLE_EVENTS)
		session = 0;
	return ERROR_SUCCESS;
}

/* The fields lie where they are; TraceEvent() collects them. */
static ULONG write_job(UCHAR type, const ULONG *number, const char *text)
{
	struct {
		EVENT_TRACE_HEADER header;
		MOF_FIELD fields[2];
	} event;

	memset(&event, 0, sizeof(event));
	event.header.Size = sizeof(event);
	event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
	event.header.Guid = job_class;
	event.header.Class.Type = type;
	event.header.Class.Level = TRACE_LEVEL_INFORMATION;
	event.fields[0].DataPtr = (ULONG64)(ULONG_PTR)number;
	event.fields[0].Length = sizeof(*number);
	event.fields[1].DataPtr = (ULONG64)(ULONG_PTR)text;
	event.fields[1].Length = (ULONG)strlen(text) + 1;
	return TraceEvent(session, &event.header);
}

int main(int argc, char **argv)
{
	const ULONG count = argc > 1 ? (ULONG)strtoul(argv[1], NULL, 10) : 3;
	TRACE_GUID_REGISTRATION classes[] = {{&job_class, NULL}};
	TRACEHANDLE registration;
	ULONG lost = 0;
	ULONG error;

	if (argc > 2) {
		fprintf(stderr, "usage: write_classic [COUNT]\n");
		return 2;
	}
	error = RegisterTraceGuidsA(on_control, NULL, &control_id, 1, classes, NULL, NULL,
				    &registration);
	if (error) {
		fprintf(stderr, "write_classic: RegisterTraceGuids: error %u\n", (unsigned)error);
		return 1;
	}
	if (!session)
		printf("no session has enabled the provider\n");
	for (ULONG i = 0; i < count && session; i++) {
		lost += write_job(EVENT_TRACE_TYPE_START, &i, "sort the letters") != ERROR_SUCCESS;
		lost += write_job(EVENT_TRACE_TYPE_END, &i, "sorted") != ERROR_SUCCESS;
	}
	printf("%u events refused\n", (unsigned)lost);
	(void)UnregisterTraceGuids(registration);
	return 0;
}
