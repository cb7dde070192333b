/* SPDX-License-Identifier: MIT */
/*
 * Every pair of a controller function and an error that Microsoft documents for it (documented_errors.tsv), and every
 * cause that the page names. One thing is out of order in each row. Functions with W and A forms are called by A; what
 * differs between the two is in test_controller.c and test_sessions.c.
 *
 * Sources: [MSD] the function's page at Microsoft, with the words of the cause; [DERIVED] no page says it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
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
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "conformance/evntrace/host.h"
#include "conformance/evntrace/rows.h"

#define LIMIT_S      1500
#define SESSIONS     64
#define FIXED_PLACES 2 /* of the 8 places for system loggers */

static const GUID provider_guid = {0xd0c00001, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID session_guid = {0xd0c00002, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

/* The session that most rows are about; it runs all the time, with this GUID. */
#define SESSION_NAME "documented"
static TRACEHANDLE session;

/* ---- StartTrace ---- */

static ULONG start(const char *name, struct host_block *block)
{
	TRACEHANDLE handle = 0;
	ULONG error = StartTraceA(&handle, name, &block->properties);

	if (!error)
		(void)host_stop(handle);
	return error;
}

static ULONG start_in_small_block(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.Wnode.BufferSize = sizeof(block.properties) - 1;
	return start("x", &block);
}

static ULONG start_without_room_for_the_name(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	block.properties.Wnode.BufferSize = offsetof(struct host_block, logger) + 3;
	return start("longer", &block);
}

static ULONG start_without_properties(void)
{
	TRACEHANDLE handle;

	return StartTraceA(&handle, "x", NULL);
}

static ULONG start_without_handle(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	return StartTraceA(NULL, "x", &block.properties);
}

static ULONG start_with_bad_file_offset(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = sizeof(block);
	return start("x", &block);
}

static ULONG start_with_bad_name_offset(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LoggerNameOffset = 8;
	return start("x", &block);
}

static ULONG start_with_names_in_one_place(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LoggerNameOffset = block.properties.LogFileNameOffset;
	return start("x", &block);
}

static ULONG start_with_a_name_in_the_file_name(void)
{
	struct host_block block;

	host_block_init(&block, host_path("x.etl"));
	block.properties.LoggerNameOffset = block.properties.LogFileNameOffset + 2;
	return start("x", &block);
}

static ULONG start_with_half_a_character(void)
{
	static const WCHAR name[] = {0xD800, 'x', 0};
	struct host_block block;
	TRACEHANDLE handle = 0;
	ULONG error;

	host_block_init(&block, NULL);
	error = StartTraceW(&handle, name, &block.properties);
	if (!error)
		(void)host_stop(handle);
	return error;
}

static ULONG start_with_contradicting_modes(void)
{
	struct host_block block;

	host_block_init(&block, host_path("x.etl"));
	block.properties.LogFileMode |= EVENT_TRACE_FILE_MODE_CIRCULAR;
	block.properties.MaximumFileSize = 1;
	return start("x", &block);
}

static ULONG start_with_the_kernels_guid(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.Wnode.Guid = SystemTraceControlGuid;
	return start("x", &block);
}

static ULONG start_with_a_name_in_use(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	return start("DOCUMENTED", &block);
}

static ULONG start_with_a_guid_in_use(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.Wnode.Guid = session_guid;
	return start("x", &block);
}

static ULONG start_two_kernel_loggers(void)
{
	struct host_block block;
	TRACEHANDLE first = 0;
	ULONG error = host_start(KERNEL_LOGGER_NAMEA, NULL, 0, &first);

	if (error)
		return error;
	host_block_init(&block, NULL);
	error = start(KERNEL_LOGGER_NAMEA, &block);
	(void)host_stop(first);
	return error;
}

static ULONG start_with_a_file_in_use(void)
{
	struct host_block block;
	TRACEHANDLE first = 0;
	ULONG error;

	host_block_init(&block, host_path("used.etl"));
	error = StartTraceA(&first, "first", &block.properties);
	if (error)
		return error;
	host_block_init(&block, host_path("used.etl"));
	error = start("second", &block);
	(void)host_stop(first);
	return error;
}

static ULONG start_with_neither_mode_nor_file(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileMode = 0;
	block.properties.LogFileNameOffset = 0;
	return start("x", &block);
}

static ULONG start_with_a_file_larger_than_the_disk(void)
{
	struct host_block block;

	host_block_init(&block, host_path("huge.etl"));
	block.properties.MaximumFileSize = UINT32_MAX;
	return start("x", &block);
}

static ULONG start_as_stranger(void *context)
{
	TRACEHANDLE handle;

	return host_start(context, NULL, 0, &handle);
}

static ULONG start_without_the_right(void)
{
	return host_as_stranger(start_as_stranger, (void *)"stranger's");
}

static ULONG start_the_kernel_logger_without_the_right(void)
{
	return host_as_stranger(start_as_stranger, (void *)KERNEL_LOGGER_NAMEA);
}

/* Starts sessions until it fails, and ends them. */
static ULONG start_many(ULONG mode, unsigned most)
{
	TRACEHANDLE handles[SESSIONS + 1] = {0};
	char name[32];
	ULONG error = ERROR_SUCCESS;
	unsigned count = 0;

	while (!error && count < most) {
		(void)snprintf(name, sizeof(name), "many-%u", count);
		error = host_start(name, NULL, mode, &handles[count]);
		count += !error;
	}
	if (error && count + 1 != most)
		error = ERROR_GEN_FAILURE; /* too early */
	while (count > 0)
		(void)host_stop(handles[--count]);
	return error;
}

static ULONG start_too_many(void)
{
	return start_many(0, SESSIONS); /* and SESSION_NAME */
}

static ULONG start_too_many_system_loggers(void)
{
	return start_many(EVENT_TRACE_SYSTEM_LOGGER_MODE, 8 - FIXED_PLACES + 1);
}

/* ---- ControlTrace and the functions that are one code of it each ---- */

typedef ULONG (*control_function)(TRACEHANDLE handle, LPCSTR name, PEVENT_TRACE_PROPERTIES block);

static ULONG control_query(TRACEHANDLE handle, LPCSTR name, PEVENT_TRACE_PROPERTIES block)
{
	return ControlTraceA(handle, name, block, EVENT_TRACE_CONTROL_QUERY);
}

enum cause {
	SMALL_BLOCK,
	NO_PROPERTIES,
	NO_SESSION,
	NO_HANDLE,
	BAD_FILE_OFFSET,
	BAD_NAME_OFFSET,
	KERNELS_GUID,
	NOT_RUNNING,
	NO_ROOM,
};

static ULONG control(control_function function, enum cause cause)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	switch (cause) {
	case SMALL_BLOCK:
		block.properties.Wnode.BufferSize = sizeof(block.properties) - 1;
		break;
	case NO_PROPERTIES:
		return function(session, NULL, NULL);
	case NO_SESSION:
		return function(0, NULL, &block.properties);
	case NO_HANDLE:
		return function(INVALID_PROCESSTRACE_HANDLE, NULL, &block.properties);
	case BAD_FILE_OFFSET:
		block.properties.LogFileNameOffset = sizeof(block) + 1;
		break;
	case BAD_NAME_OFFSET:
		block.properties.LoggerNameOffset = sizeof(block.properties) - 1;
		break;
	case KERNELS_GUID:
		block.properties.Wnode.Guid = SystemTraceControlGuid;
		return function(0, SESSION_NAME, &block.properties);
	case NOT_RUNNING:
		return function(0, "nobody", &block.properties);
	case NO_ROOM:
		block.properties.Wnode.BufferSize = offsetof(struct host_block, logger) + 2;
		break;
	}
	return function(session, NULL, &block.properties);
}

#define CONTROL(stem, function)                                    \
	static ULONG stem##_small_block(void)                      \
	{                                                          \
		return control(function, SMALL_BLOCK);             \
	}                                                          \
	static ULONG stem##_no_properties(void)                    \
	{                                                          \
		return control(function, NO_PROPERTIES);           \
	}                                                          \
	static ULONG stem##_no_session(void)                       \
	{                                                          \
		return control(function, NO_SESSION);              \
	}                                                          \
	static ULONG stem##_no_handle(void)                        \
	{                                                          \
		return control(function, NO_HANDLE);               \
	}                                                          \
	static ULONG stem##_as(void *context)                      \
	{                                                          \
		struct host_block block;                           \
                                                                   \
		(void)context;                                     \
		host_block_init(&block, NULL);                     \
		block.properties.LogFileNameOffset = 0;            \
		return function(session, NULL, &block.properties); \
	}                                                          \
	static ULONG stem##_without_the_right(void)                \
	{                                                          \
		return without_the_right(stem##_as);               \
	}

/* Another user may do something with the session, and not this. */
static ULONG allow(ULONG rights, BOOLEAN is_allowed)
{
	struct {
		UCHAR revision, count, authority[6];
		ULONG subs[2];
	} sid = {1, 2, {0, 0, 0, 0, 0, 22}, {1, HOST_STRANGER}};
	GUID guid = session_guid;

	return EventAccessControl(&guid, EventSecurityAddDACL, &sid, rights, is_allowed);
}

static ULONG without_the_right(ULONG (*call)(void *context))
{
	GUID guid = session_guid;
	ULONG error = allow(TRACELOG_ACCESS_REALTIME, TRUE);

	if (!error)
		error = host_as_stranger(call, NULL);
	(void)EventAccessRemove(&guid);
	return error;
}

CONTROL(control, control_query)
CONTROL(stop, StopTraceA)
CONTROL(query, QueryTraceA)
CONTROL(flush, FlushTraceA)
CONTROL(update, UpdateTraceA)

static ULONG control_bad_file_offset(void)
{
	return control(control_query, BAD_FILE_OFFSET);
}

static ULONG control_bad_name_offset(void)
{
	return control(control_query, BAD_NAME_OFFSET);
}

static ULONG control_kernels_guid(void)
{
	return control(control_query, KERNELS_GUID);
}

static ULONG control_not_running(void)
{
	return control(control_query, NOT_RUNNING);
}

static ULONG control_no_room(void)
{
	return control(control_query, NO_ROOM);
}

static ULONG update_with_contradicting_modes(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_CIRCULAR |
				       EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	return ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE);
}

static ULONG control_names_in_one_place(void)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = block.properties.LoggerNameOffset;
	return ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY);
}

