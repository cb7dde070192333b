/* SPDX-License-Identifier: MIT */
/*
 * Private sessions in the process that starts them (EVENT_TRACE_PRIVATE_IN_PROC): no host is there, and none can be
 * started. Sources: [MSD] Microsoft's pages "Configuring and Starting a Private Logger Session", "Logging Mode Constants",
 * StartTrace, ControlTrace and EVENT_HEADER; [HERE] this implementation's choice where they say nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#define NAME_UNITS 1024
#define LEVEL      4

static const GUID provider_guid = {
	0x7d1f3a52, 0x0c11, 0x4e6e, {0x9b, 0x52, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66}};
static const GUID other_guid = {
	0x7d1f3a53, 0x0c11, 0x4e6e, {0x9b, 0x52, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66}};
static const EVENT_DESCRIPTOR event = {.Id = 7, .Level = LEVEL, .Keyword = 0x10};

static char folder[256];

struct block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[NAME_UNITS];
	char file[NAME_UNITS];
};

static const char *path_of(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void init_block(struct block *block, ULONG mode, const char *file)
{
	*block = (struct block){
		.properties =
			{
				.Wnode.BufferSize = sizeof(*block),
				.Wnode.Flags = WNODE_FLAG_TRACED_GUID,
				.Wnode.ClientContext = 1,
				.BufferSize = 16,
				.MinimumBuffers = 4,
				.LogFileMode = mode,
				.LoggerNameOffset = offsetof(struct block, logger),
				.LogFileNameOffset = offsetof(struct block, file),
			},
	};
	if (file)
		(void)snprintf(block->file, sizeof(block->file), "%s", path_of(file));
}

#define IN_PROC (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)

static ULONG start_as(const char *name, ULONG mode, const char *file, struct block *block,
		      TRACEHANDLE *ret)
{
	init_block(block, IN_PROC | mode, file);
	if (mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE))
		block->properties.MaximumFileSize = 1;
	return StartTraceA(ret, name, &block->properties);
}

static TRACEHANDLE start(const char *name, ULONG mode, const char *file)
{
	struct block block;
	TRACEHANDLE handle = 0;

	assert_int_equal(start_as(name, mode, file, &block, &handle), ERROR_SUCCESS);
	assert_true(handle != 0);
	return handle;
}

static ULONG control(TRACEHANDLE handle, ULONG code, struct block *block)
{
	init_block(block, 0, NULL);
	return ControlTraceA(handle, NULL, &block->properties, code);
}

static void stop(TRACEHANDLE handle)
{
	struct block block;

	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, &block), ERROR_SUCCESS);
}

static void enable(TRACEHANDLE handle, const GUID *provider)
{
	assert_int_equal(EnableTraceEx2(handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, LEVEL,
					0, 0, 0, NULL),
			 ERROR_SUCCESS);
}

static REGHANDLE registered(const GUID *provider)
{
	REGHANDLE handle = 0;

	assert_int_equal(EventRegister(provider, NULL, NULL, &handle), ERROR_SUCCESS);
	return handle;
}

static void write_number(REGHANDLE handle, uint32_t number)
{
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &number, sizeof(number));
	assert_int_equal(EventWrite(handle, &event, 1, &data), ERROR_SUCCESS);
}

/* What a file says when it is read through the API. */
struct contents {
	uint32_t count; /* events of our providers */
	uint64_t sum;   /* of their numbers */
	uint32_t classic;
	ULONG log_file_mode, events_lost, buffers_lost;
	ULONG flags; /* of all events, or-ed */
	ULONG process_id;
};

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct contents *contents = record->UserContext;
	uint32_t number = 0;

	if (memcmp(&record->EventHeader.ProviderId, &provider_guid, sizeof(GUID)) == 0) {
		if (record->UserDataLength >= sizeof(number))
			memcpy(&number, record->UserData, sizeof(number));
		contents->count++;
		contents->sum += number;
		contents->flags |= record->EventHeader.Flags;
		contents->process_id = record->EventHeader.ProcessId;
	} else if (memcmp(&record->EventHeader.ProviderId, &other_guid, sizeof(GUID)) == 0) {
		contents->classic++;
	}
}

