/* SPDX-License-Identifier: MIT */
/* evntrace.h, the consumer's side: OpenTrace, ProcessTrace, CloseTrace and what belongs to them. */
#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/consumer/legacy_event.h"
#include "api/consumer/open.h"
#include "api/consumer/process.h"
#include "api/consumer/trace_handle.h"
#include "api/tdh/trace_files.h"
#include "api/wide.h"
#include "api/win32_error.h"
#include "base/macros.h"

/* What the W and the A form have in common. Strings are UTF-8, NULL when none was given. */
struct open_request {
	const char *file_name;
	const char *logger_name;
	ULONG mode;
	BOOL has_callback;
};

/* Checks in the order of the documentation; ERROR_SUCCESS when a trace may be opened. */
static ULONG check_request(const struct open_request *request)
{
	bool is_live = request->mode & PROCESS_TRACE_MODE_REAL_TIME;

	if (!request->file_name == !request->logger_name)
		return ERROR_INVALID_PARAMETER;
	if (!request->has_callback && !etw_class_callback_any())
		return ERROR_INVALID_PARAMETER;
	if (!request->logger_name == is_live)
		return ERROR_INVALID_PARAMETER;
	return ERROR_SUCCESS;
}

/* Opens what the request names into a new struct etw_open_trace. */
static ULONG open_source(const struct open_request *request, struct etw_open_trace **ret)
{
	CLEANUP(etw_open_trace_freep) struct etw_open_trace *open = NULL;
	ULONG error = check_request(request);

	if (error)
		return error;
	open = calloc(1, sizeof(*open));
	if (!open)
		return ERROR_NOT_ENOUGH_MEMORY;
	error = request->file_name ? etw_open_file(request->file_name, open)
				   : etw_open_session(request->logger_name, 0, open);
	if (error)
		return error;
	etw_trace_set_raw(open->trace, request->mode & PROCESS_TRACE_MODE_RAW_TIMESTAMP);
	open->is_record = request->mode & PROCESS_TRACE_MODE_EVENT_RECORD;
	*ret = TAKE(open);
	return ERROR_SUCCESS;
}

/*
 * Fills the caller's structure and the copy that callbacks see. The two forms differ only in the type
 * of their strings, so both go through the W form.
 */
static void fill_logfile(struct etw_open_trace *open, EVENT_TRACE_LOGFILEW *logfile)
{
	LPWSTR file_name = open->logfile.LogFileName;
	LPWSTR logger_name = open->logfile.LoggerName;

	etw_open_fill_logfile(open, logfile);
	open->logfile = *logfile;
	open->logfile.LogFileName = file_name;
	open->logfile.LoggerName = logger_name;
	etw_trace_set_context(open->trace, logfile->Context);
}

/* Opens for either form; the copy of the name that was given is owned, and what callbacks see. */
static PROCESSTRACE_HANDLE open_trace(const struct open_request *request, void *name_copy,
				      EVENT_TRACE_LOGFILEW *logfile)
{
	CLEANUP(etw_open_trace_freep) struct etw_open_trace *open = NULL;
	ULONG error = open_source(request, &open);

	if (error) {
		free(name_copy);
		return etw_open_fail(error);
	}
	if (request->file_name)
		open->logfile.LogFileName = name_copy;
	else
		open->logfile.LoggerName = name_copy;
	fill_logfile(open, logfile);
	return etw_open_finish(TAKE(open));
}

PROCESSTRACE_HANDLE OpenTraceW(PEVENT_TRACE_LOGFILEW Logfile)
{
	CLEANUP(freep) char *file_name = NULL;
	CLEANUP(freep) char *logger_name = NULL;
	struct open_request request = {0};
	LPWSTR name, copy = NULL;

	if (!Logfile)
		return etw_open_fail(ERROR_INVALID_PARAMETER);
	if ((Logfile->LogFileName && etw_wide_to_utf8(Logfile->LogFileName, &file_name)) ||
	    (Logfile->LoggerName && etw_wide_to_utf8(Logfile->LoggerName, &logger_name)))
		return etw_open_fail(ERROR_NOT_ENOUGH_MEMORY);
	name = file_name ? Logfile->LogFileName : Logfile->LoggerName;
	if (name && etw_wide_copy(name, &copy))
		return etw_open_fail(ERROR_NOT_ENOUGH_MEMORY);
	request.file_name = file_name;
	request.logger_name = logger_name;
	request.mode = Logfile->ProcessTraceMode;
	request.has_callback = Logfile->EventCallback || Logfile->BufferCallback;
	return open_trace(&request, copy, Logfile);
}

