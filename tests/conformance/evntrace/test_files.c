/* SPDX-License-Identifier: MIT */
/*
 * The modes in which files turn over, as a controller sees them: the names that a query returns, BuffersWritten,
 * EVENT_TRACE_CONTROL_INCREMENT_FILE, and UPDATE with another LogFileName. Sources: [MSD] Microsoft's page on
 * ControlTrace and "Logging Mode Constants"; [CONTRACT] docs/format/contract-evntrace.md; [HERE] this implementation's
 * choice where neither says anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "host.h"

#define LIMIT_S 600

static void init_block(struct host_block *block, ULONG mode, const char *file)
{
	host_block_init(block, file ? host_path(file) : NULL);
	block->properties.LogFileMode = mode;
	block->properties.MaximumFileSize = mode ? 5 : 0;
}

static TRACEHANDLE start(ULONG mode, const char *file)
{
	TRACEHANDLE handle = 0;
	struct host_block block;

	init_block(&block, mode, file);
	assert_int_equal(StartTraceA(&handle, "files", &block.properties), ERROR_SUCCESS);
	return handle;
}

static ULONG control(TRACEHANDLE handle, ULONG code, const char *file, struct host_block *block)
{
	init_block(block, 0, file);
	return ControlTraceA(handle, NULL, &block->properties, code);
}

static void expect_file(const struct host_block *block, const char *name)
{
	const char *path = host_path(name);

	assert_string_equal(block->file, path);
	assert_int_equal(access(path, F_OK), 0);
}

/* [MSD] %d is replaced by the number of the file; the control code advances it. */
static void files__a_series_is_incremented(void **state)
{
	TRACEHANDLE handle = start(EVENT_TRACE_FILE_MODE_NEWFILE, "part-%d.etl");
	struct host_block block;

	(void)state;
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_QUERY, NULL, &block), ERROR_SUCCESS);
	expect_file(&block, "part-1.etl");
	/* [CONTRACT] the sequential mode is implied */
	assert_int_equal(block.properties.LogFileMode,
			 EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_INCREMENT_FILE, NULL, &block),
			 ERROR_SUCCESS);
	expect_file(&block, "part-2.etl");
	assert_int_equal(block.properties.BuffersWritten, 1);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_INCREMENT_FILE, NULL, &block),
			 ERROR_SUCCESS);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, NULL, &block), ERROR_SUCCESS);
	expect_file(&block, "part-3.etl");
}

/* [HERE] a session without a series has no next file. */
static void files__only_a_series_is_incremented(void **state)
{
	static const ULONG modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
				      EVENT_TRACE_FILE_MODE_CIRCULAR};
	struct host_block block;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		TRACEHANDLE handle = start(modes[i], "one.etl");

		assert_int_equal(control(handle, EVENT_TRACE_CONTROL_INCREMENT_FILE, NULL, &block),
				 ERROR_INVALID_PARAMETER);
		assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, NULL, &block),
				 ERROR_SUCCESS);
	}
}

/* [HERE] the present file goes on when the next one cannot be made. */
static void files__a_next_file_that_cannot_be_made(void **state)
{
	TRACEHANDLE handle = start(EVENT_TRACE_FILE_MODE_NEWFILE, "hard-%d.etl");
	struct host_block block;

	(void)state;
	assert_int_equal(mkdir(host_path("hard-2.etl"), 0700), 0);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_INCREMENT_FILE, NULL, &block),
			 ERROR_ACCESS_DENIED);
	assert_int_equal(rmdir(host_path("hard-2.etl")), 0);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_INCREMENT_FILE, NULL, &block),
			 ERROR_SUCCESS);
	expect_file(&block, "hard-2.etl");
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, NULL, &block), ERROR_SUCCESS);
}

/* [MSD] a name at LogFileNameOffset switches to that file, and one that does not change it is an error. */
static void files__update_to_another_name(void **state)
{
	TRACEHANDLE handle = start(EVENT_TRACE_FILE_MODE_SEQUENTIAL, "first.etl");
	struct host_block block;

	(void)state;
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_UPDATE, "first.etl", &block),
			 ERROR_ALREADY_EXISTS);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_UPDATE, "none/second.etl", &block),
			 ERROR_PATH_NOT_FOUND);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_UPDATE, "second.etl", &block),
			 ERROR_SUCCESS);
	expect_file(&block, "second.etl");
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, NULL, &block), ERROR_SUCCESS);
	expect_file(&block, "second.etl");
}

