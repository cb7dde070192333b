/* SPDX-License-Identifier: MIT */
/*
 * Private sessions in the process that starts them (EVENT_TRACE_PRIVATE_IN_PROC): how they are started, controlled and found.
 * Sources: as in private_session.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/private_session.h"

/* [MSD] the session runs in this process, and needs nothing else. */
static void private__one_session(void **state)
{
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handle = private_start("one", 0, "one.etl");
	struct private_contents contents;

	(void)state;
	assert_false(EventProviderEnabled(provider, PRIVATE_LEVEL, 0x10));
	private_write_number(provider, 1000000); /* nobody wants it */
	private_enable(handle, &private_provider_guid);
	assert_true(EventProviderEnabled(provider, PRIVATE_LEVEL, 0x10));
	for (uint32_t i = 1; i <= 100; i++)
		private_write_number(provider, i);
	private_stop(handle);
	assert_false(EventProviderEnabled(provider, PRIVATE_LEVEL, 0x10));
	private_write_number(provider, 1000000);
	contents = private_read_file("one.etl");
	assert_int_equal(contents.count, 100);
	assert_int_equal(contents.sum, 5050);
	assert_int_equal(contents.events_lost, 0);
	assert_int_equal(contents.process_id, getpid());
	assert_true(contents.log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE);
	assert_int_equal(contents.flags & EVENT_HEADER_FLAG_PRIVATE_SESSION,
			 EVENT_HEADER_FLAG_PRIVATE_SESSION); /* [MSD] EVENT_HEADER */
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] three sessions in a process with PRIVATE_IN_PROC; [HERE] the code is that of too many sessions. */
static void private__three_in_a_process(void **state)
{
	TRACEHANDLE handles[3], fourth = 1;
	struct private_block block;

	(void)state;
	handles[0] = private_start("a", 0, "a.etl");
	handles[1] = private_start("b", 0, "b.etl");
	/* A name is taken whatever its case. */
	assert_int_equal(private_start_as("B", 0, "c.etl", &block, &fourth), ERROR_ALREADY_EXISTS);
	assert_int_equal(fourth, 0);
	handles[2] = private_start("c", 0, "c.etl");
	assert_int_equal(private_start_as("d", 0, "d.etl", &block, &fourth),
			 ERROR_NO_SYSTEM_RESOURCES);
	for (int i = 0; i < 3; i++)
		private_stop(handles[i]);
	private_stop(private_start("d", 0, "d.etl"));
}

/* [MSD] "Logging Mode Constants": what excludes what. */
static void private__modes(void **state)
{
	static const struct {
		ULONG mode, error;
	} rows[] = {
		{EVENT_TRACE_REAL_TIME_MODE, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_INDEPENDENT_SESSION_MODE, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_FILE_MODE_PREALLOCATE, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_RELOG_MODE, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, ERROR_INVALID_PARAMETER},
		{EVENT_TRACE_FILE_MODE_NEWFILE, ERROR_INVALID_NAME},
		{EVENT_TRACE_USE_PAGED_MEMORY, ERROR_SUCCESS}, /* "ignored" */
		{EVENT_TRACE_FILE_MODE_SEQUENTIAL, ERROR_SUCCESS},
		{EVENT_TRACE_FILE_MODE_CIRCULAR, ERROR_SUCCESS},
		{EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, ERROR_SUCCESS},
		{EVENT_TRACE_SECURE_MODE, ERROR_SUCCESS},
	};
	struct private_block block;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		TRACEHANDLE handle = 0;

		private_init_block(&block, PRIVATE_IN_PROC | rows[i].mode, "mode.etl");
		block.properties.MaximumFileSize = 1;
		assert_int_equal(StartTraceA(&handle, "mode", &block.properties), rows[i].error);
		if (handle)
			private_stop(handle);
	}
	/* PRIVATE_IN_PROC alone is nothing. */
	private_init_block(&block, EVENT_TRACE_PRIVATE_IN_PROC, "mode.etl");
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_INVALID_PARAMETER);
	/* Without a file it writes nowhere. */
	private_init_block(&block, PRIVATE_IN_PROC, NULL);
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_BAD_PATHNAME);
	private_init_block(&block, PRIVATE_IN_PROC, "none/mode.etl");
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_PATH_NOT_FOUND);
	/* [MSD] of a private session the GUID is the provider's */
	private_init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, "mode.etl");
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_INVALID_PARAMETER);
}

