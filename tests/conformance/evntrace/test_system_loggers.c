/* SPDX-License-Identifier: MIT */
/*
 * System loggers with real kernel events: several at once, flags that change while they run, and sessions whose flags have
 * no effect. It takes the rights to record the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/host.h"
#include "source/kernel/probe/probe.h"

#define LIMIT_S 1500
#define SKIPPED 77

static const GUID process_class = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID thread_class = {
	0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* What a file has of starts of processes and threads. */
static struct {
	unsigned process_starts, thread_starts, kernel_events;
	ULONG pid;
	unsigned of_pid;
} seen;

static void WINAPI on_record(PEVENT_RECORD record)
{
	bool is_start = record->EventHeader.EventDescriptor.Opcode == EVENT_TRACE_TYPE_START;
	ULONG pid;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &process_class)) {
		seen.kernel_events++;
		seen.process_starts += is_start;
		/* Behind the process' unique key. */
		if (!is_start || record->UserDataLength < 12)
			return;
		memcpy(&pid, (const char *)record->UserData + 8, sizeof(pid));
		seen.of_pid += pid == seen.pid;
	} else if (IsEqualGUID(&record->EventHeader.ProviderId, &thread_class)) {
		seen.kernel_events++;
		seen.thread_starts += is_start;
	}
}

static void read_file(const char *name, pid_t pid)
{
	EVENT_TRACE_LOGFILEA logfile = {0};
	PROCESSTRACE_HANDLE trace;
	char path[512];

	memset(&seen, 0, sizeof(seen));
	seen.pid = (ULONG)pid;
	(void)snprintf(path, sizeof(path), "%s", host_path(name));
	logfile.LogFileName = path;
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = on_record;
	trace = OpenTraceA(&logfile);
	assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static TRACEHANDLE start(const char *name, const char *file, ULONG mode, ULONG flags)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	host_block_init(&block, host_path(file));
	block.properties.LogFileMode |= mode;
	block.properties.EnableFlags = flags;
	assert_int_equal(StartTraceA(&handle, name, &block.properties), ERROR_SUCCESS);
	return handle;
}

static pid_t make_child(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	(void)waitpid(child, NULL, 0);
	return child;
}

/* Each has a source of its own, and each gets every event. */
static void loggers__several_at_once(void **state)
{
	static const struct {
		const char *name, *file;
		ULONG mode;
	} rows[] = {
		{KERNEL_LOGGER_NAMEA, "kernel.etl", 0},
		{"Circular Kernel Context Logger", "context.etl", 0},
		{"one", "one.etl", EVENT_TRACE_SYSTEM_LOGGER_MODE},
		{"two", "two.etl", EVENT_TRACE_SYSTEM_LOGGER_MODE},
	};
	TRACEHANDLE handles[4];
	pid_t child;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		handles[i] = start(rows[i].name, rows[i].file, rows[i].mode,
				   EVENT_TRACE_FLAG_PROCESS);
	child = make_child();
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(host_stop(handles[i]), ERROR_SUCCESS);
	for (size_t i = 0; i < 4; i++) {
		read_file(rows[i].file, child);
		assert_int_equal(seen.of_pid, 1);
	}
}

static void update(TRACEHANDLE handle, ULONG flags)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	block.properties.LogFileMode = 0;
	block.properties.EnableFlags = flags;
	assert_int_equal(UpdateTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	assert_int_equal(block.properties.EnableFlags, flags);
}

/* [MSD] ControlTrace: 0 disables all; else what is wanted from now on. */
static void loggers__flags_change(void **state)
{
	TRACEHANDLE handle = start("changing", "changing.etl", EVENT_TRACE_SYSTEM_LOGGER_MODE, 0);
	pid_t children[4];

	(void)state;
	children[0] = make_child();
	update(handle, EVENT_TRACE_FLAG_PROCESS);
	children[1] = make_child();
	update(handle, 0);
	children[2] = make_child();
	update(handle, EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD);
	children[3] = make_child();
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	for (size_t i = 0; i < 4; i++) {
		read_file("changing.etl", children[i]);
		assert_int_equal(seen.of_pid, i & 1);
	}
	assert_true(seen.thread_starts > 0);
}

static void loggers__flags_of_others_have_no_effect(void **state)
{
	TRACEHANDLE handle = start("plain", "plain.etl", 0, EVENT_TRACE_FLAG_PROCESS);
	pid_t child = make_child();

	(void)state;
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	read_file("plain.etl", child);
	assert_int_equal(seen.kernel_events, 0);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loggers__several_at_once),
		cmocka_unit_test(loggers__flags_change),
		cmocka_unit_test(loggers__flags_of_others_have_no_effect),
	};

	return cmocka_run_group_tests_name("system loggers", tests, NULL, NULL);
}

int main(void)
{
	struct etw_fault fault = {0};

	if (etw_kernel_probe_check(&fault)) {
		printf("skipped: %s\n", fault.sentence);
		return SKIPPED;
	}
	return host_run(run, LIMIT_S);
}
