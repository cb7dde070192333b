/* SPDX-License-Identifier: MIT */
/*
 * Consumers of live sessions of a real host, $ETW_ETWD: several sessions in one ProcessTrace, whole buffers and
 * references to them, sessions that are handed on as buffer streams, what closing does, and what a handle says of itself.
 * Sources: [MSD] Microsoft's pages of the function, [HERE] a decision of this project where Windows is silent or less.
 */
#include <dirent.h>
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "waiting.h"

#define NAME_UNITS 256
#define LIMIT_S    1500 /* of the whole program */
#define SESSIONS   3
#define ROUNDS     200 /* events of each session */
#define NONE       INVALID_PROCESSTRACE_HANDLE

struct block {
	EVENT_TRACE_PROPERTIES properties;
	char logger[NAME_UNITS];
	char file[NAME_UNITS];
};

static char folder[64];

/* One provider for each session, so that each has events of its own. */
static const GUID providers[SESSIONS] = {
	{0x3b1f6c01, 0x2a44, 0x4d51, {0x9c, 0x11, 1, 2, 3, 4, 5, 6}},
	{0x3b1f6c02, 0x2a44, 0x4d51, {0x9c, 0x11, 1, 2, 3, 4, 5, 6}},
	{0x3b1f6c03, 0x2a44, 0x4d51, {0x9c, 0x11, 1, 2, 3, 4, 5, 6}},
};
static const char *const names[SESSIONS] = {"live-0", "live-1", "live-2"};

static ULONG flush_ms = 100;
static TRACEHANDLE sessions[SESSIONS];
static REGHANDLE registrations[SESSIONS];

static void init_block(struct block *block)
{
	memset(block, 0, sizeof(*block));
	block->properties.Wnode.BufferSize = sizeof(*block);
	block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block->properties.LoggerNameOffset = offsetof(struct block, logger);
	block->properties.LogFileNameOffset = offsetof(struct block, file);
	block->properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER;
	block->properties.FlushTimer = flush_ms;
	block->properties.BufferSize = 16;
}

static void start(unsigned index)
{
	struct block block;

	init_block(&block);
	assert_int_equal(StartTraceA(&sessions[index], names[index], &block.properties),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(sessions[index], &providers[index],
					EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(EventRegister(&providers[index], NULL, NULL, &registrations[index]),
			 ERROR_SUCCESS);
	WAIT_UNTIL(EventProviderEnabled(registrations[index], 4, 1));
}

static void stop(unsigned index)
{
	struct block block;

	assert_int_equal(EventUnregister(registrations[index]), ERROR_SUCCESS);
	init_block(&block);
	assert_int_equal(StopTraceA(sessions[index], NULL, &block.properties), ERROR_SUCCESS);
}

static void write_event(unsigned index, ULONG number)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &number, sizeof(number));
	assert_int_equal(EventWrite(registrations[index], &descriptor, 1, &data), ERROR_SUCCESS);
}

/* What a consumer saw. */
struct seen {
	unsigned events[SESSIONS]; /* atomic */
	unsigned all, headers, losses, ran_back, misplaced;
	LONGLONG last_time;
	unsigned buffers;
	/* of a pass in a thread of its own */
	PROCESSTRACE_HANDLE handles[SESSIONS];
	unsigned count;
	ULONG result;
	unsigned is_over;            /* atomic */
	PROCESSTRACE_HANDLE forward; /* a stream that gets the buffers */
	unsigned completed;
	unsigned sleep_us; /* in each callback */
};

#define LAG_S \
	2 /* for so long events wait for a session that stands still, then order is given up */

static time_t now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The order of time, where nothing can have waited for too long: this machine may stand still. */
static void assert_in_order(const struct seen *seen, time_t begun_s)
{
	if (now_s() - begun_s < LAG_S)
		assert_int_equal(seen->ran_back, 0);
	else
		print_message("not held: the order of time, on a machine that was too slow\n");
}

