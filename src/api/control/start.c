/* SPDX-License-Identifier: MIT */
/* evntrace.h: StartTrace. */
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/control/hosts.h"
#include "api/control/mode.h"
#include "api/control/properties.h"
#include "api/wide.h"
#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "wire/well_known.h"

#define CLOCK_TYPE_MAX 3

/* Sessions whose name and GUID belong together. */
static const struct {
	const char *name;
	GUID guid;
} fixed_sessions[] = {
	{KERNEL_LOGGER_NAMEA, WIRE_KERNEL_LOGGER_GUID},
	{"Circular Kernel Context Logger",
	 {0x54dea73a, 0xed1f, 0x42a4, {0xaf, 0x71, 0x3e, 0x63, 0xd0, 0x56, 0xf1, 0x74}}},
};

/* The name gives the GUID; a GUID alone, or another one, is a mistake. */
static ULONG bind_fixed(struct wire_session_config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed_sessions); i++) {
		bool has_name = !strcasecmp(config->name, fixed_sessions[i].name);
		bool has_guid = etw_guid_equal(&config->guid, &fixed_sessions[i].guid);

		if (has_guid && !has_name)
			return ERROR_INVALID_PARAMETER;
		if (!has_name)
			continue;
		if (!has_guid && !etw_guid_is_null(&config->guid))
			return ERROR_INVALID_PARAMETER;
		config->guid = fixed_sessions[i].guid;
	}
	return ERROR_SUCCESS;
}

static ULONG check_start(const struct etw_properties *properties,
			 struct wire_session_config *config)
{
	ULONG error;

	if (!(properties->block->Wnode.Flags & WNODE_FLAG_TRACED_GUID) ||
	    config->clock_type > CLOCK_TYPE_MAX)
		return ERROR_INVALID_PARAMETER;
	error = bind_fixed(config);
	return error ? error : etw_mode_check(config);
}

/* Where it is the file that fails: its folder is not there, or its disk is full. */
static ULONG start_error(int result)
{
	if (result == -ENOENT)
		return ERROR_PATH_NOT_FOUND;
	return result == -ENOSPC ? ERROR_DISK_FULL : etw_hosts_error(result);
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
	result = etw_hosts_start(config, info);
	if (result)
		return start_error(result);
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
	if (!TraceHandle || !Properties)
		return ERROR_INVALID_PARAMETER;
	if (!InstanceName || !InstanceName[0])
		return ERROR_INVALID_NAME;
	return start_trace(TraceHandle, InstanceName, etw_wide_units(InstanceName), Properties,
			   /* is_wide= */ true);
}

ULONG StartTraceA(PTRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	if (!TraceHandle || !Properties)
		return ERROR_INVALID_PARAMETER;
	if (!InstanceName || !InstanceName[0])
		return ERROR_INVALID_NAME;
	return start_trace(TraceHandle, InstanceName, strlen(InstanceName), Properties,
			   /* is_wide= */ false);
}
