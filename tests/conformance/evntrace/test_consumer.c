/* SPDX-License-Identifier: MIT */
/*
 * OpenTrace, ProcessTrace, CloseTrace and their companions on files. Sources: [MSD] Microsoft's pages of
 * the function, [CONTRACT] docs/format/contract-evntrace.md, [HERE] a decision of this project where Windows is silent.
 */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>

#include "traces.h"

static struct trace_folder folder;

/* What the callbacks saw. */
static struct seen {
	unsigned headers, modern, classic, losses, buffers;
	unsigned class_events;
	LONGLONG last_time;
	unsigned ran_back;
	void *context;
	ULONG stop_after_buffers; /* 0: never */
	PROCESSTRACE_HANDLE close_in_callback;
	ULONG close_result;
	UCHAR loss_opcodes[3];
	EVENT_TRACE last_legacy;
} seen;

static const GUID lost_event = {
	0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

static void count_guid(const GUID *guid, UCHAR opcode)
{
	if (!memcmp(guid, &EventTraceGuid, sizeof(*guid)))
		seen.headers++;
	else if (!memcmp(guid, &trace_provider, sizeof(*guid)))
		seen.modern++;
	else if (!memcmp(guid, &trace_class, sizeof(*guid)))
		seen.classic++;
	else if (!memcmp(guid, &lost_event, sizeof(*guid)) && seen.losses < 3)
		seen.loss_opcodes[seen.losses++] = opcode;
}

static VOID WINAPI on_record(PEVENT_RECORD record)
{
	LONGLONG time = record->EventHeader.TimeStamp.QuadPart;

	count_guid(&record->EventHeader.ProviderId, record->EventHeader.EventDescriptor.Opcode);
	seen.ran_back += time < seen.last_time;
	seen.last_time = time;
	seen.context = record->UserContext;
	if (seen.close_in_callback && seen.modern == 5) {
		seen.close_result = CloseTrace(seen.close_in_callback);
		seen.close_in_callback = 0;
	}
}

static VOID WINAPI on_legacy(PEVENT_TRACE event)
{
	count_guid(&event->Header.Guid, event->Header.Class.Type);
	seen.last_legacy = *event;
}

static VOID WINAPI on_class(PEVENT_TRACE event)
{
	assert_memory_equal(&event->Header.Guid, &trace_class, sizeof(trace_class));
	seen.class_events++;
}

static ULONG WINAPI on_buffer(PEVENT_TRACE_LOGFILEA logfile)
{
	seen.buffers++;
	assert_int_equal(logfile->BuffersRead, seen.buffers);
	assert_true(logfile->Filled > 0x48 && logfile->Filled <= logfile->BufferSize);
	return !seen.stop_after_buffers || seen.buffers < seen.stop_after_buffers;
}

static PROCESSTRACE_HANDLE open_named(const char *name, ULONG mode)
{
	EVENT_TRACE_LOGFILEA logfile = {0};
	PROCESSTRACE_HANDLE handle;

	logfile.LogFileName = trace_path(&folder, name);
	logfile.ProcessTraceMode = mode;
	logfile.Context = &seen;
	logfile.BufferCallback = on_buffer;
	if (mode & PROCESS_TRACE_MODE_EVENT_RECORD)
		logfile.EventRecordCallback = on_record;
	else
		logfile.EventCallback = on_legacy;
	handle = OpenTraceA(&logfile);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	return handle;
}

static int reset(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	return 0;
}

static void consumer__open_errors(void **state)
{
	static const struct {
		const char *what;
		const char *file; /* in the folder */
		const char *logger;
		ULONG mode;
		int has_callback;
		ULONG error;
	} rows[] = {
		{"[MSD] neither name", NULL, NULL, 0, 1, ERROR_INVALID_PARAMETER},
		{"[MSD] both names", "plain.etl", "x", 0, 1, ERROR_INVALID_PARAMETER},
		{"[CONTRACT] no callback", "plain.etl", NULL, 0, 0, ERROR_INVALID_PARAMETER},
		{"[MSD] no such file", "none.etl", NULL, 0, 1, ERROR_FILE_NOT_FOUND},
		{"[HERE] a folder", ".", NULL, 0, 1, ERROR_ACCESS_DENIED},
		{"[HERE] no trace", "damaged.etl", NULL, 0, 1, ERROR_FILE_CORRUPT},
		{"[HERE] a session, not real time", NULL, "x", 0, 1, ERROR_INVALID_PARAMETER},
		{"[HERE] a file, in real time", "plain.etl", NULL, PROCESS_TRACE_MODE_REAL_TIME, 1,
		 ERROR_INVALID_PARAMETER},
	};
	char logger[] = "x";

	(void)state;
	SetLastError(0);
	assert_true(OpenTraceA(NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_true(OpenTraceW(NULL) == INVALID_PROCESSTRACE_HANDLE);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EVENT_TRACE_LOGFILEA logfile = {0};

		logfile.LogFileName = rows[i].file ? trace_path(&folder, rows[i].file) : NULL;
		logfile.LoggerName = rows[i].logger ? logger : NULL;
		logfile.ProcessTraceMode = rows[i].mode | PROCESS_TRACE_MODE_EVENT_RECORD;
		logfile.EventRecordCallback = rows[i].has_callback ? on_record : NULL;
		SetLastError(0);
		if (OpenTraceA(&logfile) != INVALID_PROCESSTRACE_HANDLE ||
		    GetLastError() != rows[i].error)
			fail_msg("%s: error %u", rows[i].what, GetLastError());
	}
}

static void consumer__session_that_is_not_there(void **state)
{
	EVENT_TRACE_LOGFILEA logfile = {0};
	PROCESSTRACE_HANDLE handles[2];
	char logger[] = "nobody";

	(void)state;
	(void)setenv("ETW_RUNTIME_DIR", folder.path, 1); /* without a host */
	logfile.LoggerName = logger;
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = on_record;
	/* [CONTRACT] OpenTrace succeeds; it is ProcessTrace that says so. */
	handles[0] = OpenTraceA(&logfile);
	assert_true(handles[0] != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(handles, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
	/* [MSD] files and sessions together */
	handles[1] = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);
	assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
}

static void consumer__open_fills_logfile_header(void **state)
{
	EVENT_TRACE_LOGFILEA logfile = {0};
	PROCESSTRACE_HANDLE handle;

	(void)state;
	logfile.LogFileName = trace_path(&folder, "plain.etl");
	logfile.EventCallback = on_legacy;
	handle = OpenTraceA(&logfile);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(logfile.LogfileHeader.BufferSize, 4096);
	assert_int_equal(logfile.LogfileHeader.ProviderVersion, TRACE_BUILD);
	assert_int_equal(logfile.LogfileHeader.NumberOfProcessors, TRACE_PROCESSORS);
	assert_int_equal(logfile.LogfileHeader.EventsLost, 7);
	assert_int_equal(logfile.LogfileHeader.BuffersLost, 2);
	assert_int_equal(logfile.LogfileHeader.StartTime.QuadPart, TRACE_START_FT);
	assert_int_equal(logfile.LogfileHeader.PerfFreq.QuadPart, 10000000);
	assert_int_equal(logfile.LogfileHeader.ReservedFlags, 1);
	assert_int_equal(logfile.LogfileHeader.PointerSize, 8);
	assert_null(logfile.LogfileHeader.LoggerName);
	assert_int_equal(logfile.BufferSize, 4096);
	assert_int_equal(logfile.EventsLost, 7);
	/* [CONTRACT] companion 0005 marks a session that gets the kernel's events. */
	assert_true(logfile.IsKernelTrace);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void consumer__process_errors(void **state)
{
	PROCESSTRACE_HANDLE many[65];
	PROCESSTRACE_HANDLE twice[2];
	FILETIME early = {1, 0}, late = {2, 0};
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);

	(void)state;
	for (unsigned i = 0; i < 65; i++)
		many[i] = handle;
	twice[0] = twice[1] = handle;
	assert_int_equal(ProcessTrace(&handle, 0, NULL, NULL), ERROR_BAD_LENGTH); /* [MSD] */
	assert_int_equal(ProcessTrace(many, 65, NULL, NULL), ERROR_BAD_LENGTH);   /* [MSD] */
	assert_int_equal(ProcessTrace(NULL, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTrace(&handle, 1, &late, &early), ERROR_INVALID_TIME); /* [MSD] */
	assert_int_equal(ProcessTrace(twice, 2, NULL, NULL), ERROR_INVALID_HANDLE);    /* [HERE] */
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);                   /* [MSD] */
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_INVALID_HANDLE); /* [MSD] */
	assert_int_equal(CloseTrace(INVALID_PROCESSTRACE_HANDLE), ERROR_INVALID_HANDLE);
	assert_int_equal(CloseTrace(0), ERROR_INVALID_HANDLE);
}

static void consumer__records_in_order(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);

	(void)state;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.modern, TRACE_EVENTS / 2);
	assert_int_equal(seen.classic, TRACE_EVENTS / 2);
	assert_int_equal(seen.headers, 4); /* the header event and three companions */
	assert_int_equal(seen.ran_back, 0);
	assert_int_equal(seen.last_time, TRACE_START_FT + TRACE_EVENTS * TRACE_STEP_RAW);
	assert_ptr_equal(seen.context, &seen);
	assert_true(seen.buffers > 3);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void consumer__raw_timestamps(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named(
		"plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP);

	(void)state;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.last_time, TRACE_T0_RAW + TRACE_EVENTS * TRACE_STEP_RAW);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void consumer__legacy_events_and_class_callback(void **state)
{
	PROCESSTRACE_HANDLE handle;

	(void)state;
	assert_int_equal(SetTraceCallback(NULL, on_class), ERROR_INVALID_PARAMETER);     /* [MSD] */
	assert_int_equal(SetTraceCallback(&trace_class, NULL), ERROR_INVALID_PARAMETER); /* [MSD] */
	assert_int_equal(RemoveTraceCallback(NULL), ERROR_INVALID_PARAMETER);            /* [MSD] */
	assert_int_equal(RemoveTraceCallback(&trace_class), ERROR_WMI_GUID_NOT_FOUND);   /* [MSD] */
	assert_int_equal(SetTraceCallback(&trace_class, on_class), ERROR_SUCCESS);
	handle = open_named("plain.etl", 0);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	assert_int_equal(RemoveTraceCallback(&trace_class), ERROR_SUCCESS);
	assert_int_equal(seen.modern + seen.classic, TRACE_EVENTS);
	assert_int_equal(seen.class_events, TRACE_EVENTS / 2);
	/* The last event is number 299: a classic one. */
	assert_int_equal(seen.last_legacy.Header.Class.Type, (UCHAR)(TRACE_EVENTS - 1));
	assert_int_equal(seen.last_legacy.Header.Class.Level, 4);
	assert_int_equal(seen.last_legacy.Header.Class.Version, 3);
	assert_int_equal(seen.last_legacy.Header.ProcessId, 100 + TRACE_EVENTS - 1);
	assert_int_equal(seen.last_legacy.Header.ThreadId, 200 + TRACE_EVENTS - 1);
	assert_int_equal(seen.last_legacy.MofLength, 4);
}

static void consumer__two_files_merge(void **state)
{
	PROCESSTRACE_HANDLE handles[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		EVENT_TRACE_LOGFILEA logfile = {0};

		logfile.LogFileName = trace_path(&folder, i ? "plain.etl" : "later.etl");
		logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		logfile.EventRecordCallback = on_record;
		handles[i] = OpenTraceA(&logfile);
		assert_true(handles[i] != INVALID_PROCESSTRACE_HANDLE);
	}
	assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.modern + seen.classic, 2 * TRACE_EVENTS);
	assert_int_equal(seen.ran_back, 0);
	assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
}

static FILETIME filetime_of_event(unsigned number)
{
	uint64_t value = (uint64_t)TRACE_START_FT + (number + 1) * (uint64_t)TRACE_STEP_RAW;
	FILETIME time = {(DWORD)value, (DWORD)(value >> 32)};

	return time;
}

/* [MSD] events before StartTime and after EndTime are not delivered; both ends count. */
static void consumer__window_is_inclusive(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);
	FILETIME from = filetime_of_event(100), to = filetime_of_event(109);

	(void)state;
	assert_int_equal(ProcessTrace(&handle, 1, &from, &to), ERROR_SUCCESS);
	assert_int_equal(seen.modern + seen.classic, 10);
	assert_int_equal(seen.headers, 0);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* [MSD] a buffer callback that returns FALSE ends the pass with ERROR_CANCELLED. */
static void consumer__buffer_callback_stops(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);

	(void)state;
	seen.stop_after_buffers = 2;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_CANCELLED);
	assert_int_equal(seen.buffers, 2);
	assert_true(seen.modern < TRACE_EVENTS / 2);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* [MSD] closing while ProcessTrace runs is pending; the pass ends and the handle is gone. */
