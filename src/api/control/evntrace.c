/* SPDX-License-Identifier: MIT */
/* evntrace.h, the controller's side: sessions and what they enable. */
#include <evntrace.h>
#include <winerror.h>

#include "api/unbuilt.h"

ULONG StartTraceW(PTRACEHANDLE TraceHandle, LPCWSTR InstanceName,
		  PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(StartTraceW, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG StartTraceA(PTRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(StartTraceA, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG StopTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(StopTraceW, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG StopTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(StopTraceA, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG QueryTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(QueryTraceW, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG QueryTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(QueryTraceA, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG UpdateTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName,
		   PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(UpdateTraceW, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG UpdateTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(UpdateTraceA, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG FlushTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(FlushTraceW, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG FlushTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName, PEVENT_TRACE_PROPERTIES Properties)
{
	ETW_UNBUILT(FlushTraceA, TraceHandle, InstanceName, Properties);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG ControlTraceW(TRACEHANDLE TraceHandle, LPCWSTR InstanceName,
		    PEVENT_TRACE_PROPERTIES Properties, ULONG ControlCode)
{
	ETW_UNBUILT(ControlTraceW, TraceHandle, InstanceName, Properties, ControlCode);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG ControlTraceA(TRACEHANDLE TraceHandle, LPCSTR InstanceName,
		    PEVENT_TRACE_PROPERTIES Properties, ULONG ControlCode)
{
	ETW_UNBUILT(ControlTraceA, TraceHandle, InstanceName, Properties, ControlCode);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG QueryAllTracesW(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount,
		      PULONG LoggerCount)
{
	ETW_UNBUILT(QueryAllTracesW, PropertyArray, PropertyArrayCount, LoggerCount);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG QueryAllTracesA(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount,
		      PULONG LoggerCount)
{
	ETW_UNBUILT(QueryAllTracesA, PropertyArray, PropertyArrayCount, LoggerCount);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EnableTrace(ULONG Enable, ULONG EnableFlag, ULONG EnableLevel, LPCGUID ControlGuid,
		  TRACEHANDLE TraceHandle)
{
	ETW_UNBUILT(EnableTrace, Enable, EnableFlag, EnableLevel, ControlGuid, TraceHandle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EnableTraceEx(LPCGUID ProviderId, LPCGUID SourceId, TRACEHANDLE TraceHandle, ULONG IsEnabled,
		    UCHAR Level, ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword,
		    ULONG EnableProperty, PEVENT_FILTER_DESCRIPTOR EnableFilterDesc)
{
	ETW_UNBUILT(EnableTraceEx, ProviderId, SourceId, TraceHandle, IsEnabled, Level,
		    MatchAnyKeyword, MatchAllKeyword, EnableProperty, EnableFilterDesc);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EnableTraceEx2(TRACEHANDLE TraceHandle, LPCGUID ProviderId, ULONG ControlCode, UCHAR Level,
		     ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword, ULONG Timeout,
		     PENABLE_TRACE_PARAMETERS EnableParameters)
{
	ETW_UNBUILT(EnableTraceEx2, TraceHandle, ProviderId, ControlCode, Level, MatchAnyKeyword,
		    MatchAllKeyword, Timeout, EnableParameters);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EnumerateTraceGuids(PTRACE_GUID_PROPERTIES *GuidPropertiesArray, ULONG PropertyArrayCount,
			  PULONG GuidCount)
{
	ETW_UNBUILT(EnumerateTraceGuids, GuidPropertiesArray, PropertyArrayCount, GuidCount);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS TraceQueryInfoClass, PVOID InBuffer,
			    ULONG InBufferSize, PVOID OutBuffer, ULONG OutBufferSize,
			    PULONG ReturnLength)
{
	ETW_UNBUILT(EnumerateTraceGuidsEx, TraceQueryInfoClass, InBuffer, InBufferSize, OutBuffer,
		    OutBufferSize, ReturnLength);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG TraceSetInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass,
			  PVOID TraceInformation, ULONG InformationLength)
{
	ETW_UNBUILT(TraceSetInformation, SessionHandle, InformationClass, TraceInformation,
		    InformationLength);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG TraceQueryInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass,
			    PVOID TraceInformation, ULONG InformationLength, PULONG ReturnLength)
{
	ETW_UNBUILT(TraceQueryInformation, SessionHandle, InformationClass, TraceInformation,
		    InformationLength, ReturnLength);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG TraceConfigureLastBranchRecord(TRACEHANDLE TraceHandle,
				     TRACE_LBR_CONFIGURATION LbrConfiguration,
				     const CLASSIC_EVENT_ID *Events, ULONG EventCount)
{
	ETW_UNBUILT(TraceConfigureLastBranchRecord, TraceHandle, LbrConfiguration, Events,
		    EventCount);
	return ERROR_CALL_NOT_IMPLEMENTED;
}
