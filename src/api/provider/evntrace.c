/* SPDX-License-Identifier: MIT */
/* evntrace.h, the provider's side: classic providers and WPP. */
#include <errhandlingapi.h>
#include <evntrace.h>
#include <winerror.h>

#include "api/unbuilt.h"

ULONG CreateTraceInstanceId(HANDLE RegHandle, PEVENT_INSTANCE_INFO InstInfo)
{
	ETW_UNBUILT(CreateTraceInstanceId, RegHandle, InstInfo);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG TraceEvent(TRACEHANDLE TraceHandle, PEVENT_TRACE_HEADER EventTrace)
{
	ETW_UNBUILT(TraceEvent, TraceHandle, EventTrace);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG TraceEventInstance(TRACEHANDLE TraceHandle, PEVENT_INSTANCE_HEADER EventTrace,
			 PEVENT_INSTANCE_INFO InstInfo, PEVENT_INSTANCE_INFO ParentInstInfo)
{
	ETW_UNBUILT(TraceEventInstance, TraceHandle, EventTrace, InstInfo, ParentInstInfo);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG RegisterTraceGuidsW(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
			  ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg,
			  LPCWSTR MofImagePath, LPCWSTR MofResourceName,
			  PTRACEHANDLE RegistrationHandle)
{
	ETW_UNBUILT(RegisterTraceGuidsW, RequestAddress, RequestContext, ControlGuid, GuidCount,
		    TraceGuidReg, MofImagePath, MofResourceName, RegistrationHandle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG RegisterTraceGuidsA(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
			  ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg,
			  LPCSTR MofImagePath, LPCSTR MofResourceName,
			  PTRACEHANDLE RegistrationHandle)
{
	ETW_UNBUILT(RegisterTraceGuidsA, RequestAddress, RequestContext, ControlGuid, GuidCount,
		    TraceGuidReg, MofImagePath, MofResourceName, RegistrationHandle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG UnregisterTraceGuids(TRACEHANDLE RegistrationHandle)
{
	ETW_UNBUILT(UnregisterTraceGuids, RegistrationHandle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TRACEHANDLE GetTraceLoggerHandle(PVOID Buffer)
{
	ETW_UNBUILT(GetTraceLoggerHandle, Buffer);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return (TRACEHANDLE)(ULONG_PTR)INVALID_HANDLE_VALUE;
}

UCHAR GetTraceEnableLevel(TRACEHANDLE TraceHandle)
{
	ETW_UNBUILT(GetTraceEnableLevel, TraceHandle);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return 0;
}

ULONG GetTraceEnableFlags(TRACEHANDLE TraceHandle)
{
	ETW_UNBUILT(GetTraceEnableFlags, TraceHandle);
	SetLastError(ERROR_CALL_NOT_IMPLEMENTED);
	return 0;
}

ULONG TraceMessage(TRACEHANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid,
		   USHORT MessageNumber, ...)
{
	ETW_UNBUILT(TraceMessage, LoggerHandle, MessageFlags, MessageGuid, MessageNumber);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG TraceMessageVa(TRACEHANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid,
		     USHORT MessageNumber, va_list MessageArgList)
{
	ETW_UNBUILT(TraceMessageVa, LoggerHandle, MessageFlags, MessageGuid, MessageNumber,
		    MessageArgList);
	return ERROR_CALL_NOT_IMPLEMENTED;
}