static void consumer__close_within_callback(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);

	(void)state;
	seen.close_in_callback = handle;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_CANCELLED);
	assert_int_equal(seen.close_result, ERROR_CTX_CLOSE_PENDING);
	assert_int_equal(seen.modern, 5);
	assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);
}

static void consumer__a_handle_can_be_processed_again(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);

	(void)state;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	seen.buffers = 0;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.modern, TRACE_EVENTS);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* [CONTRACT] flags of a buffer become RT_LostEvent 32, 33 and 34 before its first event. */
static void consumer__loss_is_told(void **state)
{
	EVENT_TRACE_LOGFILEA logfile = {0};
	PROCESSTRACE_HANDLE handle;

	(void)state;
	logfile.LogFileName = trace_path(&folder, "lossy.etl");
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = on_record;
	handle = OpenTraceA(&logfile);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.losses, 3);
	assert_int_equal(seen.loss_opcodes[0], 32);
	assert_int_equal(seen.loss_opcodes[1], 33);
	assert_int_equal(seen.loss_opcodes[2], 34);
	assert_int_equal(seen.modern, 1);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void consumer__query_processing_handle(void **state)
{
	PROCESSTRACE_HANDLE handle = open_named("plain.etl", PROCESS_TRACE_MODE_EVENT_RECORD);
	ETW_TRACE_PARTITION_INFORMATION partition;
	TRACE_LOGFILE_HEADER header;
	struct {
		ULONG count;
		LARGE_INTEGER times[TRACE_PROCESSORS];
	} dropped;
	UCHAR v2[1024];
	ULONG bytes = 0;

	(void)state;
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryPartitionInformation, NULL, 0,
						    &partition, sizeof(partition), &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, sizeof(partition));
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryPartitionInformationV2, NULL, 0,
						    v2, sizeof(v2), &bytes),
			 ERROR_SUCCESS);
	assert_true(bytes > sizeof(ETW_TRACE_PARTITION_INFORMATION_V2));
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryLastDroppedTimes, NULL, 0,
						    &dropped, sizeof(dropped), &bytes),
			 ERROR_SUCCESS);
	/* [MSD] the number of streams, then a time for each */
	assert_int_equal(bytes, sizeof(dropped));
	assert_int_equal(dropped.count, TRACE_PROCESSORS);
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryLogFileHeader, NULL, 0, &header,
						    sizeof(header), &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(header.ProviderVersion, TRACE_BUILD);
	/* [CONTRACT] the usual protocol of sizes. */
	assert_int_equal(
		QueryTraceProcessingHandle(handle, EtwQueryLogFileHeader, NULL, 0, NULL, 0, &bytes),
		ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(bytes, sizeof(header));
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryProcessHandleInfoMax, NULL, 0,
						    v2, sizeof(v2), &bytes),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryLogFileHeader, NULL, 0, &header,
						    sizeof(header), NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryLogFileHeader, NULL, 0, &header,
						    sizeof(header), &bytes),
			 ERROR_INVALID_HANDLE);
}

