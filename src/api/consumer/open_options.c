/* SPDX-License-Identifier: MIT */
/* evntrace.h, the consumer's side: the ways to open a trace that take ETW_OPEN_TRACE_OPTIONS. */
#include <errhandlingapi.h>
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdlib.h>

#include "api/consumer/open.h"
#include "api/wide.h"
#include "api/win32_error.h"
#include "base/macros.h"

#define MODES_KNOWN ((ULONG)ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP)

/* What a pass has to do for these callbacks. */
static enum etw_trace_buffers buffers_for(const ETW_OPEN_TRACE_OPTIONS *options)
{
	if (!options->EventCallback)
		return ETW_BUFFERS_ALONE;
	return options->BufferCallback ? ETW_BUFFERS_IN_ORDER : ETW_BUFFERS_AS_DONE;
}

static ULONG check_options(const ETW_OPEN_TRACE_OPTIONS *options)
{
	if (!options || ((ULONG)options->ProcessTraceModes & ~MODES_KNOWN))
		return ERROR_INVALID_PARAMETER;
	return ERROR_SUCCESS;
}

/* Takes over the options and gives the trace its handle; takes @open. */
static PROCESSTRACE_HANDLE finish(struct etw_open_trace *open,
				  const ETW_OPEN_TRACE_OPTIONS *options,
				  TRACE_LOGFILE_HEADER *header)
{
	open->is_record = true;
	open->whole_buffer = options->BufferCallback;
	open->whole_context = options->BufferCallbackContext;
	open->logfile.EventRecordCallback = options->EventCallback;
	open->logfile.Context = options->EventCallbackContext;
	etw_trace_set_raw(open->trace,
			  options->ProcessTraceModes & ETW_PROCESS_TRACE_MODE_RAW_TIMESTAMP);
	etw_trace_set_context(open->trace, options->EventCallbackContext);
	etw_trace_set_buffers(open->trace, buffers_for(options));
	etw_open_fill_logfile(open, &open->logfile);
	if (header)
		*header = open->logfile.LogfileHeader;
	return etw_open_finish(open);
}

/* An open trace without a source. ERROR_SUCCESS, or why there can be none. */
static ULONG create(const ETW_OPEN_TRACE_OPTIONS *options, struct etw_open_trace **ret)
{
	CLEANUP(etw_open_trace_freep) struct etw_open_trace *open = NULL;
	ULONG error = check_options(options);

	if (error)
		return error;
	open = calloc(1, sizeof(*open));
	if (!open || etw_pin_account_create(UINT64_MAX, &open->pins))
		return ERROR_NOT_ENOUGH_MEMORY;
	*ret = TAKE(open);
	return ERROR_SUCCESS;
}

/* A buffer to be added. */
struct buffer {
	const uint8_t *at;
	size_t bytes;
	int result;
	bool is_done;
};

static void complete(const void *buffer, void *context)
{
	const struct etw_open_trace *open = context;

	open->completion(buffer, open->completion_context);
}

/* The name in UTF-8, and its copy for callbacks in @ret_copy. */
static ULONG take_name(LPCWSTR name, char **ret_utf8, LPWSTR *ret_copy)
{
	if (!name)
		return ERROR_INVALID_PARAMETER;
	if (etw_wide_to_utf8(name, ret_utf8) || etw_wide_copy(name, ret_copy))
		return ERROR_NOT_ENOUGH_MEMORY;
	return ERROR_SUCCESS;
}

PROCESSTRACE_HANDLE OpenTraceFromFile(LPCWSTR LogFileName, const ETW_OPEN_TRACE_OPTIONS *Options,
				      TRACE_LOGFILE_HEADER *LogFileHeader)
{
	CLEANUP(etw_open_trace_freep) struct etw_open_trace *open = NULL;
	CLEANUP(freep) char *name = NULL;
	ULONG error = create(Options, &open);

	if (!error)
		error = take_name(LogFileName, &name, &open->logfile.LogFileName);
	if (!error)
		error = etw_open_file(name, open);
	return error ? etw_open_fail(error) : finish(TAKE(open), Options, LogFileHeader);
}