static unsigned count_of(const unsigned *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static VOID WINAPI on_record(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	LONGLONG time = record->EventHeader.TimeStamp.QuadPart;
	ULONG number;

	if (seen->sleep_us)
		(void)usleep(seen->sleep_us);
	seen->headers += !memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID));
	for (unsigned i = 0; i < SESSIONS; i++) {
		if (memcmp(&record->EventHeader.ProviderId, &providers[i], sizeof(GUID)))
			continue;
		memcpy(&number, record->UserData, sizeof(number));
		seen->misplaced += number != seen->events[i];
		seen->ran_back += time < seen->last_time;
		seen->last_time = time;
		seen->all++;
		__atomic_add_fetch(&seen->events[i], 1, __ATOMIC_RELEASE);
	}
}

static BOOL WINAPI on_whole(const ETW_BUFFER_HEADER *buffer, ULONG bytes,
			    const ETW_BUFFER_CALLBACK_INFORMATION *information, void *context)
{
	struct seen *seen = context;

	seen->buffers++;
	assert_true(information->LogfileHeader->PerfFreq.QuadPart > 0);
	if (!seen->forward)
		return TRUE;
	/* Kept, not copied, until the stream has done with it. */
	assert_int_equal(ProcessTraceBufferIncrementReference(information->TraceHandle, buffer),
			 ERROR_SUCCESS);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(seen->forward, buffer, bytes),
			 ERROR_SUCCESS);
	return TRUE;
}

static void WINAPI on_completion(const ETW_BUFFER_HEADER *buffer, void *context)
{
	struct seen *seen = context;

	seen->completed++;
	assert_int_equal(ProcessTraceBufferDecrementReference(buffer), ERROR_SUCCESS);
}

static void open_session(struct seen *seen, unsigned index)
{
	EVENT_TRACE_LOGFILEA logfile = {0};

	logfile.LoggerName = (char *)(uintptr_t)names[index];
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = on_record;
	logfile.Context = seen;
	seen->handles[seen->count] = OpenTraceA(&logfile);
	assert_true(seen->handles[seen->count++] != NONE);
}

static const WCHAR *wide_name(unsigned index)
{
	static WCHAR wide[NAME_UNITS];
	size_t i = 0;

	for (; names[index][i]; i++)
		wide[i] = (WCHAR)names[index][i];
	wide[i] = 0;
	return wide;
}

static void *process(void *context)
{
	struct seen *seen = context;

	seen->result = ProcessTrace(seen->handles, seen->count, NULL, NULL);
	__atomic_store_n(&seen->is_over, 1, __ATOMIC_RELEASE);
	return NULL;
}

static pthread_t run(struct seen *seen)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, process, seen), 0);
	return thread;
}

static void close_all(const struct seen *seen)
{
	for (unsigned i = 0; i < seen->count; i++)
		assert_int_equal(CloseTrace(seen->handles[i]), ERROR_SUCCESS);
}

/* [HERE] several sessions in one pass, which Windows refuses: in order of time, and nothing is missing. */
static void live__sessions_in_order_of_time(void **state)
{
	struct seen seen = {0};
	pthread_t thread;
	time_t begun_s;

	(void)state;
	for (unsigned i = 0; i < SESSIONS; i++) {
		start(i);
		open_session(&seen, i);
	}
	begun_s = now_s();
	thread = run(&seen);
	for (unsigned number = 0; number < ROUNDS; number++) {
		for (unsigned i = 0; i < SESSIONS; i++)
			write_event(i, number);
		if (number % 50 == 0)
			(void)usleep(20000); /* so that several batches are made */
	}
	for (unsigned i = 0; i < SESSIONS; i++)
		stop(i);
	(void)pthread_join(thread, NULL);
	assert_int_equal(seen.result, ERROR_SUCCESS); /* [MSD] when the sessions end */
	assert_int_equal(seen.all, SESSIONS * ROUNDS);
	for (unsigned i = 0; i < SESSIONS; i++)
		assert_int_equal(seen.events[i], ROUNDS);
	assert_int_equal(seen.misplaced, 0);
	assert_in_order(&seen, begun_s);
	assert_int_equal(seen.headers, 0); /* [MSD] only files have it */
	close_all(&seen);
}

