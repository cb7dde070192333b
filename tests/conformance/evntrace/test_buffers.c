/* SPDX-License-Identifier: MIT */
/*
 * The consumer's functions that take ETW_OPEN_TRACE_OPTIONS, on files: whole buffers in callbacks, references to them,
 * and traces whose buffers the program adds. Sources: [MSD] Microsoft's pages of the function, the callback and the
 * structure, [HERE] a decision of this project where Windows is silent.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>

#include "traces.h"
#include "waiting.h"

#define BUFFERS_MAX 64
#define PATH_UNITS  512
#define NONE        INVALID_PROCESSTRACE_HANDLE

static struct trace_folder folder;

/* What a pass showed. */
static struct seen {
	unsigned events, headers, ran_back;
	LONGLONG last_time;
	uint64_t time_sum;
	void *context;
	unsigned buffers;            /* atomic */
	unsigned stop_after_buffers; /* 0: never */
	PROCESSTRACE_HANDLE handle;
	uint8_t *copies[BUFFERS_MAX]; /* owned, with BufferSize bytes each */
	ULONG sizes[BUFFERS_MAX];
	const ETW_BUFFER_HEADER *at[BUFFERS_MAX];
	unsigned keeps; /* 1: a reference to each */
	unsigned kept;  /* atomic */
	ULONG keep_result;
} seen;

static int reset(void **state)
{
	(void)state;
	for (unsigned i = 0; i < BUFFERS_MAX; i++)
		free(seen.copies[i]);
	memset(&seen, 0, sizeof(seen));
	return 0;
}

static VOID WINAPI on_record(PEVENT_RECORD record)
{
	LONGLONG time = record->EventHeader.TimeStamp.QuadPart;

	if (!memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID))) {
		seen.headers++;
		return;
	}
	seen.events++;
	seen.ran_back += time < seen.last_time;
	seen.last_time = time;
	seen.time_sum += (uint64_t)time;
	seen.context = record->UserContext;
}

static BOOL WINAPI on_whole(const ETW_BUFFER_HEADER *buffer, ULONG bytes,
			    const ETW_BUFFER_CALLBACK_INFORMATION *information, void *context)
{
	assert_ptr_equal(context, &folder);
	assert_true(seen.buffers < BUFFERS_MAX);
	/* [MSD] the buffer begins with its header */
	assert_true(bytes >= sizeof(*buffer));
	assert_true(buffer->FilledBytes <= bytes);
	seen.at[seen.buffers] = buffer;
	seen.sizes[seen.buffers] = bytes;
	seen.copies[seen.buffers] = malloc(bytes);
	assert_non_null(seen.copies[seen.buffers]);
	memcpy(seen.copies[seen.buffers], buffer, bytes);
	__atomic_add_fetch(&seen.buffers, 1, __ATOMIC_RELEASE);
	/* [MSD] of ETW_BUFFER_CALLBACK_INFORMATION */
	assert_int_equal(information->BuffersRead, seen.buffers);
	assert_int_equal(information->LogfileHeader->ProviderVersion, TRACE_BUILD);
	seen.handle = information->TraceHandle;
	if (seen.keeps)
		seen.keep_result = ProcessTraceBufferIncrementReference(information->TraceHandle,
									buffer);
	__atomic_add_fetch(&seen.kept, seen.keeps, __ATOMIC_RELEASE);
	return seen.buffers != seen.stop_after_buffers;
}

static void WINAPI on_completion(const ETW_BUFFER_HEADER *buffer, void *context)
{
	(void)buffer;
	++*(unsigned *)context;
}

static LPCWSTR wide_path(const char *name)
{
	static WCHAR wide[PATH_UNITS];
	const char *path = trace_path(&folder, name);
	size_t i = 0;

	for (; path[i] && i + 1 < PATH_UNITS; i++)
		wide[i] = (WCHAR)path[i];
	wide[i] = 0;
	return wide;
}

static const ETW_OPEN_TRACE_OPTIONS both = {
	.EventCallback = on_record,
	.EventCallbackContext = &seen,
	.BufferCallback = on_whole,
	.BufferCallbackContext = &folder,
};

static PROCESSTRACE_HANDLE open_file(const char *name, const ETW_OPEN_TRACE_OPTIONS *options)
{
	PROCESSTRACE_HANDLE handle = OpenTraceFromFile(wide_path(name), options, NULL);

	assert_true(handle != NONE);
	return handle;
}