PROCESSTRACE_HANDLE OpenTraceFromRealTimeLoggerWithAllocationOptions(
	LPCWSTR LoggerName, const ETW_OPEN_TRACE_OPTIONS *Options, ULONG_PTR AllocationSize,
	HANDLE MemoryPartitionHandle, TRACE_LOGFILE_HEADER *LogFileHeader)
{
	CLEANUP(etw_open_trace_freep) struct etw_open_trace *open = NULL;
	CLEANUP(freep) char *name = NULL;
	ULONG error = create(Options, &open);

	/* Linux has no memory partitions that a handle could stand for. */
	if (!error && MemoryPartitionHandle)
		error = ERROR_NOT_SUPPORTED;
	if (!error)
		error = take_name(LoggerName, &name, &open->logfile.LoggerName);
	if (!error && !*name)
		error = ERROR_INVALID_PARAMETER;
	if (!error)
		error = etw_open_session(name, AllocationSize, open);
	return error ? etw_open_fail(error) : finish(TAKE(open), Options, LogFileHeader);
}

PROCESSTRACE_HANDLE OpenTraceFromRealTimeLogger(LPCWSTR LoggerName,
						const ETW_OPEN_TRACE_OPTIONS *Options,
						TRACE_LOGFILE_HEADER *LogFileHeader)
{
	return OpenTraceFromRealTimeLoggerWithAllocationOptions(LoggerName, Options, 0, NULL,
								LogFileHeader);
}

PROCESSTRACE_HANDLE OpenTraceFromBufferStream(
	const ETW_OPEN_TRACE_OPTIONS *Options,
	PETW_BUFFER_COMPLETION_CALLBACK BufferCompletionCallback, void *BufferCompletionContext)
{
	CLEANUP(etw_open_trace_freep) struct etw_open_trace *open = NULL;
	ULONG error = create(Options, &open);

	if (!error && !BufferCompletionCallback)
		error = ERROR_INVALID_PARAMETER;
	if (!error) {
		open->completion = BufferCompletionCallback;
		open->completion_context = BufferCompletionContext;
		error = etw_win32_from_result(etw_trace_open_pushed(complete, open, &open->trace));
	}
	return error ? etw_open_fail(error) : finish(TAKE(open), Options, NULL);
}

/* The first buffer has the header, which others may ask for: so it is added under their lock. */
static int push_first(struct etw_open_trace *open, void *context)
{
	struct buffer *buffer = context;

	if (!etw_trace_has_header(open->trace)) {
		buffer->result = etw_trace_push(open->trace, buffer->at, buffer->bytes);
		buffer->is_done = true;
	}
	return 0;
}

static ULONG error_of_push(int result)
{
	switch (result) {
	case -EBADMSG:
		return ERROR_INVALID_DATA;
	case -ERANGE:
		return ERROR_INVALID_TIME;
	case -EINVAL:
	case -ESHUTDOWN:
		return ERROR_INVALID_HANDLE;
	default:
		return etw_win32_from_result(result);
	}
}

ULONG ProcessTraceAddBufferToBufferStream(PROCESSTRACE_HANDLE TraceHandle,
					  const ETW_BUFFER_HEADER *Buffer, ULONG BufferSize)
{
	struct buffer buffer = {.at = (const void *)Buffer, .bytes = BufferSize};
	struct etw_open_trace *open;

	if (!Buffer || BufferSize < sizeof(*Buffer))
		return ERROR_INVALID_PARAMETER;
	if (etw_trace_handle_borrow(TraceHandle, &open))
		return ERROR_INVALID_HANDLE;
	(void)etw_trace_handle_with(TraceHandle, push_first, &buffer);
	if (!buffer.is_done)
		buffer.result = etw_trace_push(open->trace, buffer.at, buffer.bytes);
	etw_trace_handle_return(open);
	return error_of_push(buffer.result);
}