static struct contents read_path(const char *path)
{
	struct contents contents = {0};
	EVENT_TRACE_LOGFILEA file = {
		.LogFileName = (char *)(uintptr_t)path,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = on_event,
		.Context = &contents,
	};
	TRACEHANDLE handle = OpenTraceA(&file);

	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	contents.log_file_mode = file.LogfileHeader.LogFileMode;
	contents.events_lost = file.LogfileHeader.EventsLost;
	contents.buffers_lost = file.LogfileHeader.BuffersLost;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	return contents;
}

static struct contents read_file(const char *name)
{
	return read_path(path_of(name));
}

/* [MSD] the session runs in this process, and needs nothing else. */
static void private__one_session(void **state)
{
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handle = start("one", 0, "one.etl");
	struct contents contents;

	(void)state;
	assert_false(EventProviderEnabled(provider, LEVEL, 0x10));
	write_number(provider, 1000000); /* nobody wants it */
	enable(handle, &provider_guid);
	assert_true(EventProviderEnabled(provider, LEVEL, 0x10));
	for (uint32_t i = 1; i <= 100; i++)
		write_number(provider, i);
	stop(handle);
	assert_false(EventProviderEnabled(provider, LEVEL, 0x10));
	write_number(provider, 1000000);
	contents = read_file("one.etl");
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
	struct block block;

	(void)state;
	handles[0] = start("a", 0, "a.etl");
	handles[1] = start("b", 0, "b.etl");
	/* A name is taken whatever its case. */
	assert_int_equal(start_as("B", 0, "c.etl", &block, &fourth), ERROR_ALREADY_EXISTS);
	assert_int_equal(fourth, 0);
	handles[2] = start("c", 0, "c.etl");
	assert_int_equal(start_as("d", 0, "d.etl", &block, &fourth), ERROR_NO_SYSTEM_RESOURCES);
	for (int i = 0; i < 3; i++)
		stop(handles[i]);
	stop(start("d", 0, "d.etl"));
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
	struct block block;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		TRACEHANDLE handle = 0;

		init_block(&block, IN_PROC | rows[i].mode, "mode.etl");
		block.properties.MaximumFileSize = 1;
		assert_int_equal(StartTraceA(&handle, "mode", &block.properties), rows[i].error);
		if (handle)
			stop(handle);
	}
	/* PRIVATE_IN_PROC alone is nothing. */
	init_block(&block, EVENT_TRACE_PRIVATE_IN_PROC, "mode.etl");
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_INVALID_PARAMETER);
	/* Without a file it writes nowhere. */
	init_block(&block, IN_PROC, NULL);
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_BAD_PATHNAME);
	init_block(&block, IN_PROC, "none/mode.etl");
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_PATH_NOT_FOUND);
	/* [MSD] of a private session the GUID is the provider's */
	init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, "mode.etl");
	assert_int_equal(StartTraceA(&(TRACEHANDLE){0}, "mode", &block.properties),
			 ERROR_INVALID_PARAMETER);
}