/* The same when all is there before the pass begins: then nothing waits, however slow the machine is. */
static void live__ended_sessions_in_order_of_time(void **state)
{
	struct seen seen = {0};

	(void)state;
	for (unsigned i = 0; i < SESSIONS; i++) {
		start(i);
		open_session(&seen, i);
	}
	for (unsigned number = 0; number < ROUNDS; number++) {
		for (unsigned i = 0; i < SESSIONS; i++)
			write_event(i, number);
	}
	for (unsigned i = 0; i < SESSIONS; i++)
		stop(i);
	(void)process(&seen);
	assert_int_equal(seen.result, ERROR_SUCCESS);
	assert_int_equal(seen.all, SESSIONS * ROUNDS);
	assert_int_equal(seen.misplaced, 0);
	assert_int_equal(seen.ran_back, 0);
	close_all(&seen);
}

/* [HERE] a session that has nothing to say, or has ended, does not hold the others up. */
static void live__a_session_that_is_silent(void **state)
{
	struct seen seen = {0};
	pthread_t thread;

	(void)state;
	for (unsigned i = 0; i < SESSIONS; i++) {
		start(i);
		open_session(&seen, i);
	}
	thread = run(&seen);
	stop(2);
	for (unsigned number = 0; number < ROUNDS; number++)
		write_event(0, number);
	WAIT_UNTIL(count_of(&seen.events[0]) >= ROUNDS);
	assert_int_equal(count_of(&seen.is_over), 0);
	write_event(1, 0);
	WAIT_UNTIL(count_of(&seen.events[1]) >= 1);
	stop(0);
	stop(1);
	(void)pthread_join(thread, NULL);
	assert_int_equal(seen.result, ERROR_SUCCESS);
	assert_int_equal(seen.all, ROUNDS + 1);
	assert_int_equal(seen.misplaced, 0);
	close_all(&seen);
}

/*
 * A session is handed on, buffer by buffer and without a copy, to a stream of the same process. @has_events: the first
 * consumer looks at the events too.
 */
static void hand_on(int has_events)
{
	struct seen first = {0}, second = {0};
	ETW_OPEN_TRACE_OPTIONS options = {
		.EventCallback = on_record,
		.EventCallbackContext = &second,
		.BufferCallback = on_whole,
		.BufferCallbackContext = &second,
	};
	TRACE_LOGFILE_HEADER header;
	pthread_t threads[2];
	time_t begun_s = now_s();

	start(0);
	second.handles[second.count++] = OpenTraceFromBufferStream(&options, on_completion, &first);
	assert_true(second.handles[0] != NONE);
	first.forward = second.handles[0];
	options.EventCallback = has_events ? on_record : NULL;
	options.EventCallbackContext = options.BufferCallbackContext = &first;
	first.handles[first.count++] = OpenTraceFromRealTimeLogger((LPCWSTR)wide_name(0), &options,
								   &header);
	assert_true(first.handles[0] != NONE);
	/* [MSD] the header of an active session */
	assert_true(header.NumberOfProcessors > 0);
	assert_true(header.StartTime.QuadPart > 0);
	threads[0] = run(&first);
	threads[1] = run(&second);
	for (unsigned number = 0; number < ROUNDS; number++) {
		write_event(0, number);
		if (number % 50 == 0)
			(void)usleep(20000);
	}
	stop(0);
	/* [MSD] ProcessTrace returns when the stream has given all references back: it must not be closed for that. */
	(void)pthread_join(threads[0], NULL);
	assert_int_equal(first.result, ERROR_SUCCESS);
	assert_int_equal(first.completed, first.buffers);
	assert_int_equal(first.all, has_events ? ROUNDS : 0);
	assert_int_equal(first.headers, 0);
	assert_int_equal(CloseTrace(second.handles[0]), ERROR_CTX_CLOSE_PENDING);
	(void)pthread_join(threads[1], NULL);
	assert_int_equal(second.result, ERROR_SUCCESS);
	assert_int_equal(second.buffers, first.buffers);
	assert_int_equal(second.all, ROUNDS);
	assert_in_order(&second, begun_s);
	assert_int_equal(second.headers, 0);
	close_all(&first);
}

