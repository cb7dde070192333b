/* SPDX-License-Identifier: MIT */
/* evntrace.h, the controller's side: what is not built of it. */
#include <evntrace.h>
#include <winerror.h>

#include "api/unbuilt.h"

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