/* [MSD] ControlTrace: query, flush, update of LogFileName and FlushTimer. */
static void private__is_controlled(void **state)
{
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handle = start("controlled", 0, "first.etl");
	struct block block;

	(void)state;
	enable(handle, &provider_guid);
	write_number(provider, 1);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_QUERY, &block), ERROR_SUCCESS);
	assert_string_equal(block.logger, "controlled");
	assert_string_equal(block.file, path_of("first.etl"));
	assert_int_equal(block.properties.LogFileMode & IN_PROC, IN_PROC);
	assert_int_equal(block.properties.Wnode.HistoricalContext, handle);
	assert_true(block.properties.LoggerThreadId != NULL);
	/* A flush leaves a file that can be read while the session goes on. */
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_FLUSH, &block), ERROR_SUCCESS);
	assert_int_equal(read_file("first.etl").count, 1);
	write_number(provider, 2);
	init_block(&block, 0, "second.etl");
	block.properties.FlushTimer = 7;
	block.properties.MaximumBuffers = 1000; /* not of a private session's */
	assert_int_equal(ControlTraceA(handle, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE),
			 ERROR_SUCCESS);
	assert_int_equal(block.properties.FlushTimer, 7);
	assert_true(block.properties.MaximumBuffers < 1000);
	write_number(provider, 3);
	stop(handle);
	assert_int_equal(read_file("first.etl").sum, 3);
	assert_int_equal(read_file("second.etl").sum, 3);
	/* Nothing is left of it. */
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_QUERY, &block),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(EnableTraceEx2(handle, &provider_guid, 1, LEVEL, 0, 0, 0, NULL),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] by name the block says which kind of session is meant. */
static void private__by_name(void **state)
{
	TRACEHANDLE handle = start("named", 0, "named.etl");
	struct block block;

	(void)state;
	init_block(&block, 0, NULL);
	assert_int_equal(ControlTraceA(0, "named", &block.properties, EVENT_TRACE_CONTROL_QUERY),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
	init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, NULL);
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
	TRACEHANDLE handle = start("hidden", 0, "hidden.etl");
	PEVENT_TRACE_PROPERTIES blocks[1];
	struct block block;
	ULONG count = 1;

	(void)state;
	init_block(&block, 0, NULL);
	blocks[0] = &block.properties;
	assert_int_equal(QueryAllTracesA(blocks, 1, &count), ERROR_SUCCESS);
	assert_int_equal(count, 0);
	stop(handle);
}

/* What a callback was told last, and how often. */
struct told {
	ULONG code, calls;
	UCHAR level;
	ULONGLONG any;
	REGHANDLE provider;
	TRACEHANDLE session; /* not 0: to be stopped by the callback */
};

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct told *told = context;

	(void)source;
	(void)all;
	(void)filter;
	told->code = code;
	told->level = level;
	told->any = any;
	told->calls++;
	if (told->session) {
		TRACEHANDLE session = told->session;

		told->session = 0;
		stop(session);
	}
}

static REGHANDLE registered_with(struct told *told)
{
	assert_int_equal(EventRegister(&provider_guid, on_enable, told, &told->provider),
			 ERROR_SUCCESS);
	return told->provider;
}

/* [MSD] EnableTraceEx2: the callback hears of level, keywords and capture state. */
static void private__callbacks(void **state)
{
	ENABLE_TRACE_PARAMETERS of_group = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
	};
	struct told told = {0};
	REGHANDLE provider = registered_with(&told);
	TRACEHANDLE first = start("first", 0, "a.etl"), second = start("second", 0, "b.etl");

	(void)state;
	assert_int_equal(told.calls, 0);
	assert_int_equal(EnableTraceEx2(first, &provider_guid, 1, 2, 0x10, 0, 0, NULL), 0);
	/* [MSD] Provider Traits: private sessions cannot control groups. */
	assert_int_equal(EnableTraceEx2(first, &provider_guid, 1, 2, 0x10, 0, 0, &of_group),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.level, 2);
	assert_true(told.any == 0x10);
	assert_int_equal(EnableTraceEx2(second, &provider_guid, 1, 5, 0x20, 0, 0, NULL), 0);
	assert_int_equal(told.level, 5); /* of all sessions together */
	assert_true(told.any == 0x30);
	assert_int_equal(EnableTraceEx2(first, &provider_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0,
					0, 0, 0, NULL),
			 0);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_CAPTURE_STATE);
	stop(second);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.level, 2);
	/* A callback may do what a program may. */
	told.session = first;
	assert_int_equal(EnableTraceEx2(first, &provider_guid, 1, 3, 0x10, 0, 0, NULL), 0);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] since version 1703 a provider need not be registered when it is enabled. */
static void private__enabled_before_it_is_registered(void **state)
{
	TRACEHANDLE handle = start("early", 0, "early.etl");
	struct told told = {0};
	REGHANDLE provider;

	(void)state;
	enable(handle, &provider_guid);
	provider = registered_with(&told);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.level, LEVEL);
	write_number(provider, 5);
	stop(handle);
	assert_int_equal(read_file("early.etl").sum, 5);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [HERE] four private sessions can have a provider; of PRIVATE_IN_PROC there are three at most. */