/* The design's rule of paths: a drive is a folder, a backslash a slash. */
static void consumer__windows_path(void **state)
{
	WCHAR path[] = {'C', ':', '\\', 'p', 'l', 'a', 'i', 'n', '.', 'e', 't', 'l', 0};
	EVENT_TRACE_LOGFILEW logfile = {0};
	PROCESSTRACE_HANDLE handle;

	(void)state;
	assert_int_equal(setenv("ETW_DRIVE_C", folder.path, 1), 0);
	logfile.LogFileName = path;
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = on_record;
	handle = OpenTraceW(&logfile);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	path[0] = 'x'; /* the caller's memory is not needed any more */
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.modern, TRACE_EVENTS / 2);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	assert_int_equal(unsetenv("ETW_DRIVE_C"), 0);
}

static unsigned count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}

static void consumer__everything_is_given_back(void **state)
{
	unsigned before = count_descriptors();

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		PROCESSTRACE_HANDLE handle = open_named("plain.etl",
							PROCESS_TRACE_MODE_EVENT_RECORD);

		assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	}
	assert_int_equal(count_descriptors(), before);
}

static void *process_in_thread(void *argument)
{
	PROCESSTRACE_HANDLE handle = *(PROCESSTRACE_HANDLE *)argument;
	ULONG *result = malloc(sizeof(*result));

	*result = ProcessTrace(&handle, 1, NULL, NULL);
	return result;
}