/* [MSD] ControlTrace: query, flush, update of LogFileName and FlushTimer. */
static void private__is_controlled(void **state)
{
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handle = private_start("controlled", 0, "first.etl");
	struct private_block block;

	(void)state;
	private_enable(handle, &private_provider_guid);
	private_write_number(provider, 1);
	assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_QUERY, &block), ERROR_SUCCESS);
	assert_string_equal(block.logger, "controlled");
	assert_string_equal(block.file, private_path_of("first.etl"));
	assert_int_equal(block.properties.LogFileMode & PRIVATE_IN_PROC, PRIVATE_IN_PROC);
	assert_int_equal(block.properties.Wnode.HistoricalContext, handle);
	assert_true(block.properties.LoggerThreadId != NULL);
	/* A flush leaves a file that can be read while the session goes on. */
	assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_FLUSH, &block), ERROR_SUCCESS);
	assert_int_equal(private_read_file("first.etl").count, 1);
	private_write_number(provider, 2);
	private_init_block(&block, 0, "second.etl");
	block.properties.FlushTimer = 7;
	block.properties.MaximumBuffers = 1000; /* not of a private session's */
	assert_int_equal(ControlTraceA(handle, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE),
			 ERROR_SUCCESS);
	assert_int_equal(block.properties.FlushTimer, 7);
	assert_true(block.properties.MaximumBuffers < 1000);
	private_write_number(provider, 3);
	private_stop(handle);
	assert_int_equal(private_read_file("first.etl").sum, 3);
	assert_int_equal(private_read_file("second.etl").sum, 3);
	/* Nothing is left of it. */
	assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_QUERY, &block),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(
		EnableTraceEx2(handle, &private_provider_guid, 1, PRIVATE_LEVEL, 0, 0, 0, NULL),
		ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] by name the block says which kind of session is meant. */
static void private__by_name(void **state)
{
	TRACEHANDLE handle = private_start("named", 0, "named.etl");
	struct private_block block;

	(void)state;
	private_init_block(&block, 0, NULL);
	assert_int_equal(ControlTraceA(0, "named", &block.properties, EVENT_TRACE_CONTROL_QUERY),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	private_init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, NULL);
	assert_int_equal(ControlTraceA(0, "NAMED", &block.properties, EVENT_TRACE_CONTROL_QUERY),
			 ERROR_SUCCESS);
	assert_int_equal(block.properties.Wnode.HistoricalContext, handle);
	/* By the GUID that the session was given. */
	block.properties.LogFileMode = 0;
	assert_int_equal(ControlTraceA(0, "named", &block.properties, EVENT_TRACE_CONTROL_STOP),
			 ERROR_SUCCESS);
}

/* [MSD] QueryAllTraces does not list private sessions. */
static void private__is_not_listed(void **state)
{
	TRACEHANDLE handle = private_start("hidden", 0, "hidden.etl");
	PEVENT_TRACE_PROPERTIES blocks[1];
	struct private_block block;
	ULONG count = 1;

	(void)state;
	private_init_block(&block, 0, NULL);
	blocks[0] = &block.properties;
	assert_int_equal(QueryAllTracesA(blocks, 1, &count), ERROR_SUCCESS);
	assert_int_equal(count, 0);
	private_stop(handle);
}

/* [HERE] without PRIVATE_IN_PROC it is in all processes of the provider, for which there has to be a host. */
static void private__of_all_processes(void **state)
{
	TRACEHANDLE handle = 0;
	struct private_block block;

	(void)state;
	private_init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, "own.etl");
	block.properties.Wnode.Guid = private_provider_guid;
	assert_int_not_equal(StartTraceA(&handle, "own", &block.properties), ERROR_SUCCESS);
	assert_int_equal(handle, 0);
	private_init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, NULL);
	assert_int_equal(ControlTraceA(0, "own", &block.properties, EVENT_TRACE_CONTROL_STOP),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(private__one_session),
		cmocka_unit_test(private__three_in_a_process),
		cmocka_unit_test(private__modes),
		cmocka_unit_test(private__is_controlled),
		cmocka_unit_test(private__by_name),
		cmocka_unit_test(private__is_not_listed),
		cmocka_unit_test(private__of_all_processes),
	};

	return cmocka_run_group_tests(tests, private_make_folder, private_remove_folder);
}