static void private__every_session_gets_its_own(void **state)
{
	static const char *const names[3] = {"x.etl", "y.etl", "z.etl"};
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handles[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		handles[i] = start(names[i], 0, names[i]);
		enable(handles[i], &provider_guid);
		write_number(provider, 1);
	}
	for (int i = 0; i < 3; i++)
		stop(handles[i]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_file(names[i]).count, 3 - i);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void write_many(REGHANDLE provider, uint32_t count, uint32_t *ret_lost)
{
	static const char text[1000] = "text";
	EVENT_DATA_DESCRIPTOR data[2];

	for (uint32_t i = 0; i < count; i++) {
		ULONG error;

		EventDataDescCreate(&data[0], &i, sizeof(i));
		EventDataDescCreate(&data[1], text, sizeof(text));
		error = EventWrite(provider, &event, 2, data);
		assert_true(error == ERROR_SUCCESS || error == ERROR_NOT_ENOUGH_MEMORY);
		*ret_lost += error != ERROR_SUCCESS;
	}
}

static off_t size_of(const char *name)
{
	struct stat status;

	return stat(path_of(name), &status) ? -1 : status.st_size;
}

/* [MSD] a circular file keeps its size, and the newest events. */
static void private__circular(void **state)
{
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handle = start("circular", EVENT_TRACE_FILE_MODE_CIRCULAR, "circular.etl");
	uint32_t lost = 0;
	struct block block;

	(void)state;
	enable(handle, &provider_guid);
	write_many(provider, 3000, &lost);
	assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, &block), ERROR_SUCCESS);
	assert_int_equal(block.properties.EventsLost, lost);
	assert_true(size_of("circular.etl") <= 1024 * 1024);
	assert_in_range(read_file("circular.etl").count, 1, 1100);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] a series of files. */
static void private__series(void **state)
{
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handle = start("series", EVENT_TRACE_FILE_MODE_NEWFILE, "series-%d.etl");
	uint32_t lost = 0, found = 0;
	char name[64];

	(void)state;
	enable(handle, &provider_guid);
	write_many(provider, 3000, &lost);
	stop(handle);
	for (int i = 1;; i++) {
		(void)snprintf(name, sizeof(name), "series-%d.etl", i);
		if (size_of(name) < 0)
			break;
		found += read_file(name).count;
	}
	assert_true(size_of("series-2.etl") > 0);
	assert_int_equal(found + lost, 3000);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] a sequential file stops at its greatest size, and the session with it. */
static void private__full(void **state)
{
	struct told told = {0};
	REGHANDLE provider = registered_with(&told);
	TRACEHANDLE handle = 0;
	struct block block;
	uint32_t lost = 0;

	(void)state;
	init_block(&block, IN_PROC | EVENT_TRACE_FILE_MODE_SEQUENTIAL, "full.etl");
	block.properties.MaximumFileSize = 1;
	assert_int_equal(StartTraceA(&handle, "full", &block.properties), ERROR_SUCCESS);
	enable(handle, &provider_guid);
	write_many(provider, 3000, &lost);
	while (EventProviderEnabled(provider, LEVEL, 0x10))
		(void)usleep(1000);
	while (control(handle, EVENT_TRACE_CONTROL_QUERY, &block) == ERROR_SUCCESS)
		(void)usleep(1000);
	assert_true(size_of("full.etl") <= 1024 * 1024);
	while (((volatile struct told *)&told)->code != EVENT_CONTROL_CODE_DISABLE_PROVIDER)
		(void)usleep(1000);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] a session that keeps its buffers in memory until a flush names a file. */