PROCESSTRACE_HANDLE OpenTraceA(PEVENT_TRACE_LOGFILEA Logfile)
{
	struct open_request request = {0};
	const char *name;
	char *copy = NULL;

	static_assert(sizeof(EVENT_TRACE_LOGFILEA) == sizeof(EVENT_TRACE_LOGFILEW), "one layout");
	if (!Logfile)
		return etw_open_fail(ERROR_INVALID_PARAMETER);
	name = Logfile->LogFileName ? Logfile->LogFileName : Logfile->LoggerName;
	if (name) {
		copy = strdup(name);
		if (!copy)
			return etw_open_fail(ERROR_NOT_ENOUGH_MEMORY);
	}
	request.file_name = Logfile->LogFileName;
	request.logger_name = Logfile->LoggerName;
	request.mode = Logfile->ProcessTraceMode;
	request.has_callback = Logfile->EventCallback || Logfile->BufferCallback;
	return open_trace(&request, copy, (PEVENT_TRACE_LOGFILEW)Logfile);
}

/* What files have to teach was learnt when every event of them was delivered. */
static void note_whole_pass(struct etw_open_trace *const *opens, ULONG count)
{
	for (ULONG i = 0; i < count; i++) {
		/* Without a callback for events, only buffers were looked at. */
		bool has_looked = !opens[i]->whole_buffer || opens[i]->logfile.EventCallback;

		if (opens[i]->path && has_looked && !opens[i]->has_missed_schema)
			etw_tdh_files_seen(opens[i]->path);
	}
}

static int64_t filetime_value(const FILETIME *time)
{
	return (int64_t)((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime);
}

ULONG ProcessTrace(PTRACEHANDLE HandleArray, ULONG HandleCount, LPFILETIME StartTime,
		   LPFILETIME EndTime)
{
	struct etw_open_trace *opens[ETW_TRACE_HANDLES_PER_PASS];
	atomic_bool stop = false;
	int64_t from_ft = StartTime ? filetime_value(StartTime) : INT64_MIN;
	int64_t to_ft = EndTime ? filetime_value(EndTime) : INT64_MAX;

	if (!HandleCount || HandleCount > ETW_TRACE_HANDLES_PER_PASS)
		return ERROR_BAD_LENGTH;
	if (!HandleArray)
		return ERROR_INVALID_PARAMETER;
	if (from_ft > to_ft)
		return ERROR_INVALID_TIME;
	if (etw_trace_handle_begin(HandleArray, HandleCount, &stop, opens))
		return ERROR_INVALID_HANDLE;

	int result = etw_process_traces(opens, HandleCount, &stop, from_ft, to_ft);

	if (!result && from_ft == INT64_MIN && to_ft == INT64_MAX)
		note_whole_pass(opens, HandleCount);
	etw_trace_handle_end(opens, HandleCount);
	/* Files are open already; what is not there is a session. */
	return result == -ENOENT ? ERROR_WMI_INSTANCE_NOT_FOUND : etw_win32_from_result(result);
}

ULONG CloseTrace(TRACEHANDLE TraceHandle)
{
	switch (etw_trace_handle_close(TraceHandle)) {
	case 0:
		return ERROR_SUCCESS;
	case -EINPROGRESS:
		return ERROR_CTX_CLOSE_PENDING;
	default:
		return ERROR_INVALID_HANDLE;
	}
}

ULONG SetTraceCallback(LPCGUID pGuid, PEVENT_CALLBACK EventCallback)
{
	if (!pGuid || !EventCallback)
		return ERROR_INVALID_PARAMETER;
	return etw_win32_from_result(etw_class_callback_set(pGuid, EventCallback));
}

ULONG RemoveTraceCallback(LPCGUID pGuid)
{
	if (!pGuid)
		return ERROR_INVALID_PARAMETER;
	return etw_class_callback_remove(pGuid) ? ERROR_WMI_GUID_NOT_FOUND : ERROR_SUCCESS;
}
