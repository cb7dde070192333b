/* SPDX-License-Identifier: MIT */
/*
 * Every documented rule of EVENT_TRACE_PROPERTIES, EVENT_TRACE_PROPERTIES_V2 and ENABLE_TRACE_PARAMETERS that is no error
 * of documented_rows.inc: what a value means, what 0 stands for, what is rounded, and what is written back.
 *
 * Sources: [MSD] the structure's page at Microsoft or the one that is named; [HERE] a decision of this project.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "host.h"

#define LIMIT_S 1500
#define WAITING 0xFFFFFFFF /* INFINITE */

static const GUID provider_guid = {0xd0c00003, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID source_guid = {0xd0c00004, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

/* ---- What StartTrace makes of numbers ---- */

/* A number that is asked for, and what a query says of it then. Processors: the least number of buffers is 2 of each. */
struct number {
	const char *what;
	const char *source;
	ULONG mode;
	size_t offset; /* of the member */
	ULONG given;
	ULONG made; /* of minimum buffers: where it is 2 a processor, PER_CPU */
};

#define PER_CPU       UINT32_MAX
#define MEMBER(field) offsetof(EVENT_TRACE_PROPERTIES, field)
#define REAL_TIME     EVENT_TRACE_REAL_TIME_MODE
#define ONE_STREAM    EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING
#define IN_MS         0x10 /* EVENT_TRACE_USE_MS_FLUSH_TIMER */

static const struct number numbers[] = {
	{"BufferSize is 4 KB at least", "[MSD] BufferSize", REAL_TIME, MEMBER(BufferSize), 1, 4},
	{"BufferSize as given", "[MSD] BufferSize", REAL_TIME, MEMBER(BufferSize), 128, 128},
	{"BufferSize is 16 MB at most", "[MSD] BufferSize", REAL_TIME, MEMBER(BufferSize), 20000,
	 16384},
	{"BufferSize by default", "[HERE] Windows goes by memory", REAL_TIME, MEMBER(BufferSize), 0,
	 64},
	{"MinimumBuffers is 2 a processor", "[MSD] MinimumBuffers", REAL_TIME,
	 MEMBER(MinimumBuffers), 1, PER_CPU},
	{"MinimumBuffers is 2 with one stream", "[MSD] MinimumBuffers", REAL_TIME | ONE_STREAM,
	 MEMBER(MinimumBuffers), 1, 2},
	{"MinimumBuffers as given", "[MSD] MinimumBuffers", REAL_TIME | ONE_STREAM,
	 MEMBER(MinimumBuffers), 30, 30},
	{"MaximumBuffers as given", "[MSD] MaximumBuffers", REAL_TIME | ONE_STREAM,
	 MEMBER(MaximumBuffers), 6, 6},
	{"MaximumBuffers is not below MinimumBuffers", "[MSD] MaximumBuffers",
	 REAL_TIME | ONE_STREAM, MEMBER(MaximumBuffers), 1, 22},
	{"FlushTimer as given", "[MSD] FlushTimer", REAL_TIME, MEMBER(FlushTimer), 7, 7},
	{"FlushTimer of a real-time session is 1 s", "[MSD] FlushTimer", REAL_TIME,
	 MEMBER(FlushTimer), 0, 1},
	{"FlushTimer in ms, too", "[SDK] EVENT_TRACE_USE_MS_FLUSH_TIMER", REAL_TIME | IN_MS,
	 MEMBER(FlushTimer), 0, 1000},
	{"FlushTimer of a file stays 0", "[MSD] FlushTimer", EVENT_TRACE_FILE_MODE_SEQUENTIAL,
	 MEMBER(FlushTimer), 0, 0},
	{"MaximumFileSize may be 0", "[MSD] MaximumFileSize", EVENT_TRACE_FILE_MODE_SEQUENTIAL,
	 MEMBER(MaximumFileSize), 0, 0},
	{"MaximumFileSize in MB", "[MSD] MaximumFileSize", EVENT_TRACE_FILE_MODE_SEQUENTIAL,
	 MEMBER(MaximumFileSize), 3, 3},
	{"AgeLimit is not used", "[MSD] AgeLimit", REAL_TIME, MEMBER(AgeLimit), 15, 15},
	{"EnableFlags are for system loggers", "[MSD] EnableFlags", REAL_TIME, MEMBER(EnableFlags),
	 EVENT_TRACE_FLAG_PROCESS, 0},
	{"EnableFlags of a system logger", "[MSD] EnableFlags",
	 REAL_TIME | EVENT_TRACE_SYSTEM_LOGGER_MODE, MEMBER(EnableFlags),
	 EVENT_TRACE_FLAG_NO_SYSCONFIG, EVENT_TRACE_FLAG_NO_SYSCONFIG},
	{"LogFileMode 0 with a file", "[MSD] LogFileNameOffset", 0, MEMBER(LogFileMode), 0, 0},
};

static ULONG *member(struct host_block *block, size_t offset)
{
	return (ULONG *)(void *)((char *)&block->properties + offset);
}

static void query(TRACEHANDLE handle, struct host_block *block)
{
	host_block_init(block, NULL);
	assert_int_equal(QueryTraceA(handle, NULL, &block->properties), ERROR_SUCCESS);
}

static ULONG least_buffers(void)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	assert_int_equal(host_start("least", NULL, 0, &handle), ERROR_SUCCESS);
	query(handle, &block);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	assert_true(block.properties.MinimumBuffers >= 2 * (ULONG)sysconf(_SC_NPROCESSORS_ONLN));
	return block.properties.MinimumBuffers;
}

static void rules__numbers(void **state)
{
	ULONG least = least_buffers();

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number *row = &numbers[i];
		ULONG wanted = row->made == PER_CPU ? least : row->made;
		struct host_block block;
		TRACEHANDLE handle = 0;
		ULONG error;

		host_block_init(&block, row->mode & REAL_TIME ? NULL : host_path("number.etl"));
		block.properties.LogFileMode = row->mode;
		*member(&block, row->offset) = row->given;
		error = StartTraceA(&handle, "number", &block.properties);
		if (error || *member(&block, row->offset) != wanted)
			fail_msg("%s, %s: error %u, %u", row->what, row->source, error,
				 *member(&block, row->offset));
		query(handle, &block);
		assert_int_equal(*member(&block, row->offset), wanted);
		assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	}
}