static void private__buffering(void **state)
{
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handle = 0;
	struct block block;

	(void)state;
	init_block(&block, IN_PROC | EVENT_TRACE_BUFFERING_MODE, NULL);
	block.properties.LogFileNameOffset = 0;
	assert_int_equal(StartTraceA(&handle, "memory", &block.properties), ERROR_SUCCESS);
	enable(handle, &provider_guid);
	write_number(provider, 9);
	init_block(&block, 0, "memory.etl");
	assert_int_equal(ControlTraceA(handle, NULL, &block.properties, EVENT_TRACE_CONTROL_FLUSH),
			 ERROR_SUCCESS);
	stop(handle);
	assert_int_equal(read_file("memory.etl").sum, 9);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [HERE] without PRIVATE_IN_PROC it is in all processes of the provider, for which there has to be a host. */
static void private__of_all_processes(void **state)
{
	TRACEHANDLE handle = 0;
	struct block block;

	(void)state;
	init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, "own.etl");
	block.properties.Wnode.Guid = provider_guid;
	assert_int_not_equal(StartTraceA(&handle, "own", &block.properties), ERROR_SUCCESS);
	assert_int_equal(handle, 0);
	init_block(&block, EVENT_TRACE_PRIVATE_LOGGER_MODE, NULL);
	assert_int_equal(ControlTraceA(0, "own", &block.properties, EVENT_TRACE_CONTROL_STOP),
			 ERROR_WMI_INSTANCE_NOT_FOUND);
}

/* [HERE] the file of a program that is killed has what was written to it. */
static void private__killed(void **state)
{
	pid_t child = fork();
	struct contents contents;
	int status = 0;

	(void)state;
	if (child == 0) {
		REGHANDLE provider = registered(&provider_guid);
		TRACEHANDLE handle = start("killed", 0, "killed.etl");
		struct block block;

		enable(handle, &provider_guid);
		write_number(provider, 30);
		assert_int_equal(control(handle, EVENT_TRACE_CONTROL_FLUSH, &block), ERROR_SUCCESS);
		write_number(provider, 31);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	contents = read_file("killed.etl");
	assert_int_equal(contents.sum, 30);
	/* Nobody holds the file any more. */
	stop(start("killed", 0, "killed.etl"));
}

/* Where a classic provider's callback puts the session that it writes to. */
static ULONG WINAPI on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *reserved, PVOID buffer)
{
	TRACEHANDLE *session = context;

	(void)reserved;
	*session = code == WMI_ENABLE_EVENTS ? GetTraceLoggerHandle(buffer) : 0;
	return ERROR_SUCCESS;
}

static ULONG write_classic(TRACEHANDLE session)
{
	struct {
		EVENT_TRACE_HEADER header;
		uint32_t number;
	} written = {
		.header = {.Size = sizeof(written),
			   .Class.Type = 1,
			   .Guid = other_guid,
			   .Flags = WNODE_FLAG_TRACED_GUID},
		.number = 3,
	};

	return TraceEvent(session, &written.header);
}

/* [MSD] a classic provider is one session's: the last that enabled it. */
static void private__classic_provider(void **state)
{
	TRACEHANDLE session = 0, registration = 0;
	TRACEHANDLE first = start("first", 0, "first.etl"),
		    second = start("second", 0, "second.etl");
	TRACE_GUID_REGISTRATION class = {.Guid = &other_guid};

	(void)state;
	assert_int_equal(RegisterTraceGuidsA(on_control, &session, &provider_guid, 1, &class, NULL,
					     NULL, &registration),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 0x55, 3, &provider_guid, first), ERROR_SUCCESS);
	assert_int_equal(GetTraceEnableFlags(session), 0x55);
	assert_int_equal(GetTraceEnableLevel(session), 3);
	assert_int_equal(write_classic(session), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 0x66, 4, &provider_guid, second), ERROR_SUCCESS);
	assert_int_equal(GetTraceEnableFlags(session), 0x66);
	assert_int_equal(write_classic(session), ERROR_SUCCESS);
	assert_int_equal(write_classic(session), ERROR_SUCCESS);
	stop(first);
	stop(second);
	assert_true(session == 0);
	assert_int_equal(read_file("first.etl").classic, 1);
	assert_int_equal(read_file("second.etl").classic, 2);
	assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

struct writer {
	REGHANDLE provider;
	uint32_t written;
	uint32_t is_over;
};

static void *write_until_over(void *context)
{
	struct writer *writer = context;

	while (!__atomic_load_n(&writer->is_over, __ATOMIC_ACQUIRE)) {
		if (EventWrite(writer->provider, &event, 0, NULL) == ERROR_SUCCESS)
			writer->written++;
	}
	return NULL;
}