static ULONG control_bad_code(void)
{
	return host_control(session, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME + 1);
}

static ULONG query_not_running(void)
{
	return control(QueryTraceA, NOT_RUNNING);
}

static ULONG update_bad_file_offset(void)
{
	return control(UpdateTraceA, BAD_FILE_OFFSET);
}

static ULONG update_bad_name_offset(void)
{
	return control(UpdateTraceA, BAD_NAME_OFFSET);
}

/* Two sessions with files; the first is to go on in the file of the second. */
static ULONG update_to_a_file_in_use(void)
{
	struct host_block block;
	TRACEHANDLE handles[2] = {0};
	ULONG error;

	host_block_init(&block, host_path("one.etl"));
	error = StartTraceA(&handles[0], "one", &block.properties);
	host_block_init(&block, host_path("two.etl"));
	error = error ? error : StartTraceA(&handles[1], "two", &block.properties);
	if (!error) {
		host_block_init(&block, host_path("two.etl"));
		error = ControlTraceA(handles[0], NULL, &block.properties,
				      EVENT_TRACE_CONTROL_UPDATE);
	}
	(void)host_stop(handles[1]);
	(void)host_stop(handles[0]);
	return error;
}

/* A process that is stopped cannot say that it writes no more: the session's end waits for it for a while. */
static pid_t make_stopped_provider(void)
{
	int ends[2];
	char word = 0;
	pid_t child;

	if (pipe(ends))
		return -1;
	child = fork();
	if (!child) {
		REGHANDLE registration;

		if (EventRegister(&provider_guid, NULL, NULL, &registration))
			_exit(1);
		if (write(ends[1], &word, 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	close(ends[1]);
	if (read(ends[0], &word, 1) != 1)
		word = 1;
	close(ends[0]);
	if (child > 0)
		(void)kill(child, SIGSTOP);
	return child;
}

static void *stop_in_thread(void *context)
{
	(void)host_stop(*(TRACEHANDLE *)context);
	return NULL;
}

static ULONG stop_what_is_stopping(void)
{
	TRACEHANDLE handle = 0;
	pthread_t thread;
	ULONG error = host_start("stopping", NULL, 0, &handle);
	pid_t child = make_stopped_provider();

	if (error || child < 0 ||
	    EnableTraceEx2(handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0,
			   NULL) ||
	    pthread_create(&thread, NULL, stop_in_thread, &handle))
		return ERROR_GEN_FAILURE;
	/* Until the thread's call has begun, a query says nothing special. */
	do {
		(void)usleep(1000);
		error = host_control(handle, EVENT_TRACE_CONTROL_FLUSH);
	} while (error == ERROR_SUCCESS);
	if (error == ERROR_ACTIVE_CONNECTIONS)
		error = host_stop(handle);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)pthread_join(thread, NULL);
	return error;
}

/* ---- QueryAllTraces ---- */

static ULONG query_all(PEVENT_TRACE_PROPERTIES *blocks, ULONG count)
{
	ULONG found = 0;

	return QueryAllTracesA(blocks, count, &found);
}

static ULONG query_all_into_nothing(void)
{
	return query_all(NULL, 1);
}

static ULONG query_all_into_no_blocks(void)
{
	struct host_block block;
	PEVENT_TRACE_PROPERTIES blocks[] = {&block.properties};

	host_block_init(&block, NULL);
	return query_all(blocks, 0);
}

static ULONG query_all_into_too_many(void)
{
	static struct host_block block;
	static PEVENT_TRACE_PROPERTIES blocks[257];

	host_block_init(&block, NULL);
	for (size_t i = 0; i < 257; i++)
		blocks[i] = &block.properties;
	return query_all(blocks, 257);
}

static ULONG query_all_without_room(void)
{
	struct host_block block;
	PEVENT_TRACE_PROPERTIES blocks[] = {&block.properties};
	TRACEHANDLE second = 0;
	ULONG error = host_start("second", NULL, 0, &second);

	host_block_init(&block, NULL);
	error = error ? error : query_all(blocks, 1);
	(void)host_stop(second);
	return error;
}

/* ---- EnableTrace, EnableTraceEx, EnableTraceEx2 ---- */

typedef ULONG (*enable_function)(TRACEHANDLE handle, const GUID *provider);

static ULONG enable(TRACEHANDLE handle, const GUID *provider)
{
	return EnableTrace(TRUE, 1, TRACE_LEVEL_VERBOSE, provider, handle);
}

static ULONG enable_ex(TRACEHANDLE handle, const GUID *provider)
{
	return EnableTraceEx(provider, NULL, handle, TRUE, TRACE_LEVEL_VERBOSE, 1, 0, 0, NULL);
}

static ULONG enable_ex2(TRACEHANDLE handle, const GUID *provider)
{
	return EnableTraceEx2(handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
			      TRACE_LEVEL_VERBOSE, 1, 0, 0, NULL);
}

/* The ninth session that wants the same provider. */
static ULONG fail_at_the_ninth(enable_function function)
{
	TRACEHANDLE handles[9] = {0};
	ULONG error = ERROR_SUCCESS;
	char name[32];
	unsigned count = 0;

	for (; !error && count < 9; count++) {
		(void)snprintf(name, sizeof(name), "nine-%u", count);
		error = host_start(name, NULL, 0, &handles[count]);
		error = error ? error : function(handles[count], &provider_guid);
	}
	if (error && count != 9)
		error = ERROR_GEN_FAILURE; /* too early */
	while (count > 0)
		(void)host_stop(handles[--count]);
	return error;
}

/* Its level changes while nobody has registered it. */
static ULONG enable_unregistered_twice(enable_function function)
{
	ULONG error = function(session, &provider_guid);

	error = error ? error : function(session, &provider_guid);
	(void)EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0,
			     0, NULL);
	return error;
}

#define ENABLE(function)                                    \
	static ULONG function##_no_handle(void)             \
	{                                                   \
		return function(0, &provider_guid);         \
	}                                                   \
	static ULONG function##_no_provider(void)           \
	{                                                   \
		return function(session, NULL);             \
	}                                                   \
	static ULONG function##_nine(void)                  \
	{                                                   \
		return fail_at_the_ninth(function);         \
	}                                                   \
	static ULONG function##_unregistered(void)          \
	{                                                   \
		return enable_unregistered_twice(function); \
	}                                                   \
	static ULONG function##_as(void *context)           \
	{                                                   \
		(void)context;                              \
		return function(session, &provider_guid);   \
	}                                                   \
	static ULONG function##_without_the_right(void)     \
	{                                                   \
		return without_the_right(function##_as);    \
	}

ENABLE(enable)
ENABLE(enable_ex)
ENABLE(enable_ex2)

static ULONG enable_with_a_slow_callback(void)
{
	pid_t child = make_stopped_provider();
	ULONG error;

	if (child < 0)
		return ERROR_GEN_FAILURE;
	error = EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
			       /* Timeout= */ 20, NULL);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0,
			     0, NULL);
	return error;
}

static ULONG access_without_room(void)
{
	GUID guid = session_guid;
	UCHAR buffer[4];
	ULONG bytes = sizeof(buffer);

	return EventAccessQuery(&guid, buffer, &bytes);
}

static const struct row rows[] = {
#include "documented_rows.inc"
};

static void documented__errors(void **state)
{
	(void)state;
	assert_int_equal(host_start(SESSION_NAME, &session_guid, 0, &session), ERROR_SUCCESS);
	rows_check(rows, sizeof(rows) / sizeof(rows[0]));
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documented__errors),
	};

	return cmocka_run_group_tests_name("documented errors of controllers", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
