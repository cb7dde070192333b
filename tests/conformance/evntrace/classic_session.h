/* SPDX-License-Identifier: MIT */
/* A session with a file, and a classic provider of this program that it has enabled. Failures end the running test. */
#ifndef ETW_TESTS_CONFORMANCE_EVNTRACE_CLASSIC_SESSION_H
#define ETW_TESTS_CONFORMANCE_EVNTRACE_CLASSIC_SESSION_H

#include <evntcons.h>
#include <evntrace.h>

struct classic_session {
	TRACEHANDLE session, provider;
	TRACEHANDLE logger; /* atomic; what events are written to */
	const char *file;
};

/*
 * classic_session_start() - waits until the provider is enabled.
 *
 * @file:    in the host's folder, and the session's name
 * @classes: their handles are filled in
 */
void classic_session_start(struct classic_session *session, const char *file, ULONG mode,
			   ULONG buffer_kib, TRACE_GUID_REGISTRATION *classes, ULONG class_count);

/*
 * classic_session_stop() - unregisters, stops, and hands every event of the file to the callback, but for the file's own.
 *
 * Returns how many events the session says are lost.
 */
ULONG classic_session_stop(struct classic_session *session, PEVENT_RECORD_CALLBACK callback);

#endif