/* Threads write on while sessions come and go; the account of each holds. */
static void private__stopped_while_writing(void **state)
{
	struct writer writer = {.provider = registered(&provider_guid)};
	struct block block;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_until_over, &writer), 0);
	for (int i = 0; i < 20; i++) {
		TRACEHANDLE handle = start("busy", 0, "busy.etl");
		struct contents contents;

		enable(handle, &provider_guid);
		assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP, &block), ERROR_SUCCESS);
		contents = read_file("busy.etl");
		assert_int_equal(contents.events_lost, block.properties.EventsLost);
	}
	__atomic_store_n(&writer.is_over, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(EventUnregister(writer.provider), ERROR_SUCCESS);
}

static int child_status(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* [HERE] a child has none of its parent's sessions, can have its own, and leaves the parent's file alone. */
static void private__fork(void **state)
{
	REGHANDLE provider = registered(&provider_guid);
	TRACEHANDLE handle = start("parent", 0, "parent.etl");
	struct contents contents;
	struct block block;
	pid_t child;

	(void)state;
	enable(handle, &provider_guid);
	write_number(provider, 1);
	child = fork();
	if (child == 0) {
		bool is_good = !EventProviderEnabled(provider, LEVEL, 0x10);
		TRACEHANDLE own = 0;

		write_number(provider, 100);
		is_good &= control(handle, EVENT_TRACE_CONTROL_STOP, &block) ==
			   ERROR_WMI_INSTANCE_NOT_FOUND;
		own = start("parent", 0, "child.etl");
		enable(own, &provider_guid);
		write_number(provider, 200);
		exit(is_good ? 0 : 1); /* which ends the file */
	}
	assert_int_equal(child_status(child), 0);
	write_number(provider, 2);
	stop(handle);
	contents = read_file("parent.etl");
	assert_int_equal(contents.count, 2);
	assert_int_equal(contents.sum, 3);
	assert_int_equal(contents.events_lost, 0);
	contents = read_file("child.etl");
	assert_int_equal(contents.sum, 200);
	assert_int_equal(contents.process_id, child);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [HERE] the end of the program ends its sessions. */
static void private__exit(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		REGHANDLE provider = registered(&provider_guid);
		TRACEHANDLE handle = start("exit", 0, "exit.etl");

		enable(handle, &provider_guid);
		write_number(provider, 77);
		exit(0);
	}
	assert_int_equal(child_status(child), 0);
	assert_int_equal(read_file("exit.etl").sum, 77);
}

/* [HERE] a program that closes all of its descriptors harms no session. */
static void private__closed_descriptors(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		REGHANDLE provider = registered(&provider_guid);
		TRACEHANDLE handle = start("closed", 0, "closed.etl");

		enable(handle, &provider_guid);
		for (int i = 3; i < 1024; i++)
			(void)close(i);
		write_number(provider, 78);
		stop(handle);
		exit(0);
	}
	assert_int_equal(child_status(child), 0);
	assert_int_equal(read_file("closed.etl").sum, 78);
}

static int make_folder(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/etw-private-XXXXXX",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	/* A host cannot be there, nor be started. */
	return setenv("ETW_RUNTIME_DIR", path_of("none"), 1) ||
	       setenv("ETW_ETWD", "/nonexistent/etwd", 1);
}

static int remove_folder(void **state)
{
	char command[512];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf -- '%s'", folder);
	return system(command);
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
		cmocka_unit_test(private__callbacks),
		cmocka_unit_test(private__enabled_before_it_is_registered),
		cmocka_unit_test(private__every_session_gets_its_own),
		cmocka_unit_test(private__circular),
		cmocka_unit_test(private__series),
		cmocka_unit_test(private__full),
		cmocka_unit_test(private__buffering),
		cmocka_unit_test(private__of_all_processes),
		cmocka_unit_test(private__killed),
		cmocka_unit_test(private__classic_provider),
		cmocka_unit_test(private__stopped_while_writing),
		cmocka_unit_test(private__fork),
		cmocka_unit_test(private__exit),
		cmocka_unit_test(private__closed_descriptors),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