/* [HERE] a series goes on as a series, from 1; a name without a place for the number is none. */
static void files__update_of_a_series(void **state)
{
	TRACEHANDLE handle = start(EVENT_TRACE_FILE_MODE_NEWFILE, "old-%d.etl");
	struct host_block block;

	(void)state;
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_UPDATE, "new.etl", &block),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_UPDATE, "new-%d.etl", &block),
			 ERROR_SUCCESS);
	expect_file(&block, "new-1.etl");
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, NULL, &block), ERROR_SUCCESS);
}

/* [MSD] a preallocated file is as long as it may get while the session runs. */
static void files__preallocated(void **state)
{
	TRACEHANDLE handle = start(
		EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_PREALLOCATE, "space.etl");
	struct host_block block;
	struct stat file;

	(void)state;
	assert_int_equal(stat(host_path("space.etl"), &file), 0);
	assert_int_equal(file.st_size, 5 * 1024 * 1024);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, NULL, &block), ERROR_SUCCESS);
	assert_int_equal(stat(host_path("space.etl"), &file), 0);
	assert_int_equal(file.st_size,
			 block.properties.BuffersWritten * block.properties.BufferSize * 1024);
}

static ULONG WINAPI take_buffer(PEVENT_TRACE_LOGFILEA logfile)
{
	(void)logfile;
	return TRUE;
}

/*
 * [MSD] StartTrace: a session is active until the maximum file size is reached, but for circular files. Its providers are
 * disabled then; the file has what it could take, and says what it lacks.
 */
static void files__a_full_file_ends_the_session(void **state)
{
	static const GUID provider = {0xd0c00005, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
	static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	static char payload[1000];
	EVENT_TRACE_LOGFILEA logfile = {0};
	REGHANDLE registration = 0;
	EVENT_DATA_DESCRIPTOR data;
	struct host_block block;
	TRACEHANDLE handle = 0;
	struct stat file;

	(void)state;
	init_block(&block, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
		   "full.etl");
	block.properties.BufferSize = 64;
	block.properties.MaximumFileSize = 256;
	assert_int_equal(StartTraceA(&handle, "files", &block.properties), ERROR_SUCCESS);
	assert_int_equal(EventRegister(&provider, NULL, NULL, &registration), ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0,
					0, 0xFFFFFFFF, NULL),
			 ERROR_SUCCESS);
	EventDataDescCreate(&data, payload, sizeof(payload));
	while (EventProviderEnabled(registration, 4, 0)) {
		for (unsigned i = 0; i < 10; i++)
			(void)EventWrite(registration, &descriptor, 1, &data);
		(void)usleep(1000);
	}
	/* It is still there until its file is closed. */
	while (control(handle, EVENT_TRACE_CONTROL_QUERY, NULL, &block) == ERROR_SUCCESS)
		(void)usleep(1000);
	assert_int_equal(host_stop(handle), ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(EventUnregister(registration), ERROR_SUCCESS);
	assert_int_equal(stat(host_path("full.etl"), &file), 0);
	assert_int_equal(file.st_size, 256 * 1024);
	logfile.LogFileName = (char *)(uintptr_t)host_path("full.etl");
	logfile.BufferCallback = take_buffer;
	handle = OpenTraceA(&logfile);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	assert_true(logfile.LogfileHeader.EndTime.QuadPart != 0);
	assert_true(logfile.LogfileHeader.EventsLost > 0);
	assert_int_equal(logfile.LogfileHeader.BuffersWritten, 4);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files__a_full_file_ends_the_session),
		cmocka_unit_test(files__a_series_is_incremented),
		cmocka_unit_test(files__only_a_series_is_incremented),
		cmocka_unit_test(files__a_next_file_that_cannot_be_made),
		cmocka_unit_test(files__update_to_another_name),
		cmocka_unit_test(files__update_of_a_series),
		cmocka_unit_test(files__preallocated),
	};

	return cmocka_run_group_tests_name("evntrace.h files", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