/* A published test asks for 5 and 6, and finds them on Windows; so it does here where 5 are enough for all processors. */
static void rules__five_and_six_buffers(void **state)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	(void)state;
	host_block_init(&block, NULL);
	block.properties.LogFileMode |= ONE_STREAM;
	block.properties.MinimumBuffers = 5;
	block.properties.MaximumBuffers = 6;
	assert_int_equal(StartTraceA(&handle, "five", &block.properties), ERROR_SUCCESS);
	assert_int_equal(block.properties.MinimumBuffers, 5);
	assert_int_equal(block.properties.MaximumBuffers, 6);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* ---- Modes that need or exclude something ---- */

static void rules__modes(void **state)
{
	static const struct {
		const char *what;
		ULONG mode, size;
		const char *name, *file;
		ULONG error;
	} rows[] = {
		/* [MSD] MaximumFileSize must be specified */
		{"CIRCULAR wants a size", EVENT_TRACE_FILE_MODE_CIRCULAR, 0, "m", "m.etl",
		 ERROR_INVALID_PARAMETER},
		{"NEWFILE wants a size", EVENT_TRACE_FILE_MODE_NEWFILE, 0, "m", "m%d.etl",
		 ERROR_INVALID_PARAMETER},
		{"PREALLOCATE wants a size", EVENT_TRACE_FILE_MODE_PREALLOCATE, 0, "m", "m.etl",
		 ERROR_INVALID_PARAMETER},
		/* [MSD] Logging Mode Constants: the name is a formatted string */
		{"NEWFILE wants a number", EVENT_TRACE_FILE_MODE_NEWFILE, 1, "m", "m.etl",
		 ERROR_INVALID_NAME},
		{"and one alone", EVENT_TRACE_FILE_MODE_NEWFILE, 1, "m", "m%d%d.etl",
		 ERROR_INVALID_NAME},
		/* [MSD] Logging Mode Constants: not for the kernel's sessions */
		{"NEWFILE of a system logger",
		 EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_SYSTEM_LOGGER_MODE, 1, "m", "m%d.etl",
		 ERROR_INVALID_PARAMETER},
		{"NEWFILE of the kernel logger", EVENT_TRACE_FILE_MODE_NEWFILE, 1,
		 KERNEL_LOGGER_NAMEA, "m%d.etl", ERROR_INVALID_PARAMETER},
		{"paged memory of a system logger",
		 EVENT_TRACE_USE_PAGED_MEMORY | EVENT_TRACE_SYSTEM_LOGGER_MODE |
			 EVENT_TRACE_REAL_TIME_MODE,
		 0, "m", NULL, ERROR_INVALID_PARAMETER},
		{"paged memory of the kernel logger",
		 EVENT_TRACE_USE_PAGED_MEMORY | EVENT_TRACE_REAL_TIME_MODE, 0, KERNEL_LOGGER_NAMEA,
		 NULL, ERROR_INVALID_PARAMETER},
		/* [MSD] Logging Mode Constants: these exclude each other */
		{"both sequences",
		 EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE |
			 EVENT_TRACE_REAL_TIME_MODE,
		 0, "m", NULL, ERROR_INVALID_PARAMETER},
		{"stop and persist",
		 EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN | EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN |
			 EVENT_TRACE_REAL_TIME_MODE,
		 0, "m", NULL, ERROR_INVALID_PARAMETER},
		{"APPEND in real time", EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_REAL_TIME_MODE,
		 0, "m", "m.etl", ERROR_INVALID_PARAMETER},
		{"BUFFERING with a file mode",
		 EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, "m", NULL,
		 ERROR_INVALID_PARAMETER},
		/* [MSD] only supported by AutoLogger */
		{"NONSTOPPABLE", EVENT_TRACE_NONSTOPPABLE_MODE | EVENT_TRACE_REAL_TIME_MODE, 0, "m",
		 NULL, ERROR_INVALID_PARAMETER},
		/* [MSD] all folders in the path must exist */
		{"no such folder", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, "m", "none/m.etl",
		 ERROR_PATH_NOT_FOUND},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct host_block block;
		TRACEHANDLE handle = 0;
		ULONG error;

		host_block_init(&block, rows[i].file ? host_path(rows[i].file) : NULL);
		block.properties.LogFileMode = rows[i].mode;
		block.properties.MaximumFileSize = rows[i].size;
		error = StartTraceA(&handle, rows[i].name, &block.properties);
		if (error != rows[i].error)
			fail_msg("%s: %u, not %u", rows[i].what, error, rows[i].error);
	}
}

