/* SPDX-License-Identifier: MIT */
/*
 * What two published programs ask of kernel sessions, call by call as they do it: one records the NT Kernel Logger into a
 * circular file of 5 MB until a key is pressed; the other consumes it in real time, prints every property of every event,
 * and goes on with a kernel logger that somebody else has started. They themselves are not part of this project.
 *
 * The first asks for the network's events, which are not built: with these alone StartTrace refuses, and here it asks for
 * others beside them. What its file contains when it has wrapped is tested where files are.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/text.h"
#include "conformance/evntrace/host.h"
#include "conformance/tdh/sample_loop.h"
#include "source/kernel/probe/probe.h"

#define LIMIT_S 1500
#define SKIPPED 77
#define WANTED  20 /* events of processes that are printed before the key is pressed */
#define LOGGER  u"NT Kernel Logger"

#define BUILT_FLAGS \
	(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD)

/* ---- The recorder into a circular file ---- */

/* The structure, the session's name, the file's name: with no byte more than both need. */
static EVENT_TRACE_PROPERTIES *make_block(const char *path, ULONG flags)
{
	size_t units = strlen(path) + 1;
	ULONG bytes = (ULONG)(sizeof(EVENT_TRACE_PROPERTIES) + 2 * units + sizeof(LOGGER));
	EVENT_TRACE_PROPERTIES *block = calloc(1, bytes);
	WCHAR *file;

	assert_non_null(block);
	block->Wnode.BufferSize = bytes;
	block->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block->Wnode.ClientContext = 1;
	block->Wnode.Guid = SystemTraceControlGuid;
	block->EnableFlags = flags;
	block->LogFileMode = EVENT_TRACE_FILE_MODE_CIRCULAR;
	block->MaximumFileSize = 5;
	block->LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
	block->LogFileNameOffset = sizeof(EVENT_TRACE_PROPERTIES) + sizeof(LOGGER);
	file = (WCHAR *)(void *)((char *)block + block->LogFileNameOffset);
	for (size_t i = 0; i < units; i++)
		file[i] = (WCHAR)path[i];
	return block;
}

static pid_t make_child(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	(void)waitpid(child, NULL, 0);
	return child;
}

/* What Linux has no such events of is taken, as on Windows; the file says that nothing comes of it. */
static void programs__registry_alone_is_taken(void **state)
{
	EVENT_TRACE_PROPERTIES *block = make_block(host_path("registry.etl"),
						   EVENT_TRACE_FLAG_REGISTRY);
	TRACEHANDLE session = 0;

	(void)state;
	assert_int_equal(StartTraceW(&session, (LPCWSTR)LOGGER, block), ERROR_SUCCESS);
	assert_int_equal(block->EnableFlags, EVENT_TRACE_FLAG_REGISTRY);
	assert_int_equal(ControlTraceW(session, NULL, block, EVENT_TRACE_CONTROL_STOP),
			 ERROR_SUCCESS);
	free(block);
}

static void programs__circular_recorder(void **state)
{
	EVENT_TRACE_PROPERTIES *block = make_block(host_path("circular.etl"),
						   EVENT_TRACE_FLAG_NETWORK_TCPIP | BUILT_FLAGS);
	TRACEHANDLE session = 0;
	struct stat file;
	ULONG error = StartTraceW(&session, (LPCWSTR)LOGGER, block);

	(void)state;
	if (error == ERROR_NOT_SUPPORTED) { /* KNOWN_GAP: circular files */
		free(block);
		return;
	}
	assert_int_equal(error, ERROR_SUCCESS);
	assert_memory_equal((char *)block + block->LoggerNameOffset, LOGGER, sizeof(LOGGER));
	for (unsigned i = 0; i < WANTED; i++)
		(void)make_child();
	/* With the handle, the name, and the block that StartTrace has filled. */
	assert_int_equal(ControlTraceW(session, (LPCWSTR)LOGGER, block, EVENT_TRACE_CONTROL_STOP),
			 ERROR_SUCCESS);
	assert_true(block->BuffersWritten >= 2);
	assert_int_equal(stat(host_path("circular.etl"), &file), 0);
	assert_true(file.st_size > 0 && file.st_size <= 5 * 1024 * 1024);
	free(block);
}

/* ---- The consumer in real time ---- */

static struct {
	TRACEHANDLE session; /* 0: somebody else's */
	PROCESSTRACE_HANDLE trace;
	EVENT_TRACE_PROPERTIES *block;
	unsigned events, failures; /* atomic */
	ULONG result;
	struct sample_loop loop;
} program;

static void WINAPI on_record(PEVENT_RECORD record)
{
	struct etw_text text = {0};
	bool is_whole;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &EventTraceGuid) &&
	    record->EventHeader.EventDescriptor.Opcode == EVENT_TRACE_TYPE_INFO)
		return;
	/* The program closes the trace at the first event that it cannot print. */
	is_whole = sample_loop_begin(&program.loop, record) == ERROR_SUCCESS;
	for (ULONG i = 0; is_whole && i < program.loop.info->TopLevelPropertyCount; i++)
		is_whole = sample_loop_property(&program.loop, i, &text);
	if (!is_whole) {
		print_message("event %u of version %u is not printed whole\n",
			      (unsigned)record->EventHeader.EventDescriptor.Opcode,
			      (unsigned)record->EventHeader.EventDescriptor.Version);
		store_relaxed(&program.failures, load_relaxed(&program.failures) + 1);
	}
	store_relaxed(&program.events, load_relaxed(&program.events) + 1);
	etw_text_done(&text);
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEW logfile)
{
	(void)logfile;
	return TRUE;
}

