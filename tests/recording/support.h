/* SPDX-License-Identifier: MIT */
/*
 * What the end-to-end recording tests share: a host of their own, a session, and the way through a
 * recorded file. Through the public API, as a Windows program would. Errors end the program.
 */
#ifndef ETW_TESTS_RECORDING_SUPPORT_H
#define ETW_TESTS_RECORDING_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#include "recording/wait.h"

#define TEST_SKIPPED 77

struct recording {
	TRACEHANDLE handle;
	struct {
		EVENT_TRACE_PROPERTIES properties;
		char name[256];
		char file[1024];
	} block;
};

struct recording_options {
	const char *name;
	const char *file; /* NULL: none */
	ULONG mode;
	ULONG buffer_kib;
	ULONG buffers; /* MinimumBuffers and MaximumBuffers */
	ULONG kernel_flags;
	ULONG flush_timer; /* as EVENT_TRACE_PROPERTIES.FlushTimer */
	ULONG clock;       /* ClientContext; 0: QPC */
	ULONG maximum_mib; /* MaximumFileSize; 0: none */
};

/*
 * test_home() - a new folder, removed at exit, that every uid may read; ETW_RUNTIME_DIR points into it,
 * and the host started by the first call leaves soon after the last session.
 */
const char *test_home(void);

/* recording_start() - StartTrace. */
void recording_start(struct recording *recording, const struct recording_options *options);

/* recording_enable() - EnableTraceEx2 with everything, waiting for callbacks. */
void recording_enable(struct recording *recording, const GUID *provider);

/*
 * recording_register() - EventRegister of a provider that is enabled, or is about to be, and waits until it is.
 *
 * @callback: NULL: none
 */
REGHANDLE recording_register(const GUID *provider, PENABLECALLBACK callback, void *context);

/* recording_control() - ControlTrace; the properties are in recording->block afterwards. */
void recording_control(struct recording *recording, ULONG code);

/* recording_read() - every event of a file to @callback, as ProcessTrace gives it. Returns EventsLost. */
ULONG recording_read(const char *file, PEVENT_RECORD_CALLBACK callback, void *context);

/*
 * recording_check_order() - each processor's events never run back in the file, in a circular one from
 * its oldest buffer on; returns all events.
 */
uint64_t recording_check_order(const char *file);

/* is_kernel_shut() - says why the kernel cannot be recorded here, and returns true, or returns false. */
bool is_kernel_shut(void);

/* process_status() - a number of /proc/PID/status, by its key with the colon; 0: it is not there. */
pid_t process_status(pid_t pid, const char *key);

/*
 * recording_host() - which process hosts the session that @recording was last queried for: the logger thread is one
 * of its threads. Its keeper is its parent. 0: there is none any more.
 */
pid_t recording_host(const struct recording *recording);

/* recording_is_alive() - whether a process runs, or stands; not one that has ended and was not waited for. */
bool recording_is_alive(pid_t pid);

/* The processes of the tests' host. */
struct recording_processes {
	pid_t keeper, standby, host; /* 0: none */
};

/* recording_processes() - which they are now; all 0 where there never was a host. */
struct recording_processes recording_processes(void);

/* recording_await_standby() - the same, as soon as all three are there. */
struct recording_processes recording_await_standby(void);

/* recording_kill_all() - SIGKILL for all of them at once, so that nothing of a session is left. */
void recording_kill_all(void);

#endif
