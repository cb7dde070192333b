/* SPDX-License-Identifier: MIT */
/* evntrace.h, the provider's side: registering classic providers, and what their control callbacks ask. */
#include <evntrace.h>

#include <errno.h>
#include <stdint.h>

#include <errhandlingapi.h>
#include <winerror.h>
#include <wmistr.h>

#include "api/provider/copies.h"
#include "api/provider/logger_handle.h"
#include "api/win32_error.h"
#include "base/macros.h"
#include "private/private.h"
#include "provider/classes.h"
#include "provider/provider.h"

ULONG RegisterTraceGuidsW(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
			  ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg,
			  LPCWSTR MofImagePath, LPCWSTR MofResourceName,
			  PTRACEHANDLE RegistrationHandle)
{
	const struct etw_classic_request request = {
		.callback = RequestAddress,
		.context = RequestContext,
		.classes = TraceGuidReg,
		.class_count = GuidCount,
	};
	uint32_t result;
	int r;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->register_trace_guids(
			RequestAddress, RequestContext, ControlGuid, GuidCount, TraceGuidReg,
			MofImagePath, MofResourceName, RegistrationHandle);
	if (!RequestAddress || !ControlGuid || !RegistrationHandle || (GuidCount && !TraceGuidReg))
		return ERROR_INVALID_PARAMETER;
	etw_private_serve_hosts();
	for (ULONG i = 0; i < GuidCount; i++) {
		if (!TraceGuidReg[i].Guid)
			return ERROR_INVALID_PARAMETER;
	}
	if (etw_copy_is_strange())
		return ERROR_REVISION_MISMATCH;
	*RegistrationHandle = 0;
	r = etw_provider_register_classic(ControlGuid, &request, RegistrationHandle, &result);
	if (r < 0)
		return r == -EAGAIN ? ERROR_NOT_ENOUGH_MEMORY : etw_win32_from_result(r);
	return result; /* it is registered all the same, as on Windows */
}

ULONG RegisterTraceGuidsA(WMIDPREQUEST RequestAddress, PVOID RequestContext, LPCGUID ControlGuid,
			  ULONG GuidCount, PTRACE_GUID_REGISTRATION TraceGuidReg,
			  LPCSTR MofImagePath, LPCSTR MofResourceName,
			  PTRACEHANDLE RegistrationHandle)
{
	(void)MofImagePath;
	(void)MofResourceName;
	return RegisterTraceGuidsW(RequestAddress, RequestContext, ControlGuid, GuidCount,
				   TraceGuidReg, NULL, NULL, RegistrationHandle);
}

ULONG UnregisterTraceGuids(TRACEHANDLE RegistrationHandle)
{
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->unregister_trace_guids(RegistrationHandle);
	/* -EBADF alone: Microsoft's page names this error for what is no handle, and not ERROR_INVALID_HANDLE. */
	return etw_provider_unregister_classic(RegistrationHandle) < 0 ? ERROR_INVALID_PARAMETER
								       : ERROR_SUCCESS;
}

ULONG CreateTraceInstanceId(HANDLE RegHandle, PEVENT_INSTANCE_INFO InstInfo)
{
	uint32_t id;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->create_trace_instance_id(RegHandle, InstInfo);
	if (!RegHandle || !InstInfo ||
	    etw_class_next_instance((uint64_t)(uintptr_t)RegHandle, &id) < 0)
		return ERROR_INVALID_PARAMETER;
	InstInfo->RegHandle = RegHandle;
	InstInfo->InstanceId = id;
	return ERROR_SUCCESS;
}

static TRACEHANDLE no_handle(DWORD error)
{
	SetLastError(error);
	return (TRACEHANDLE)(ULONG_PTR)INVALID_HANDLE_VALUE;
}

TRACEHANDLE GetTraceLoggerHandle(PVOID Buffer)
{
	const WNODE_HEADER *node = Buffer;

	if (!node)
		return no_handle(ERROR_INVALID_PARAMETER);
	if (node->BufferSize < sizeof(*node))
		return no_handle(ERROR_BAD_LENGTH);
	if (!(node->Flags & WNODE_FLAG_TRACED_GUID))
		return no_handle(ERROR_INVALID_PARAMETER);
	if (!etw_logger_id(node->HistoricalContext))
		return no_handle(ERROR_INVALID_HANDLE);
	return node->HistoricalContext;
}

UCHAR GetTraceEnableLevel(TRACEHANDLE TraceHandle)
{
	if (!etw_logger_handle_is(TraceHandle)) {
		SetLastError(ERROR_INVALID_HANDLE);
		return 0;
	}
	return (UCHAR)(TraceHandle >> ETW_LOGGER_LEVEL_SHIFT);
}

ULONG GetTraceEnableFlags(TRACEHANDLE TraceHandle)
{
	if (!etw_logger_handle_is(TraceHandle)) {
		SetLastError(ERROR_INVALID_HANDLE);
		return 0;
	}
	return (ULONG)(TraceHandle >> ETW_LOGGER_FLAGS_SHIFT);
}
