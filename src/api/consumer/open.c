/* SPDX-License-Identifier: MIT */
#include "api/consumer/open.h"

#include <errhandlingapi.h>
#include <winerror.h>

#include <errno.h>

#include "api/consumer/logfile.h"
#include "api/tdh/lock.h"
#include "api/tdh/trace_files.h"
#include "api/win32_error.h"
#include "base/macros.h"
#include "base/path.h"

ULONG etw_open_file(const char *name, struct etw_open_trace *open)
{
	if (!*name)
		return ERROR_BAD_PATHNAME;
	TRY_WIN32(etw_path_resolve(name, &open->path));
	TRY_WIN32(etw_trace_open(open->path, &open->trace, NULL));
	etw_tdh_files_note(open->path);
	etw_tdh_look_again();
	return ERROR_SUCCESS;
}

ULONG etw_open_session(const char *name, uint64_t bytes, struct etw_open_trace *open)
{
	int result;

	TRY_WIN32(etw_trace_open_live(name, &open->trace));
	etw_trace_want_memory(open->trace, bytes);
	result = etw_trace_attach(open->trace);
	if (result == -EACCES || result == -ENOMEM)
		return etw_win32_from_result(result);
	etw_tdh_look_again();
	return ERROR_SUCCESS;
}

void etw_open_fill_logfile(const struct etw_open_trace *open, EVENT_TRACE_LOGFILEW *logfile)
{
	const struct etw_etl_header *header = etw_trace_header(open->trace);

	etw_logfile_header(header, &logfile->LogfileHeader);
	logfile->CurrentTime = 0;
	logfile->BuffersRead = 0;
	logfile->BufferSize = header->buffer_bytes;
	logfile->Filled = 0;
	logfile->EventsLost = header->events_lost;
	logfile->IsKernelTrace = etw_logfile_is_kernel(header);
}

PROCESSTRACE_HANDLE etw_open_fail(ULONG error)
{
	SetLastError(error);
	return INVALID_PROCESSTRACE_HANDLE;
}

PROCESSTRACE_HANDLE etw_open_finish(struct etw_open_trace *open)
{
	PROCESSTRACE_HANDLE handle;
	int result = etw_trace_handle_create(open, &handle);

	if (!result)
		return handle;
	etw_open_trace_freep(&open);
	return etw_open_fail(etw_win32_from_result(result));
}
