/* SPDX-License-Identifier: MIT */
/* A host of its own for a program of tests: a folder for it, small sessions, calls as another user, and the end of all. */
#ifndef ETW_TESTS_CONFORMANCE_EVNTRACE_HOST_H
#define ETW_TESTS_CONFORMANCE_EVNTRACE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <evntrace.h>

#define HOST_NAME_UNITS 256
#define HOST_STRANGER   70001 /* a uid that may do nothing by default */

struct host_block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[HOST_NAME_UNITS];
	char file[HOST_NAME_UNITS];
};

/* host_block_init() - of a real-time session; with @file of one that writes there. */
void host_block_init(struct host_block *block, const char *file);

/* host_path() - a file in the host's folder. Static. */
const char *host_path(const char *name);

/* host_start() - a real-time session. Returns the result of StartTraceA(). @guid: NULL: the host makes one */
ULONG host_start(const char *name, const GUID *guid, ULONG mode, TRACEHANDLE *ret);

/* host_stop() - ends a session. */
ULONG host_stop(TRACEHANDLE handle);

/* host_control() - ControlTraceA() by handle. */
ULONG host_control(TRACEHANDLE handle, ULONG code);

/* host_as_stranger() - what a call returns in a process of HOST_STRANGER's. Only for root. */
ULONG host_as_stranger(ULONG (*call)(void *context), void *context);

/* host_is_root() - whether there can be another user. Says on stderr that a test is skipped where not. */
bool host_is_root(void);

/*
 * host_run() - makes the folder, calls @tests in a child, and ends what is left, also of tests that crash or hang.
 *
 * @limit_s: of all tests together
 *
 * Returns the exit status.
 */
int host_run(int (*tests)(void), unsigned limit_s);

#endif
