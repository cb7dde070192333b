/* SPDX-License-Identifier: MIT */
/* evntrace.h: StartTrace. */
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/control/hosts.h"
#include "api/control/mode.h"
#include "api/control/properties.h"
#include "api/provider/meet.h"
#include "api/provider/private_calls.h"
#include "api/wide.h"
#include "api/win32_error.h"
#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "etl/file_writer.h"
#include "wire/system_logger.h"

#define CLOCK_TYPE_MAX 3
#define NO_HANDLE      0 /* what a caller finds when there is no session */

/*
 * A file of a limited size must find room for all of it, whatever its mode. Windows also wants 200 MB to stay free on the
 * system's drive: a Linux file system keeps what the system needs by itself.
 */
static ULONG check_room(const struct wire_session_config *config)
{
	CLEANUP(freep) char *folder = strdup(config->log_file);
	uint64_t limit = etw_etl_file_limit(config->maximum_file_size, config->log_file_mode);
	struct statvfs disk;
	char *slash;

	if (!folder)
		return ERROR_NOT_ENOUGH_MEMORY;
	slash = strrchr(folder, '/');
	if (!config->maximum_file_size || !slash)
		return ERROR_SUCCESS;
	slash[slash == folder] = '\0';
	/* Who makes the file says why a folder cannot be had. */
	if (statvfs(folder, &disk) || disk.f_bavail >= limit / disk.f_frsize)
		return ERROR_SUCCESS;
	return ERROR_DISK_FULL;
}

static ULONG check_start(const struct etw_properties *properties,
			 struct wire_session_config *config)
{
	ULONG error;

	if (!(properties->block->Wnode.Flags & WNODE_FLAG_TRACED_GUID) ||
	    config->clock_type > CLOCK_TYPE_MAX)
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_fixed_session_bind(config->name, &config->guid));
	error = etw_mode_check(config);
	return error ? error : check_room(config);
}

/* Nobody but this process has it, nor needs a host for it. */
static int start_private(struct wire_session_config *config, struct wire_session_info *info)
{
	if (etw_guid_is_null(&config->guid))
		TRY(etw_guid_make(&config->guid));
	return etw_provider_private_start(config, info);
}

static ULONG start_session(const struct etw_properties *properties,
			   struct wire_session_config *config, PTRACEHANDLE handle)
{
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	int result;

	if (!info)
		return ERROR_NOT_ENOUGH_MEMORY;
	config->controller_pid = (uint32_t)getpid();
	config->controller_tid = (uint32_t)gettid();
	config->file_mode = (uint32_t)etw_file_mode();
	result = config->log_file_mode & EVENT_TRACE_PRIVATE_IN_PROC
			 ? start_private(config, info)
			 : etw_hosts_start(config, info);
	/* This process may have the provider, too, and has to hear of a host that was started just now. */
	if (result == 0 && config->log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE)
		etw_provider_meet_hosts();
	if (result)
		return etw_win32_from_start(result);
	*handle = info->handle;
	/* That the names fit was seen before; a path that grew is no reason to call it a failure. */
	(void)etw_properties_fill(properties, info);
	return ERROR_SUCCESS;
}

static ULONG start_trace(PTRACEHANDLE handle, const void *name, size_t name_units,
			 PEVENT_TRACE_PROPERTIES block, bool is_wide)
{
	CLEANUP(freep) struct wire_session_config *config = NULL;
	struct etw_properties properties;
	ULONG error = etw_properties_check(block, is_wide, &properties);

	if (error)
		return error;
	if (!etw_properties_has_room(&properties, name_units))
		return ERROR_BAD_LENGTH;
	config = calloc(1, sizeof(*config));
	if (!config)
		return ERROR_NOT_ENOUGH_MEMORY;
	error = etw_properties_set_name(name, is_wide, config->name);
	if (!error)
		error = etw_properties_read(&properties, config);
	if (!error)
		error = check_start(&properties, config);
	return error ? error : start_session(&properties, config, handle);
}

ULONG StartTraceW(PTRACEHANDLE TraceHandle, LPCWSTR InstanceName,
		  PEVENT_TRACE_PROPERTIES Properties)
{
	if (!TraceHandle)
		return ERROR_INVALID_PARAMETER;
	*TraceHandle = NO_HANDLE;
	if (!Properties)
		return ERROR_INVALID_PARAMETER;
	if (!InstanceName || !InstanceName[0])
		return ERROR_INVALID_NAME;
	return start_trace(TraceHandle, InstanceName, etw_wide_units(InstanceName), Properties,
			   /* is_wide= */ true);
}

ULONG StartTraceA(PTRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	if (!TraceHandle)
		return ERROR_INVALID_PARAMETER;
	*TraceHandle = NO_HANDLE;
	if (!Properties)
		return ERROR_INVALID_PARAMETER;
	if (!InstanceName || !InstanceName[0])
		return ERROR_INVALID_NAME;
	return start_trace(TraceHandle, InstanceName, strlen(InstanceName), Properties,
			   /* is_wide= */ false);
}