static void *process_trace(void *context)
{
	(void)context;
	program.result = ProcessTrace(&program.trace, 1, NULL, NULL);
	return NULL;
}

static void zero_block(void)
{
	ULONG bytes = sizeof(EVENT_TRACE_PROPERTIES) + sizeof(LOGGER);

	memset(program.block, 0, bytes);
	program.block->Wnode.BufferSize = bytes;
	program.block->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	program.block->Wnode.ClientContext = 1;
	program.block->Wnode.Guid = SystemTraceControlGuid;
	program.block->EnableFlags = EVENT_TRACE_FLAG_PROCESS;
	program.block->LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	program.block->FlushTimer = 1;
	program.block->LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
}

/* @is_running: somebody else has the kernel logger; the program then has no handle, and enabling by it fails. */
static void start_program(bool is_running)
{
	EVENT_TRACE_LOGFILEW logfile = {0};
	ULONG error;

	memset(&program, 0, sizeof(program));
	program.block = malloc(sizeof(EVENT_TRACE_PROPERTIES) + sizeof(LOGGER));
	assert_non_null(program.block);
	zero_block();
	error = StartTraceW(&program.session, (LPCWSTR)LOGGER, program.block);
	assert_int_equal(error, is_running ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
	if (is_running)
		assert_int_equal(ControlTraceW(0, (LPCWSTR)LOGGER, program.block,
					       EVENT_TRACE_CONTROL_UPDATE),
				 ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(program.session, &SystemTraceControlGuid,
					EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_VERBOSE, 0,
					0, 0, NULL),
			 is_running ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS);
	logfile.LoggerName = (LPWSTR)LOGGER;
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
	logfile.BufferCallback = on_buffer;
	logfile.EventRecordCallback = on_record;
	program.trace = OpenTraceW(&logfile);
	assert_true(program.trace != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(logfile.IsKernelTrace, 1);
}

/* A key is pressed: close, disable, stop. */
static void stop_program(pthread_t thread)
{
	ULONG error = CloseTrace(program.trace);

	assert_true(error == ERROR_SUCCESS || error == ERROR_CTX_CLOSE_PENDING);
	if (program.session) {
		assert_int_equal(EnableTraceEx2(program.session, &SystemTraceControlGuid,
						EVENT_CONTROL_CODE_DISABLE_PROVIDER,
						TRACE_LEVEL_VERBOSE, 0, 0, 0, NULL),
				 ERROR_SUCCESS);
		assert_int_equal(ControlTraceW(program.session, (LPCWSTR)LOGGER, program.block,
					       EVENT_TRACE_CONTROL_STOP),
				 ERROR_SUCCESS);
	}
	(void)pthread_join(thread, NULL);
	assert_true(program.result == ERROR_SUCCESS || program.result == ERROR_CANCELLED);
	sample_loop_done(&program.loop);
	free(program.block);
}

static void run_program(bool is_running)
{
	pthread_t thread;

	start_program(is_running);
	assert_int_equal(pthread_create(&thread, NULL, process_trace, NULL), 0);
	while (load_relaxed(&program.events) < WANTED) {
		(void)make_child();
		(void)usleep(10000);
	}
	stop_program(thread);
	assert_int_equal(program.failures, 0);
}

static void programs__real_time_consumer(void **state)
{
	(void)state;
	run_program(/* is_running= */ false);
}

/* Another program's logger has other flags and no consumers; the update by name makes it what this one needs. */
static void programs__real_time_consumer_of_a_running_logger(void **state)
{
	struct host_block block;
	TRACEHANDLE other = 0;

	(void)state;
	host_block_init(&block, host_path("other.etl"));
	block.properties.Wnode.Guid = SystemTraceControlGuid;
	block.properties.EnableFlags = EVENT_TRACE_FLAG_THREAD;
	assert_int_equal(StartTraceA(&other, KERNEL_LOGGER_NAMEA, &block.properties),
			 ERROR_SUCCESS);
	run_program(/* is_running= */ true);
	host_block_init(&block, NULL);
	assert_int_equal(QueryTraceA(other, NULL, &block.properties), ERROR_SUCCESS);
	assert_int_equal(block.properties.EnableFlags, EVENT_TRACE_FLAG_PROCESS);
	assert_int_equal(block.properties.LogFileMode & EVENT_TRACE_REAL_TIME_MODE,
			 EVENT_TRACE_REAL_TIME_MODE);
	assert_int_equal(block.properties.FlushTimer, 1);
	assert_int_equal(host_stop(other), ERROR_SUCCESS);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs__registry_alone_is_taken),
		cmocka_unit_test(programs__circular_recorder),
		cmocka_unit_test(programs__real_time_consumer),
		cmocka_unit_test(programs__real_time_consumer_of_a_running_logger),
	};

	return cmocka_run_group_tests_name("published kernel programs", tests, NULL, NULL);
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
