/* SPDX-License-Identifier: MIT */
/* A process whose first copy of the library is of another version: the second one says so, and does nothing. */
#include <evntprov.h>
#include <evntrace.h>
#include <stdio.h>
#include <winerror.h>

static ULONG WINAPI hear(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)code;
	(void)context;
	(void)bytes;
	(void)buffer;
	return ERROR_SUCCESS;
}

int main(void)
{
	static const GUID provider = {0x6c5c0d5f, 0x2b1f, 0x4d0e, {1, 2, 3, 4, 5, 6, 7, 8}};
	static const EVENT_DESCRIPTOR event = {.Id = 1};
	TRACEHANDLE classic = 0;
	REGHANDLE handle = 0;
	const ULONG modern = EventRegister(&provider, NULL, NULL, &handle);
	const ULONG old = RegisterTraceGuidsA(hear, NULL, &provider, 0, NULL, NULL, NULL, &classic);

	printf("registering is refused with %u and %u\n", (unsigned)modern, (unsigned)old);
	return modern != ERROR_REVISION_MISMATCH || old != ERROR_REVISION_MISMATCH ||
	       EventWrite(handle, &event, 0, NULL) != ERROR_INVALID_HANDLE;
}