/* ---- Names, GUIDs, clocks, handles ---- */

static uint64_t filetime_now(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	return (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100 + 116444736000000000;
}

/* [MSD] StartTrace: the handle is 0 if it is not valid, whatever was wrong. */
static void rules__no_handle(void **state)
{
	struct host_block block;
	TRACEHANDLE handle = 0x1234;

	(void)state;
	assert_int_equal(StartTraceA(&handle, "x", NULL), ERROR_INVALID_PARAMETER);
	assert_true(handle == 0);
	host_block_init(&block, NULL);
	handle = 0x1234;
	assert_int_equal(StartTraceA(&handle, NULL, &block.properties), ERROR_INVALID_NAME);
	assert_true(handle == 0);
	block.properties.LogFileMode = 0;
	handle = 0x1234;
	assert_int_equal(StartTraceA(&handle, "x", &block.properties), ERROR_BAD_PATHNAME);
	assert_true(handle == 0);
	handle = 0x1234;
	assert_int_equal(StartTraceW(&handle, NULL, &block.properties), ERROR_INVALID_NAME);
	assert_true(handle == 0);
}

static void rules__identity(void **state)
{
	const uint64_t before = filetime_now();
	struct host_block block, other;
	TRACEHANDLE handle = 0, second = 0;

	(void)state;
	host_block_init(&block, NULL);
	assert_int_equal(StartTraceA(&handle, "Identity", &block.properties), ERROR_SUCCESS);
	/* [MSD] StartTrace: the name is copied; GUID_NULL has the system make a GUID. */
	assert_string_equal(block.logger, "Identity");
	assert_int_not_equal(block.properties.Wnode.Guid.Data1, 0);
	/* [MSD] WNODE_HEADER: the handle; ClientContext 0 is QPC. */
	assert_true(block.properties.Wnode.HistoricalContext == handle);
	assert_int_equal(block.properties.Wnode.ClientContext, 1);
	/* [MSD] WNODE_HEADER: TimeStamp is when the block was filled in. */
	assert_in_range(block.properties.Wnode.TimeStamp.QuadPart, before, filetime_now());
	/* [MSD] ControlTrace: the handle of a name is in HistoricalContext; names do not depend on case. */
	host_block_init(&other, NULL);
	assert_int_equal(QueryTraceA(0, "IDENTITY", &other.properties), ERROR_SUCCESS);
	assert_true(other.properties.Wnode.HistoricalContext == handle);
	/* [MSD] ControlTrace: the handle is ignored when there is a name. */
	assert_int_equal(host_start("second", NULL, 0, &second), ERROR_SUCCESS);
	host_block_init(&other, NULL);
	assert_int_equal(QueryTraceA(second, "identity", &other.properties), ERROR_SUCCESS);
	assert_true(other.properties.Wnode.HistoricalContext == handle);
	assert_int_equal(QueryTraceA(second, "nobody", &other.properties),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(host_stop(second), ERROR_SUCCESS);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	/* [MSD] StartTrace: the kernel logger's name overrides whatever GUID. */
	host_block_init(&block, NULL);
	block.properties.Wnode.Guid = provider_guid;
	assert_int_equal(StartTraceA(&handle, "nt kernel logger", &block.properties),
			 ERROR_SUCCESS);
	assert_memory_equal(&block.properties.Wnode.Guid, &SystemTraceControlGuid, sizeof(GUID));
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	/* [MSD] WNODE_HEADER: three clocks. */
	for (ULONG clock = 1; clock <= 3; clock++) {
		host_block_init(&block, NULL);
		block.properties.Wnode.ClientContext = clock;
		assert_int_equal(StartTraceA(&handle, "clock", &block.properties), ERROR_SUCCESS);
		assert_int_equal(block.properties.Wnode.ClientContext, clock);
		assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	}
}

/* [MSD] a file beside real time; sequential without a mode; what is written back. */
static void rules__files_and_output(void **state)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	(void)state;
	host_block_init(&block, host_path("both.etl"));
	block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	assert_int_equal(StartTraceA(&handle, "both", &block.properties), ERROR_SUCCESS);
	query(handle, &block);
	assert_string_equal(block.file, host_path("both.etl"));
	assert_true(block.properties.NumberOfBuffers >= block.properties.MinimumBuffers);
	assert_true(block.properties.FreeBuffers <= block.properties.NumberOfBuffers);
	assert_int_equal(block.properties.EventsLost, 0);
	assert_int_equal(block.properties.LogBuffersLost, 0);
	assert_int_equal(block.properties.RealTimeBuffersLost, 0);
	assert_true(block.properties.LoggerThreadId != NULL);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	assert_int_equal(access(host_path("both.etl"), R_OK), 0);
	host_block_init(&block, host_path("none.etl"));
	block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_NONE;
	assert_int_equal(StartTraceA(&handle, "none", &block.properties), ERROR_SUCCESS);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	assert_int_equal(access(host_path("none.etl"), R_OK), 0);
}

/* [MSD] EVENT_TRACE_PROPERTIES_V2 */
static void rules__second_version(void **state)
{
	struct {
		EVENT_TRACE_PROPERTIES_V2 properties;
		char logger[HOST_NAME_UNITS];
	} block;
	PEVENT_TRACE_PROPERTIES first = (PEVENT_TRACE_PROPERTIES)(void *)&block.properties;
	TRACEHANDLE handle = 0;

	(void)state;
	for (UCHAR version = 0; version <= 3; version++) {
		memset(&block, 0, sizeof(block));
		block.properties.Wnode.BufferSize = sizeof(block);
		block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID |
					       WNODE_FLAG_VERSIONED_PROPERTIES;
		block.properties.LoggerNameOffset = sizeof(block.properties);
		block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
		block.properties.VersionNumber = version;
		assert_int_equal(StartTraceA(&handle, "v2", first),
				 version == 2 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER);
		if (version != 2)
			continue;
		assert_string_equal(block.logger, "v2");
		assert_int_equal(QueryTraceA(0, "v2", first), ERROR_SUCCESS);
		assert_int_equal(StopTraceA(handle, NULL, first), ERROR_SUCCESS);
	}
	/* [MSD] without the flag the rest of the structure is room for names */
	block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block.properties.LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
	assert_int_equal(StartTraceA(&handle, "v1", first), ERROR_SUCCESS);
	assert_int_equal(StopTraceA(handle, NULL, first), ERROR_SUCCESS);
}

/* [MSD] ControlTrace, EVENT_TRACE_CONTROL_UPDATE: what 0 keeps, and what it does not. */
static void rules__update(void **state)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	(void)state;
	host_block_init(&block, NULL);
	block.properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	block.properties.EnableFlags = EVENT_TRACE_FLAG_NO_SYSCONFIG;
	block.properties.FlushTimer = 5;
	block.properties.MaximumBuffers = 600;
	assert_int_equal(StartTraceA(&handle, "updated", &block.properties), ERROR_SUCCESS);
	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	assert_int_equal(UpdateTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	assert_int_equal(block.properties.FlushTimer, 5);
	assert_int_equal(block.properties.MaximumBuffers, 600);
	assert_int_equal(block.properties.EnableFlags, 0); /* 0 disables */
	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	block.properties.FlushTimer = 9;
	block.properties.MaximumBuffers = 700;
	block.properties.EnableFlags = EVENT_TRACE_FLAG_NO_SYSCONFIG;
	assert_int_equal(UpdateTraceA(handle, NULL, &block.properties), ERROR_SUCCESS);
	query(handle, &block);
	assert_int_equal(block.properties.FlushTimer, 9);
	assert_int_equal(block.properties.MaximumBuffers, 700);
	assert_int_equal(block.properties.EnableFlags, EVENT_TRACE_FLAG_NO_SYSCONFIG);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	/* EnableFlags may be non-zero only for system loggers. */
	assert_int_equal(host_start("plain", NULL, 0, &handle), ERROR_SUCCESS);
	host_block_init(&block, NULL);
	block.properties.LogFileNameOffset = 0;
	block.properties.EnableFlags = EVENT_TRACE_FLAG_PROCESS;
	assert_int_equal(UpdateTraceA(handle, NULL, &block.properties), ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* ---- What EnableTraceEx2 tells a provider ---- */

static struct {
	GUID source;
	ULONG calls, code;
	UCHAR level;
	ULONGLONG any, all;
	ULONG filter_type, filter_bytes;
} told;

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)context;
	told.source = *source;
	told.code = code;
	told.level = level;
	told.any = any;
	told.all = all;
	told.filter_type = filter ? filter->Type : 0;
	told.filter_bytes = filter ? filter->Size : 0;
	told.calls++;
}

static ULONG enable(TRACEHANDLE handle, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		    PENABLE_TRACE_PARAMETERS parameters)
{
	memset(&told, 0, sizeof(told));
	return EnableTraceEx2(handle, &provider_guid, code, level, any, all, WAITING, parameters);
}

static void rules__enabling(void **state)
{
	static const GUID none;
	static char data[5];
	EVENT_FILTER_DESCRIPTOR filter = {(ULONGLONG)(ULONG_PTR)data, sizeof(data),
					  EVENT_FILTER_TYPE_SCHEMATIZED};
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					      .SourceId = source_guid};
	REGHANDLE registration = 0;
	TRACEHANDLE handle = 0;

	(void)state;
	assert_int_equal(host_start("enabling", NULL, 0, &handle), ERROR_SUCCESS);
	assert_int_equal(EventRegister(&provider_guid, on_enable, NULL, &registration),
			 ERROR_SUCCESS);
	/* [MSD] EnableTraceEx2: with a timeout the callback has run when it returns. */
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 6, 2, &parameters),
			 ERROR_SUCCESS);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.level, 4);
	assert_true(told.any == 6 && told.all == 2);
	assert_memory_equal(&told.source, &source_guid, sizeof(GUID));
	/* [MSD] ENABLE_TRACE_PARAMETERS: one descriptor; of version 1 without a count. */
	parameters.EnableFilterDesc = &filter;
	parameters.FilterDescCount = 1;
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 6, 2, &parameters),
			 ERROR_SUCCESS);
	assert_int_equal(told.filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
	assert_int_equal(told.filter_bytes, sizeof(data));
	parameters.FilterDescCount = 0;
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 6, 2, &parameters),
			 ERROR_SUCCESS);
	assert_int_equal(told.filter_type, 0); /* a count of 0 takes the filter away */
	parameters.Version = ENABLE_TRACE_PARAMETERS_VERSION;
	parameters.FilterDescCount = 77;
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 6, 2, &parameters),
			 ERROR_SUCCESS);
	assert_int_equal(told.filter_bytes, sizeof(data));
	/* [MSD] ControlFlags is reserved. */
	parameters = (ENABLE_TRACE_PARAMETERS){.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					       .ControlFlags = 1};
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 6, 2, &parameters),
			 ERROR_SUCCESS);
	/* [MSD] EnableTraceEx2: asks for the state, and changes nothing. */
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_CAPTURE_STATE);
	assert_true(EventProviderEnabled(registration, 4, 6));
	/* [MSD] EnableTraceEx2: again, to change level and keywords; keyword 0 stands for all. */
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 2, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_false(EventProviderEnabled(registration, 4, 6));
	assert_true(EventProviderEnabled(registration, 2, 0x8000));
	assert_true(told.any == UINT64_MAX);
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_false(EventProviderEnabled(registration, 1, 0));
	/* [MSD] EnableTrace: Enable is a truth value. It waits for nothing; what is asked for behind it, and waits, does. */
	assert_int_equal(EnableTrace(2, 6, 4, &provider_guid, handle), ERROR_SUCCESS);
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_true(EventProviderEnabled(registration, 4, 2));
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	/* [HERE] what is not enabled need not be disabled */
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(EventUnregister(registration), ERROR_SUCCESS);
	/* [MSD] EnableTraceEx2: who registers later is called then, without the source. */
	parameters.SourceId = source_guid;
	assert_int_equal(enable(handle, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 3, 1, 0, &parameters),
			 ERROR_SUCCESS);
	assert_int_equal(EventRegister(&provider_guid, on_enable, NULL, &registration),
			 ERROR_SUCCESS);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.level, 3);
	assert_memory_equal(&told.source, &none, sizeof(GUID));
	/* [MSD] the provider stays enabled until the session ends */
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	assert_false(EventProviderEnabled(registration, 1, 1));
	assert_int_equal(EventUnregister(registration), ERROR_SUCCESS);
}

