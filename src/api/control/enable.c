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

#define LEVEL_MAX 255

static ULONG set_filter(const EVENT_FILTER_DESCRIPTOR *filter, struct wire_enable_provider *enable)
{
	if ((filter->Size && !filter->Ptr) || filter->Size > WIRE_FILTER_BYTES_MAX)
		return ERROR_INVALID_PARAMETER;
	enable->filter_type = filter->Type;
	enable->filter = (struct etw_bytes){(const uint8_t *)(ULONG_PTR)filter->Ptr, filter->Size};
	return ERROR_SUCCESS;
}

static ULONG set_parameters(const ENABLE_TRACE_PARAMETERS *parameters,
			    struct wire_enable_provider *enable)
{
	ULONG count;

	if (!parameters)
		return ERROR_SUCCESS;
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
	if (count > 1)
		return ERROR_NOT_SUPPORTED;
	return count ? set_filter(parameters->EnableFilterDesc, enable) : ERROR_SUCCESS;
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
	ULONG error;

	if (!TraceHandle || !ProviderId)
		return ERROR_INVALID_PARAMETER;
	enable.provider = *ProviderId;
	error = set_parameters(EnableParameters, &enable);
	if (error)
		return error;
	TRY_WIN32(etw_enable_request_check(&enable));
	if (TraceHandle >= WIRE_PRIVATE_SESSION_ID_FIRST &&
	    TraceHandle <= WIRE_PRIVATE_SESSION_ID_LAST)
		return etw_hosts_error(etw_provider_private_enable(&enable));
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
