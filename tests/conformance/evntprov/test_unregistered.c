/* SPDX-License-Identifier: MIT */
/*
 * Every function of providers in a process that never registered one, with handles that are numbers and every other argument
 * out of order: an error, and no crash. Without cmocka, whose program is the same for all tests of a file; and without a host.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

static unsigned failures;

static void expect(const char *what, ULONG is, ULONG should_be)
{
	if (is == should_be)
		return;
	(void)fprintf(stderr, "%s: %u, not %u\n", what, is, should_be);
	failures++;
}

static const REGHANDLE handles[] = {
	0,         1, 5, 0x1000, 0xFFFFFFFF, 0x100000001, 0x0001000000000009, 0x123456789ABCDEF0,
	UINT64_MAX};

static void try_handle(REGHANDLE handle)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1};
	EVENT_DATA_DESCRIPTOR data;
	UCHAR traits[] = {3, 0, 0};

	EventDataDescCreate(&data, NULL, 100);
	expect("EventWrite", EventWrite(handle, &descriptor, 1, &data), ERROR_INVALID_HANDLE);
	expect("EventWrite of nothing", EventWrite(handle, NULL, 1000, NULL), ERROR_INVALID_HANDLE);
	expect("EventWriteTransfer", EventWriteTransfer(handle, &descriptor, NULL, NULL, 1, &data),
	       ERROR_INVALID_HANDLE);
	expect("EventWriteEx", EventWriteEx(handle, NULL, 1, 9, NULL, NULL, 1, NULL),
	       ERROR_INVALID_HANDLE);
	expect("EventWriteString", EventWriteString(handle, 0, 0, NULL), ERROR_INVALID_HANDLE);
	expect("EventEnabled", EventEnabled(handle, &descriptor), FALSE);
	expect("EventEnabled of nothing", EventEnabled(handle, NULL), FALSE);
	expect("EventProviderEnabled", EventProviderEnabled(handle, 0, 0), FALSE);
	expect("EventSetInformation",
	       EventSetInformation(handle, EventProviderSetTraits, traits, sizeof(traits)),
	       ERROR_INVALID_PARAMETER);
	expect("EventUnregister", EventUnregister(handle), ERROR_INVALID_HANDLE);
	expect("UnregisterTraceGuids", UnregisterTraceGuids(handle), ERROR_INVALID_PARAMETER);
}

/* Whatever they say: they say something. */
static void try_logger(TRACEHANDLE logger)
{
	EVENT_TRACE_HEADER event = {.Size = sizeof(event), .Flags = WNODE_FLAG_TRACED_GUID};
	GUID message = {1, 2, 3, {4}};

	if (TraceEvent(logger, &event) == ERROR_SUCCESS)
		expect("TraceEvent", ERROR_SUCCESS, ERROR_INVALID_HANDLE);
	if (TraceMessage(logger, 0, &message, 1, NULL, (size_t)0) == ERROR_SUCCESS)
		expect("TraceMessage", ERROR_SUCCESS, ERROR_INVALID_HANDLE);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		try_handle(handles[i]);
		try_logger(handles[i]);
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