/* [HERE] as a published program has it: on a system logger it succeeds and changes nothing. */
static void rules__enabling_the_kernel(void **state)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	(void)state;
	assert_int_equal(host_start("kernel", NULL, EVENT_TRACE_SYSTEM_LOGGER_MODE, &handle),
			 ERROR_SUCCESS);
	for (ULONG code = 0; code <= EVENT_CONTROL_CODE_CAPTURE_STATE; code++)
		assert_int_equal(EnableTraceEx2(handle, &SystemTraceControlGuid, code,
						TRACE_LEVEL_VERBOSE, 0, 0, 100, NULL),
				 ERROR_SUCCESS);
	query(handle, &block);
	assert_int_equal(block.properties.EnableFlags, 0);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	assert_int_equal(host_start("plain", NULL, 0, &handle), ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(handle, &SystemTraceControlGuid,
					EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_VERBOSE, 0,
					0, 0, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules__numbers),
		cmocka_unit_test(rules__five_and_six_buffers),
		cmocka_unit_test(rules__modes),
		cmocka_unit_test(rules__no_handle),
		cmocka_unit_test(rules__identity),
		cmocka_unit_test(rules__files_and_output),
		cmocka_unit_test(rules__second_version),
		cmocka_unit_test(rules__update),
		cmocka_unit_test(rules__enabling),
		cmocka_unit_test(rules__enabling_the_kernel),
	};

	return cmocka_run_group_tests_name("documented rules of controllers", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
