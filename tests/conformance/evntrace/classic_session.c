/* SPDX-License-Identifier: MIT */
#include "conformance/evntrace/classic_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <winerror.h>

#include "conformance/evntrace/host.h"
#include "conformance/evntrace/waiting.h"

static const GUID control = {0x7c1f0a31, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};

static const GUID lost_event_guid = {
	0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

static ULONG WINAPI hear(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	struct classic_session *session = context;

	(void)bytes;
	if (code == WMI_ENABLE_EVENTS)
		__atomic_store_n(&session->logger, GetTraceLoggerHandle(buffer), __ATOMIC_RELEASE);
	return ERROR_SUCCESS;
}

void classic_session_start(struct classic_session *session, const char *file, ULONG mode,
			   ULONG buffer_kib, TRACE_GUID_REGISTRATION *classes, ULONG class_count)
{
	struct host_block block;

	*session = (struct classic_session){.file = file};
	host_block_init(&block, host_path(file));
	block.properties.BufferSize = buffer_kib;
	block.properties.LogFileMode |= mode;
	assert_int_equal(StartTraceA(&session->session, file, &block.properties), ERROR_SUCCESS);
	assert_int_equal(RegisterTraceGuidsA(hear, session, &control, class_count, classes, NULL,
					     NULL, &session->provider),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 1, 5, &control, session->session), ERROR_SUCCESS);
	WAIT_UNTIL(__atomic_load_n(&session->logger, __ATOMIC_ACQUIRE));
}

/* The caller's callback, without the host's own events: the file's header, and that events were lost. */
static void WINAPI hand_on(PEVENT_RECORD record)
{
	const PEVENT_RECORD_CALLBACK callback = *(PEVENT_RECORD_CALLBACK *)record->UserContext;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &EventTraceGuid) &&
	    !IsEqualGUID(&record->EventHeader.ProviderId, &lost_event_guid))
		callback(record);
}

ULONG classic_session_stop(struct classic_session *session, PEVENT_RECORD_CALLBACK callback)
{
	EVENT_TRACE_LOGFILEA log = {
		.LogFileName = (LPSTR)(uintptr_t)host_path(session->file),
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = hand_on,
		.Context = &callback,
	};
	TRACEHANDLE trace;

	assert_int_equal(UnregisterTraceGuids(session->provider), ERROR_SUCCESS);
	assert_int_equal(host_stop(session->session), ERROR_SUCCESS);
	trace = OpenTraceA(&log);
	assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
	return log.LogfileHeader.EventsLost;
}
