/* SPDX-License-Identifier: MIT */
/* evntrace.h: EnableTraceEx2 and the two older forms of it. */
#include <evntrace.h>
#include <winerror.h>

#include <stdbool.h>
#include <stdlib.h>

#include "api/control/hosts.h"
#include "api/provider/meet.h"
#include "api/provider/private_calls.h"
#include "api/win32_error.h"
#include "base/macros.h"
#include "wire/enable_request.h"
#include "wire/system_providers.h"

#define LEVEL_MAX 255

/* The descriptors as a list, in memory of @room. What their types may hold is checked with the whole request. */
static ULONG set_filters(const EVENT_FILTER_DESCRIPTOR *descriptors, ULONG count, uint8_t *room,
			 struct wire_enable_provider *enable)
{
	size_t bytes = 0;

	for (ULONG i = 0; i < count; i++) {
		const EVENT_FILTER_DESCRIPTOR *one = &descriptors[i];
		const struct wire_filter filter = {
			one->Type, {(const uint8_t *)(ULONG_PTR)one->Ptr, one->Size}};
		size_t taken;

		if (one->Type == EVENT_FILTER_TYPE_NONE && !one->Size)
			continue;
		if (one->Size && !one->Ptr)
			return ERROR_INVALID_PARAMETER;
		taken = wire_filter_put(room + bytes, WIRE_FILTER_LIST_BYTES_MAX - bytes, &filter);
		if (!taken)
			return ERROR_INVALID_PARAMETER;
		bytes += taken;
	}
	enable->filters = (struct etw_bytes){room, bytes};
	return ERROR_SUCCESS;
}

static ULONG set_parameters(const ENABLE_TRACE_PARAMETERS *parameters, uint8_t *room,
			    struct wire_enable_provider *enable)
{
	ULONG count;

	if (parameters->Version == ENABLE_TRACE_PARAMETERS_VERSION)
		count = parameters->EnableFilterDesc ? 1 : 0; /* there is no count to read */
	else if (parameters->Version == ENABLE_TRACE_PARAMETERS_VERSION_2)
		count = parameters->FilterDescCount;
	else
		return ERROR_INVALID_PARAMETER;
	if (count > MAX_EVENT_FILTERS_COUNT || (count && !parameters->EnableFilterDesc))
		return ERROR_INVALID_PARAMETER;
	enable->property = parameters->EnableProperty;
	enable->source = parameters->SourceId;
	return set_filters(parameters->EnableFilterDesc, count, room, enable);
}

ULONG EnableTraceEx2(TRACEHANDLE TraceHandle, LPCGUID ProviderId, ULONG ControlCode, UCHAR Level,
		     ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword, ULONG Timeout,
		     PENABLE_TRACE_PARAMETERS EnableParameters)
{
	struct wire_enable_provider enable = {
		.handle = TraceHandle,
		.code = ControlCode,
		.level = Level,
		.match_any = MatchAnyKeyword,
		.match_all = MatchAllKeyword,
		.timeout_ms = Timeout,
	};
	CLEANUP(freep) uint8_t *room = NULL;
	ULONG error = ERROR_SUCCESS;

	if (!TraceHandle || !ProviderId)
		return ERROR_INVALID_PARAMETER;
	enable.provider = *ProviderId;
	if (EnableParameters) {
		room = malloc(WIRE_FILTER_LIST_BYTES_MAX);
		error = room ? set_parameters(EnableParameters, room, &enable)
			     : ERROR_NOT_ENOUGH_MEMORY;
	}
	if (error)
		return error;
	TRY_WIN32(etw_enable_request_check(&enable));
	if (TraceHandle >= WIRE_PRIVATE_SESSION_ID_FIRST &&
	    TraceHandle <= WIRE_PRIVATE_SESSION_ID_LAST)
		return etw_system_provider_is(ProviderId)
			       ? ERROR_INVALID_PARAMETER
			       : etw_hosts_error(etw_provider_private_enable(&enable));
	etw_provider_meet_hosts();
	return etw_hosts_error(etw_hosts_enable(&enable));
}

ULONG EnableTraceEx(LPCGUID ProviderId, LPCGUID SourceId, TRACEHANDLE TraceHandle, ULONG IsEnabled,
		    UCHAR Level, ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword,
		    ULONG EnableProperty, PEVENT_FILTER_DESCRIPTOR EnableFilterDesc)
{
	ENABLE_TRACE_PARAMETERS parameters = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION,
		.EnableProperty = EnableProperty,
		.EnableFilterDesc = EnableFilterDesc,
	};

	if (SourceId)
		parameters.SourceId = *SourceId;
	return EnableTraceEx2(TraceHandle, ProviderId, IsEnabled, Level, MatchAnyKeyword,
			      MatchAllKeyword, /* Timeout= */ 0, &parameters);
}

/* The flags of a classic provider travel as its keywords. @Enable is a truth value, no control code. */
ULONG EnableTrace(ULONG Enable, ULONG EnableFlag, ULONG EnableLevel, LPCGUID ControlGuid,
		  TRACEHANDLE TraceHandle)
{
	if (EnableLevel > LEVEL_MAX)
		return ERROR_INVALID_PARAMETER;
	return EnableTraceEx2(TraceHandle, ControlGuid,
			      Enable ? EVENT_CONTROL_CODE_ENABLE_PROVIDER
				     : EVENT_CONTROL_CODE_DISABLE_PROVIDER,
			      (UCHAR)EnableLevel, EnableFlag, 0, /* Timeout= */ 0, NULL);
}