/* A pass over a file. */
static void process(const char *name, const ETW_OPEN_TRACE_OPTIONS *options, ULONG error)
{
	PROCESSTRACE_HANDLE handle = open_file(name, options);

	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), error);
	assert_true(!seen.buffers || seen.handle == handle);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void assert_fails(PROCESSTRACE_HANDLE handle, ULONG error)
{
	assert_true(handle == NONE);
	assert_int_equal(GetLastError(), error);
	SetLastError(0);
}

static void buffers__open_errors(void **state)
{
	static const WCHAR nothing[] = {0}, name[] = {'x', 0};
	ETW_OPEN_TRACE_OPTIONS unknown = both;
	TRACE_LOGFILE_HEADER header;

	(void)state;
	unknown.ProcessTraceModes = (ETW_PROCESS_TRACE_MODES)2;
	SetLastError(0);
	/* [HERE] every argument that is not optional, and bits that do not exist */
	assert_fails(OpenTraceFromFile(NULL, &both, &header), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromFile(name, NULL, &header), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromFile(name, &unknown, &header), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromRealTimeLogger(NULL, &both, NULL), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromRealTimeLogger(name, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromRealTimeLogger(nothing, &both, NULL), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromRealTimeLogger(name, &unknown, NULL), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromBufferStream(NULL, on_completion, NULL), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromBufferStream(&both, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_fails(OpenTraceFromBufferStream(&unknown, on_completion, NULL),
		     ERROR_INVALID_PARAMETER);
	/* [HERE] Linux has no memory partitions */
	assert_fails(OpenTraceFromRealTimeLoggerWithAllocationOptions(name, &both, 0,
								      (HANDLE)&header, NULL),
		     ERROR_NOT_SUPPORTED);
	/* [MSD] of OpenTrace: without a logger's name there must be a valid one of a file */
	assert_fails(OpenTraceFromFile(nothing, &both, &header), ERROR_BAD_PATHNAME);
	assert_fails(OpenTraceFromFile(wide_path("none.etl"), &both, &header),
		     ERROR_FILE_NOT_FOUND);
	assert_fails(OpenTraceFromFile(wide_path("damaged.etl"), &both, &header),
		     ERROR_FILE_CORRUPT);
}

/* [MSD] LogFileHeader is filled; it is optional. */
static void buffers__open_fills_the_header(void **state)
{
	TRACE_LOGFILE_HEADER header;
	PROCESSTRACE_HANDLE handle;

	(void)state;
	memset(&header, 0xFF, sizeof(header));
	handle = OpenTraceFromFile(wide_path("plain.etl"), &both, &header);
	assert_true(handle != NONE);
	assert_int_equal(header.ProviderVersion, TRACE_BUILD);
	assert_int_equal(header.NumberOfProcessors, TRACE_PROCESSORS);
	assert_int_equal(header.StartTime.QuadPart, TRACE_START_FT);
	assert_null(header.LoggerName);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);
}

/* [MSD] events in order of time with the context of the options; buffers by the time of their flush, the header's first */
static void buffers__events_and_whole_buffers(void **state)
{
	LONGLONG flushed = INT64_MIN;

	(void)state;
	process("plain.etl", &both, ERROR_SUCCESS);
	assert_int_equal(seen.events, TRACE_EVENTS);
	assert_int_equal(seen.headers, 4); /* of a file they are delivered */
	assert_int_equal(seen.ran_back, 0);
	assert_int_equal(seen.last_time, TRACE_START_FT + TRACE_EVENTS * TRACE_STEP_RAW);
	assert_ptr_equal(seen.context, &seen);
	assert_true(seen.buffers > 3);
	for (unsigned i = 0; i < seen.buffers; i++) {
		const ETW_BUFFER_HEADER *header = (const void *)seen.copies[i];

		if (i > 0)
			assert_true(header->TimeStamp.QuadPart >= flushed);
		flushed = header->TimeStamp.QuadPart;
	}
}

/* [MSD] ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP */
static void buffers__raw_timestamps(void **state)
{
	ETW_OPEN_TRACE_OPTIONS raw = both;

	(void)state;
	raw.ProcessTraceModes = ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP;
	raw.BufferCallback = NULL;
	process("plain.etl", &raw, ERROR_SUCCESS);
	assert_int_equal(seen.last_time, TRACE_T0_RAW + TRACE_EVENTS * TRACE_STEP_RAW);
	assert_int_equal(seen.buffers, 0);
}

/* [MSD] without EventCallback events are bypassed; the buffers are the same, in the same order */
static void buffers__buffers_alone(void **state)
{
	ETW_OPEN_TRACE_OPTIONS alone = both;
	struct seen with_events;

	(void)state;
	process("plain.etl", &both, ERROR_SUCCESS);
	with_events = seen;
	memset(&seen, 0, sizeof(seen));
	alone.EventCallback = NULL;
	process("plain.etl", &alone, ERROR_SUCCESS);
	assert_int_equal(seen.events, 0);
	assert_int_equal(seen.buffers, with_events.buffers);
	for (unsigned i = 0; i < seen.buffers; i++) {
		assert_int_equal(seen.sizes[i], with_events.sizes[i]);
		assert_memory_equal(seen.copies[i], with_events.copies[i], seen.sizes[i]);
		free(with_events.copies[i]);
	}
}

/* [MSD] FALSE ends the pass. */
static void buffers__a_callback_stops(void **state)
{
	ETW_OPEN_TRACE_OPTIONS alone = both;

	(void)state;
	seen.stop_after_buffers = 2;
	process("plain.etl", &both, ERROR_CANCELLED);
	assert_int_equal(seen.buffers, 2);
	(void)reset(NULL);
	alone.EventCallback = NULL;
	seen.stop_after_buffers = 2;
	process("plain.etl", &alone, ERROR_CANCELLED);
	assert_int_equal(seen.buffers, 2);
}

static VOID WINAPI on_class(PEVENT_TRACE event)
{
	(void)event;
}

/* [MSD] of ProcessTrace: a trace that has no callback when it is processed */
static void buffers__no_callback_at_all(void **state)
{
	static const ETW_OPEN_TRACE_OPTIONS none;
	EVENT_TRACE_LOGFILEA logfile = {0};
	PROCESSTRACE_HANDLE handle;

	(void)state;
	process("plain.etl", &none, ERROR_INVALID_PARAMETER);
	/* The one of an event class was enough for OpenTrace, and has gone since. */
	assert_int_equal(SetTraceCallback(&trace_class, on_class), ERROR_SUCCESS);
	logfile.LogFileName = trace_path(&folder, "plain.etl");
	handle = OpenTraceA(&logfile);
	assert_true(handle != NONE);
	assert_int_equal(RemoveTraceCallback(&trace_class), ERROR_SUCCESS);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static struct {
	PROCESSTRACE_HANDLE handle;
	ULONG result;
	int is_over; /* atomic */
} pass;

static void *run_pass(void *unused)
{
	(void)unused;
	pass.result = ProcessTrace(&pass.handle, 1, NULL, NULL);
	__atomic_store_n(&pass.is_over, 1, __ATOMIC_RELEASE);
	return NULL;
}

static pthread_t start_pass(PROCESSTRACE_HANDLE handle)
{
	pthread_t thread;

	pass.handle = handle;
	pass.is_over = 0;
	assert_int_equal(pthread_create(&thread, NULL, run_pass, NULL), 0);
	return thread;
}

static unsigned count_buffers(const char *name)
{
	unsigned buffers;

	process(name, &both, ERROR_SUCCESS);
	buffers = seen.buffers;
	(void)reset(NULL);
	return buffers;
}

/* [MSD] a buffer with a reference stays where it is, and ProcessTrace does not return before all are given back. */
static void keep_buffers(const ETW_OPEN_TRACE_OPTIONS *options)
{
	const unsigned count = count_buffers("plain.etl");
	PROCESSTRACE_HANDLE handle;
	pthread_t thread;

	seen.keeps = 1;
	handle = open_file("plain.etl", options);
	thread = start_pass(handle);
	WAIT_UNTIL(__atomic_load_n(&seen.kept, __ATOMIC_ACQUIRE) >= count);
	assert_int_equal(seen.keep_result, ERROR_SUCCESS);
	assert_int_equal(ProcessTraceBufferIncrementReference(handle, seen.at[0]), ERROR_SUCCESS);
	assert_int_equal(ProcessTraceBufferDecrementReference(seen.at[0]), ERROR_SUCCESS);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(__atomic_load_n(&pass.is_over, __ATOMIC_ACQUIRE), 0);
		for (unsigned j = 0; j < i; j++)
			assert_ptr_not_equal(seen.at[i], seen.at[j]);
		assert_memory_equal(seen.at[i], seen.copies[i], seen.sizes[i]);
	}
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(ProcessTraceBufferDecrementReference(seen.at[i]), ERROR_SUCCESS);
	(void)pthread_join(thread, NULL);
	assert_int_equal(pass.result, ERROR_SUCCESS);
	assert_int_equal(ProcessTraceBufferDecrementReference(seen.at[0]), ERROR_INVALID_PARAMETER);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void buffers__references_keep_them(void **state)
{
	ETW_OPEN_TRACE_OPTIONS alone = both;

	(void)state;
	keep_buffers(&both);
	(void)reset(NULL);
	alone.EventCallback = NULL;
	keep_buffers(&alone);
}

static void buffers__reference_errors(void **state)
{
	const ETW_BUFFER_HEADER other = {.FilledBytes = sizeof(other)};
	PROCESSTRACE_HANDLE handle = open_file("plain.etl", &both);

	(void)state;
	/* [MSD] ERROR_INVALID_PARAMETER, for what no callback was given */
	assert_int_equal(ProcessTraceBufferIncrementReference(handle, &other),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceBufferIncrementReference(handle, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceBufferIncrementReference(NONE, &other),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceBufferDecrementReference(&other), ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceBufferDecrementReference(NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	assert_int_equal(ProcessTraceBufferIncrementReference(handle, &other),
			 ERROR_INVALID_PARAMETER);
}

static ULONG add(PROCESSTRACE_HANDLE stream, const struct seen *from, unsigned index)
{
	return ProcessTraceAddBufferToBufferStream(stream, (const void *)from->copies[index],
						   from->sizes[index]);
}

/* The buffers of plain.etl, as its pass showed them. */
static struct seen take_buffers(void)
{
	struct seen taken;

	process("plain.etl", &both, ERROR_SUCCESS);
	taken = seen;
	memset(&seen, 0, sizeof(seen));
	return taken;
}

static void free_buffers(struct seen *taken)
{
	for (unsigned i = 0; i < taken->buffers; i++)
		free(taken->copies[i]);
}

/*
 * [MSD] what one pass showed is processed by another; each buffer is completed once. [HERE] CloseTrace is the end:
 * what was added is delivered, and ProcessTrace succeeds. The header's events are not delivered, as those of a session.
 */
static void stream_file(const ETW_OPEN_TRACE_OPTIONS *options, int before_the_pass)
{
	struct seen taken = take_buffers();
	unsigned completed = 0;
	PROCESSTRACE_HANDLE stream = OpenTraceFromBufferStream(options, on_completion, &completed);
	pthread_t thread;

	assert_true(stream != NONE);
	if (!before_the_pass)
		thread = start_pass(stream);
	for (unsigned i = 0; i < taken.buffers; i++)
		assert_int_equal(add(stream, &taken, i), ERROR_SUCCESS);
	if (before_the_pass)
		thread = start_pass(stream);
	WAIT_UNTIL(__atomic_load_n(&seen.buffers, __ATOMIC_ACQUIRE));
	assert_int_equal(CloseTrace(stream), ERROR_CTX_CLOSE_PENDING);
	(void)pthread_join(thread, NULL);
	assert_int_equal(pass.result, ERROR_SUCCESS);
	assert_int_equal(completed, taken.buffers);
	assert_int_equal(seen.buffers, taken.buffers);
	for (unsigned i = 0; i < taken.buffers; i++) {
		assert_ptr_equal(seen.at[i], taken.copies[i]); /* nothing is copied */
		assert_int_equal(seen.sizes[i], taken.sizes[i]);
	}
	if (options->EventCallback) {
		assert_int_equal(seen.events, taken.events);
		assert_int_equal(seen.headers, 0);
		assert_int_equal(seen.ran_back, 0);
		assert_true(seen.time_sum == taken.time_sum);
	}
	assert_int_equal(add(stream, &taken, 0), ERROR_INVALID_HANDLE);
	free_buffers(&taken);
}

static void buffers__a_stream_is_processed(void **state)
{
	ETW_OPEN_TRACE_OPTIONS alone = both;

	(void)state;
	stream_file(&both, 1);
	(void)reset(NULL);
	stream_file(&both, 0);
	(void)reset(NULL);
	alone.EventCallback = NULL;
	stream_file(&alone, 1);
}

/* [MSD] errors for a buffer that is invalid or out of order, and for a handle that is. What fails is not taken. */
static void buffers__stream_errors(void **state)
{
	struct seen taken = take_buffers();
	unsigned completed = 0;
	PROCESSTRACE_HANDLE stream = OpenTraceFromBufferStream(&both, on_completion, &completed);
	PROCESSTRACE_HANDLE file = open_file("plain.etl", &both);
	uint8_t damaged[4096] = {0};

	(void)state;
	assert_true(stream != NONE);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(stream, NULL, 4096),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(stream, (const void *)taken.copies[0],
							     sizeof(ETW_BUFFER_HEADER) - 1),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(add(NONE, &taken, 0), ERROR_INVALID_HANDLE);
	assert_int_equal(add(file, &taken, 0), ERROR_INVALID_HANDLE);
	/* the first one has the header */
	assert_int_equal(add(stream, &taken, 1), ERROR_INVALID_DATA);
	assert_int_equal(add(stream, &taken, 0), ERROR_SUCCESS);
	/* no buffer; one that is cut; one with a damaged event */
	assert_int_equal(
		ProcessTraceAddBufferToBufferStream(stream, (const void *)damaged, sizeof(damaged)),
		ERROR_INVALID_DATA);
	assert_int_equal(ProcessTraceAddBufferToBufferStream(stream, (const void *)taken.copies[1],
							     taken.sizes[1] - 8),
			 ERROR_INVALID_DATA);
	assert_true(taken.sizes[1] <= sizeof(damaged));
	memcpy(damaged, taken.copies[1], taken.sizes[1]);
	damaged[sizeof(ETW_BUFFER_HEADER)] ^= 0xFF;
	assert_int_equal(
		ProcessTraceAddBufferToBufferStream(stream, (const void *)damaged, taken.sizes[1]),
		ERROR_INVALID_DATA);
	assert_int_equal(add(stream, &taken, 1), ERROR_SUCCESS);
	assert_int_equal(add(stream, &taken, 1), ERROR_INVALID_TIME);
	assert_int_equal(completed, 0);
	/* [HERE] without a pass CloseTrace gives back what was added */
	assert_int_equal(CloseTrace(stream), ERROR_SUCCESS);
	assert_int_equal(completed, 2);
	assert_int_equal(CloseTrace(file), ERROR_SUCCESS);
	free_buffers(&taken);
}

/* [MSD] a reference to a buffer of a stream cannot be had: it is the program's already. */
static void buffers__no_references_to_a_stream(void **state)
{
	struct seen taken = take_buffers();
	unsigned completed = 0;
	PROCESSTRACE_HANDLE stream = OpenTraceFromBufferStream(&both, on_completion, &completed);

	(void)state;
	assert_true(stream != NONE);
	seen.keeps = 1;
	seen.stop_after_buffers = 2;
	for (unsigned i = 0; i < taken.buffers; i++)
		assert_int_equal(add(stream, &taken, i), ERROR_SUCCESS);
	assert_int_equal(ProcessTrace(&stream, 1, NULL, NULL), ERROR_CANCELLED);
	assert_int_equal(seen.keep_result, ERROR_INVALID_PARAMETER);
	assert_int_equal(CloseTrace(stream), ERROR_SUCCESS);
	assert_int_equal(completed, taken.buffers);
	free_buffers(&taken);
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
	return reset(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(buffers__open_errors, reset),
		cmocka_unit_test_setup(buffers__open_fills_the_header, reset),
		cmocka_unit_test_setup(buffers__events_and_whole_buffers, reset),
		cmocka_unit_test_setup(buffers__raw_timestamps, reset),
		cmocka_unit_test_setup(buffers__buffers_alone, reset),
		cmocka_unit_test_setup(buffers__a_callback_stops, reset),
		cmocka_unit_test_setup(buffers__no_callback_at_all, reset),
		cmocka_unit_test_setup(buffers__references_keep_them, reset),
		cmocka_unit_test_setup(buffers__reference_errors, reset),
		cmocka_unit_test_setup(buffers__a_stream_is_processed, reset),
		cmocka_unit_test_setup(buffers__stream_errors, reset),
		cmocka_unit_test_setup(buffers__no_references_to_a_stream, reset),
	};

	return cmocka_run_group_tests_name("evntrace.h buffers", tests, make_folder, remove_folder);
}