/* CloseTrace from another thread, at any moment: the pass ends well or was never begun. */
static void consumer__close_from_another_thread(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		EVENT_TRACE_LOGFILEA logfile = {0};
		PROCESSTRACE_HANDLE handle;
		pthread_t thread;
		ULONG *result, closed;

		logfile.LogFileName = trace_path(&folder, "plain.etl");
		logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		logfile.EventRecordCallback = on_record;
		memset(&seen, 0, sizeof(seen));
		handle = OpenTraceA(&logfile);
		assert_int_equal(pthread_create(&thread, NULL, process_in_thread, &handle), 0);
		closed = CloseTrace(handle);
		assert_int_equal(pthread_join(thread, (void **)&result), 0);
		assert_true(closed == ERROR_SUCCESS || closed == ERROR_CTX_CLOSE_PENDING);
		assert_true(*result == ERROR_SUCCESS || *result == ERROR_CANCELLED ||
			    *result == ERROR_INVALID_HANDLE);
		free(result);
	}
}

static int make_folder(void **state)
{
	(void)state;
	trace_folder_make(&folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	trace_folder_remove(&folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(consumer__open_errors, reset),
		cmocka_unit_test_setup(consumer__session_that_is_not_there, reset),
		cmocka_unit_test_setup(consumer__open_fills_logfile_header, reset),
		cmocka_unit_test_setup(consumer__process_errors, reset),
		cmocka_unit_test_setup(consumer__records_in_order, reset),
		cmocka_unit_test_setup(consumer__raw_timestamps, reset),
		cmocka_unit_test_setup(consumer__legacy_events_and_class_callback, reset),
		cmocka_unit_test_setup(consumer__two_files_merge, reset),
		cmocka_unit_test_setup(consumer__window_is_inclusive, reset),
		cmocka_unit_test_setup(consumer__buffer_callback_stops, reset),
		cmocka_unit_test_setup(consumer__close_within_callback, reset),
		cmocka_unit_test_setup(consumer__a_handle_can_be_processed_again, reset),
		cmocka_unit_test_setup(consumer__loss_is_told, reset),
		cmocka_unit_test_setup(consumer__query_processing_handle, reset),
		cmocka_unit_test_setup(consumer__windows_path, reset),
		cmocka_unit_test_setup(consumer__everything_is_given_back, reset),
		cmocka_unit_test_setup(consumer__close_from_another_thread, reset),
	};

	return cmocka_run_group_tests_name("evntrace.h consumer", tests, make_folder,
					   remove_folder);
}