static void live__sessions_are_handed_on(void **state)
{
	(void)state;
	hand_on(0);
	hand_on(1);
}

/* [MSD] of CloseTrace: what has been received of a session is delivered, and nothing new comes. */
static void live__closing_delivers_what_has_come(void **state)
{
	struct seen seen = {.sleep_us = 2000};
	pthread_t thread;
	struct block block;

	(void)state;
	flush_ms = 600000; /* so that one batch has all */
	start(0);
	flush_ms = 100;
	open_session(&seen, 0);
	for (unsigned number = 0; number < ROUNDS; number++)
		write_event(0, number);
	init_block(&block);
	assert_int_equal(FlushTraceA(sessions[0], NULL, &block.properties), ERROR_SUCCESS);
	thread = run(&seen);
	WAIT_UNTIL(count_of(&seen.events[0]) >= 1);
	assert_int_equal(CloseTrace(seen.handles[0]), ERROR_CTX_CLOSE_PENDING);
	(void)pthread_join(thread, NULL);
	assert_int_equal(seen.result, ERROR_CANCELLED);
	assert_int_equal(seen.events[0], ROUNDS);
	assert_int_equal(seen.misplaced, 0);
	stop(0);
}

/* What a handle of a session says of itself, in every class. */
static void live__queries(void **state)
{
	struct seen seen = {0};
	ETW_TRACE_PARTITION_INFORMATION partition, zero = {0};
	TRACE_LOGFILE_HEADER header;
	UCHAR room[4096];
	ULONG bytes = 0, count;

	(void)state;
	start(0);
	open_session(&seen, 0);
	assert_int_equal(QueryTraceProcessingHandle(seen.handles[0], EtwQueryPartitionInformation,
						    NULL, 0, &partition, sizeof(partition), &bytes),
			 ERROR_SUCCESS);
	/* [MSD] not zero for traces of guests alone */
	assert_memory_equal(&partition, &zero, sizeof(zero));
	assert_int_equal(QueryTraceProcessingHandle(seen.handles[0], EtwQueryPartitionInformationV2,
						    NULL, 0, room, sizeof(room), &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(QueryTraceProcessingHandle(seen.handles[0], EtwQueryLogFileHeader, NULL, 0,
						    &header, sizeof(header), &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(header.EventsLost, 0);
	/* [MSD] a count and a time for each processor, 0 where nothing was lost */
	assert_int_equal(QueryTraceProcessingHandle(seen.handles[0], EtwQueryLastDroppedTimes, NULL,
						    0, room, sizeof(room), &bytes),
			 ERROR_SUCCESS);
	memcpy(&count, room, sizeof(count));
	assert_int_equal(count, header.NumberOfProcessors);
	assert_int_equal(bytes, 8 + 8 * count);
	for (ULONG i = 8; i < bytes; i++)
		assert_int_equal(room[i], 0);
	close_all(&seen);
	stop(0);
}

/* [HERE] as with OpenTrace a session that is not there is no error before ProcessTrace, and one that came since is. */
static void live__a_session_that_comes_later(void **state)
{
	struct seen seen = {0};
	const ETW_OPEN_TRACE_OPTIONS options = {.EventCallback = on_record,
						.EventCallbackContext = &seen};
	PROCESSTRACE_HANDLE handle;
	pthread_t thread;

	(void)state;
	handle = OpenTraceFromRealTimeLogger((LPCWSTR)wide_name(1), &options, NULL);
	assert_true(handle != NONE);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
	start(1);
	/* [MSD] a larger memory is only a wish */
	seen.handles[seen.count++] = OpenTraceFromRealTimeLoggerWithAllocationOptions(
		(LPCWSTR)wide_name(1), &options, 32 << 20, NULL, NULL);
	assert_true(seen.handles[0] != NONE);
	thread = run(&seen);
	for (unsigned number = 0; number < 5; number++)
		write_event(1, number);
	stop(1);
	(void)pthread_join(thread, NULL);
	assert_int_equal(seen.result, ERROR_SUCCESS);
	assert_int_equal(seen.events[1], 5);
	close_all(&seen);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* [MSD] ProcessTrace: not running, or without the real-time mode. The session is there, and OpenTrace finds no fault. */
static void live__a_session_without_real_time(void **state)
{
	struct seen seen = {0};
	struct block block;
	TRACEHANDLE session;

	(void)state;
	init_block(&block);
	block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	(void)snprintf(block.file, sizeof(block.file), "%s/file.etl", folder);
	assert_int_equal(StartTraceA(&session, names[2], &block.properties), ERROR_SUCCESS);
	open_session(&seen, 2);
	assert_int_equal(ProcessTrace(seen.handles, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
	close_all(&seen);
	init_block(&block);
	assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
}

static FILETIME filetime_now(void)
{
	struct timespec now;
	ULONGLONG time;

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	time = (ULONGLONG)now.tv_sec * 10000000 + (ULONGLONG)now.tv_nsec / 100 + 116444736000000000;
	return (FILETIME){(DWORD)time, (DWORD)(time >> 32)};
}

/* [MSD] ProcessTrace: nothing recorded before StartTime or after EndTime, of a session too. It ends with the session. */
static void live__a_window_of_time(void **state)
{
	struct seen seen = {0};
	FILETIME from, to;

	(void)state;
	start(0);
	open_session(&seen, 0);
	seen.events[0] = 0;
	for (ULONG number = 0; number < 12; number++) {
		/* The session's clock and the system's were compared once: a while lies between. */
		if (number == 3 || number == 8)
			(void)usleep(20000);
		if (number == 3)
			from = filetime_now();
		if (number == 8)
			to = filetime_now();
		if (number == 3 || number == 8)
			(void)usleep(20000);
		write_event(0, number);
	}
	stop(0);
	assert_int_equal(ProcessTrace(seen.handles, 1, &from, &to), ERROR_SUCCESS);
	assert_int_equal(seen.all, 5);
	close_all(&seen);
}

/* Sessions outlive their controller, and the host stays with them: none may be left behind. */
static void stop_all(void)
{
	struct block block;

	for (unsigned i = 0; i < SESSIONS; i++) {
		init_block(&block);
		(void)StopTraceA(0, names[i], &block.properties);
	}
}

static int make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/etw-live-XXXXXX");
	return mkdtemp(folder) && !setenv("ETW_RUNTIME_DIR", folder, 1) &&
			       !setenv("ETWD_IDLE_MS", "200", 1)
		       ? 0
		       : -1;
}

static void remove_folder(void)
{
	DIR *files = opendir(folder);
	struct dirent *entry;
	char path[512];

	while (files && (entry = readdir(files))) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			(void)unlink(path);
	}
	if (files)
		(void)closedir(files);
	(void)rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live__sessions_in_order_of_time),
		cmocka_unit_test(live__ended_sessions_in_order_of_time),
		cmocka_unit_test(live__a_session_that_is_silent),
		cmocka_unit_test(live__sessions_are_handed_on),
		cmocka_unit_test(live__closing_delivers_what_has_come),
		cmocka_unit_test(live__queries),
		cmocka_unit_test(live__a_session_that_comes_later),
		cmocka_unit_test(live__a_session_without_real_time),
		cmocka_unit_test(live__a_window_of_time),
	};
	int status = 1;
	pid_t child;

	if (make_folder())
		return 1;
	/* In a child, so that one that crashes or hangs leaves nothing behind either. */
	child = fork();
	if (!child) {
		(void)alarm(LIMIT_S);
		exit(cmocka_run_group_tests_name("evntrace.h live consumers", tests, NULL, NULL));
	}
	if (child > 0)
		(void)waitpid(child, &status, 0);
	stop_all();
	remove_folder();
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
