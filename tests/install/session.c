/* SPDX-License-Identifier: MIT */
/* Starts a session and stops it: a user's program that needs etwd, which libetw finds. */
#include <evntrace.h>
#include <stdio.h>
#include <string.h>
#include <winerror.h>

struct request {
	EVENT_TRACE_PROPERTIES properties;
	char names[512];
};

int main(void)
{
	static const char name[] = "installed-session";
	struct request request;
	TRACEHANDLE session;
	ULONG error;

	memset(&request, 0, sizeof(request));
	request.properties.Wnode.BufferSize = sizeof(request);
	request.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	request.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	request.properties.LoggerNameOffset = sizeof(request.properties);
	error = StartTraceA(&session, name, &request.properties);
	if (!error)
		error = ControlTraceA(session, NULL, &request.properties, EVENT_TRACE_CONTROL_STOP);
	if (error) {
		fprintf(stderr, "no session: error %u\n", (unsigned)error);
		return 1;
	}
	puts("started and stopped a session");
	return 0;
}
