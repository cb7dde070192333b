/* SPDX-License-Identifier: MIT */
/*
 * Private sessions in the process that starts them (EVENT_TRACE_PRIVATE_IN_PROC), for the tests of them: no host is there,
 * and none can be started. Failures end the running test.
 *
 * Sources of the tests: [MSD] Microsoft's pages "Configuring and Starting a Private Logger Session", "Logging Mode
 * Constants", StartTrace, ControlTrace and EVENT_HEADER; [HERE] this implementation's choice where they say nothing.
 */
#ifndef ETW_TESTS_CONFORMANCE_EVNTRACE_PRIVATE_SESSION_H
#define ETW_TESTS_CONFORMANCE_EVNTRACE_PRIVATE_SESSION_H

#include <stdint.h>

#include <evntprov.h>
#include <evntrace.h>

#define PRIVATE_NAME_CHARS 1024
#define PRIVATE_LEVEL      4
#define PRIVATE_IN_PROC    (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)

extern const GUID private_provider_guid, private_other_guid;
extern const EVENT_DESCRIPTOR private_event; /* of PRIVATE_LEVEL and the keyword 0x10 */

/* The properties of a session and the two names behind them. */
struct private_block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[PRIVATE_NAME_CHARS];
	char file[PRIVATE_NAME_CHARS];
};

/* What a file says when it is read through the API. */
struct private_contents {
	uint32_t count;   /* events of private_provider_guid */
	uint64_t sum;     /* of their numbers */
	uint32_t classic; /* events of private_other_guid */
	ULONG log_file_mode, events_lost, buffers_lost;
	ULONG flags; /* of all events of private_provider_guid, or-ed */
	ULONG process_id;
};

/* What a provider's callback was told last, and how often it was called. */
struct private_told {
	ULONG code, calls;
	UCHAR level;
	ULONGLONG any;
	REGHANDLE provider;
	TRACEHANDLE session; /* not 0: to be stopped by the callback */
};

/* Setup and teardown of a group of tests: the folder of the files. */
int private_make_folder(void **state);
int private_remove_folder(void **state);

/* The path of a file in the folder, until the next call. */
const char *private_path_of(const char *name);

/* @file: in the folder; NULL: none is named. */
void private_init_block(struct private_block *block, ULONG mode, const char *file);

/* @mode: what is added to PRIVATE_IN_PROC. Returns what StartTrace() does. */
ULONG private_start_as(const char *name, ULONG mode, const char *file, struct private_block *block,
		       TRACEHANDLE *ret);
TRACEHANDLE private_start(const char *name, ULONG mode, const char *file);

/* Returns what ControlTrace() does. */
ULONG private_control(TRACEHANDLE handle, ULONG code, struct private_block *block);
void private_stop(TRACEHANDLE handle);

/* At PRIVATE_LEVEL, all keywords. */
void private_enable(TRACEHANDLE handle, const GUID *provider);
REGHANDLE private_register(const GUID *provider);

/* Registers private_provider_guid; @told is filled in until it is unregistered. */
REGHANDLE private_register_with(struct private_told *told);

/* Writes private_event with @number as its data. */
void private_write_number(REGHANDLE handle, uint32_t number);

/* @name: of a file in the folder. */
struct private_contents private_read_file(const char *name);

#endif
