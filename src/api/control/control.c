/* SPDX-License-Identifier: MIT */
/* evntrace.h: ControlTrace and the four functions that are one control code of it each. */
#include <evntrace.h>
#include <winerror.h>

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/control/hosts.h"
#include "api/control/mode.h"
#include "api/control/properties.h"
#include "api/provider/private_calls.h"
#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "wire/system_logger.h"

#define HANDLE_MAX 0xFFFE /* sessions have numbers of 16 bits; the last one means nothing */

static_assert(WIRE_CONTROL_QUERY == EVENT_TRACE_CONTROL_QUERY &&
		      WIRE_CONTROL_STOP == EVENT_TRACE_CONTROL_STOP &&
		      WIRE_CONTROL_UPDATE == EVENT_TRACE_CONTROL_UPDATE &&
		      WIRE_CONTROL_FLUSH == EVENT_TRACE_CONTROL_FLUSH &&
		      WIRE_CONTROL_INCREMENT_FILE == EVENT_TRACE_CONTROL_INCREMENT_FILE &&
		      WIRE_CONTROL_CONVERT_TO_REALTIME == EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME,
	      "the conversation speaks Microsoft's numbers");

static ULONG check_code(ULONG code)
{
	return code > EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME ? ERROR_INVALID_PARAMETER
							      : ERROR_SUCCESS;
}

/* What the caller wants changed, or where a flush is to go. Query and stop read nothing of the block. */
static ULONG read_request(const struct etw_properties *properties, ULONG code,
			  struct wire_control *control)
{
	ULONG error;

	control->code = code;
	if (code != EVENT_TRACE_CONTROL_UPDATE && code != EVENT_TRACE_CONTROL_FLUSH)
		return ERROR_SUCCESS;
	if (code == EVENT_TRACE_CONTROL_UPDATE) {
		error = etw_mode_check_together(properties->block->LogFileMode);
		if (error)
			return error;
	}
	/* On the way in a flush has no file as a rule, and the place holds whatever it holds. */
	error = etw_properties_read(properties, &control->config);
	control->config.controller_pid = (uint32_t)getpid();
	control->config.controller_tid = (uint32_t)gettid();
	control->config.file_mode = (uint32_t)etw_file_mode();
	if (error && code == EVENT_TRACE_CONTROL_FLUSH) {
		control->config = (struct wire_session_config){0};
		error = ERROR_SUCCESS;
	}
	return error;
}

/* What this process does not have may be a session of the host's, in other processes. */
static int control_private(struct wire_control *control, struct wire_session_info *info)
{
	int result = etw_provider_private_control(control, info);

	if (result != -ENOENT || control->handle)
		return result;
	control->config.log_file_mode |= EVENT_TRACE_PRIVATE_LOGGER_MODE;
	return etw_hosts_control(control, info);
}

static ULONG send_request(const struct etw_properties *properties, struct wire_control *control,
			  bool is_private)
{
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	int result;

	if (!info)
		return ERROR_NOT_ENOUGH_MEMORY;
	result = is_private ? control_private(control, info) : etw_hosts_control(control, info);
	/* A host that has a session says so of the disk alone. */
	if (result == -ENOSPC)
		return ERROR_DISK_FULL;
	if (result)
		return etw_hosts_error(result);
	/* Windows lets nobody delete the file. Here the session has ended, and there is no trace of it. */
	if (control->code == WIRE_CONTROL_STOP && info->file_status == -ENOENT) {
		(void)etw_properties_fill(properties, info);
		return ERROR_FILE_NOT_FOUND;
	}
	return etw_properties_fill(properties, info);
}

/* Which session is meant: the name when there is one, and only then. */
static ULONG set_session(TRACEHANDLE handle, const void *name, bool is_wide,
			 const EVENT_TRACE_PROPERTIES *block, struct wire_control *control)
{
	GUID guid = block->Wnode.Guid;
	ULONG error;

	if (!name) {
		control->handle = handle;
		return handle && handle <= HANDLE_MAX ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
	}
	control->guid = block->Wnode.Guid;
	error = etw_properties_set_name(name, is_wide, control->name);
	if (!error && etw_fixed_session_bind(control->name, &guid) < 0)
		error = ERROR_INVALID_PARAMETER;
	return error;
}

/*
 * A private session has a handle of its own kind; by name it is meant where the block says that it is one, or has the
 * GUID that it was started with. Its name may be that of a session of the host's, too.
 */
static bool is_private_one(const struct wire_control *control, const EVENT_TRACE_PROPERTIES *block)
{
	GUID guid;

	if (control->handle)
		return control->handle >= WIRE_PRIVATE_SESSION_ID_FIRST;
	return block->LogFileMode & EVENT_TRACE_PRIVATE_LOGGER_MODE ||
	       (etw_provider_private_find(control->name, &guid) == 0 &&
		etw_guid_equal(&guid, &block->Wnode.Guid));
}

static ULONG control_trace(TRACEHANDLE handle, const void *name, PEVENT_TRACE_PROPERTIES block,
			   ULONG code, bool is_wide)
{
	CLEANUP(freep) struct wire_control *control = NULL;
	struct etw_properties properties;
	ULONG error = etw_properties_check(block, is_wide, &properties);

	if (error)
		return error;
	control = calloc(1, sizeof(*control));
	if (!control)
		return ERROR_NOT_ENOUGH_MEMORY;
	error = set_session(handle, name, is_wide, block, control);
	if (!error)
		error = check_code(code);
	if (!error)
		error = read_request(&properties, code, control);
	return error ? error : send_request(&properties, control, is_private_one(control, block));
}

ULONG ControlTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName,
		    PEVENT_TRACE_PROPERTIES Properties, ULONG ControlCode)
{
	return control_trace(TraceHandle, InstanceName, Properties, ControlCode,
			     /* is_wide= */ true);
}

ULONG ControlTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName,
		    PEVENT_TRACE_PROPERTIES Properties, ULONG ControlCode)
{
	return control_trace(TraceHandle, InstanceName, Properties, ControlCode,
			     /* is_wide= */ false);
}

ULONG StopTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceW(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_STOP);
}

ULONG StopTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceA(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_STOP);
}

ULONG QueryTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceW(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_QUERY);
}

ULONG QueryTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceA(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_QUERY);
}

ULONG UpdateTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName,
		   PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceW(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_UPDATE);
}

ULONG UpdateTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceA(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_UPDATE);
}

ULONG FlushTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceW(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_FLUSH);
}

ULONG FlushTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	return ControlTraceA(TraceHandle, InstanceName, Properties, EVENT_TRACE_CONTROL_FLUSH);
}
