/* SPDX-License-Identifier: MIT */
/* tdh.h: what is not built yet. The others are in the files beside this one. */
#include <tdh.h>
#include <winerror.h>

#include "api/unbuilt.h"

TDHSTATUS TdhOpenDecodingHandle(PTDH_HANDLE Handle)
{
	ETW_UNBUILT(TdhOpenDecodingHandle, Handle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhSetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext)
{
	ETW_UNBUILT(TdhSetDecodingParameter, Handle, TdhContext);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhGetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext)
{
	ETW_UNBUILT(TdhGetDecodingParameter, Handle, TdhContext);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhGetWppProperty(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PWSTR PropertyName,
			    PULONG BufferSize, PBYTE Buffer)
{
	ETW_UNBUILT(TdhGetWppProperty, Handle, EventRecord, PropertyName, BufferSize, Buffer);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhGetWppMessage(TDH_HANDLE Handle, PEVENT_RECORD EventRecord, PULONG BufferSize,
			   PBYTE Buffer)
{
	ETW_UNBUILT(TdhGetWppMessage, Handle, EventRecord, BufferSize, Buffer);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhCloseDecodingHandle(TDH_HANDLE Handle)
{
	ETW_UNBUILT(TdhCloseDecodingHandle, Handle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhCreatePayloadFilter(LPCGUID ProviderGuid, PCEVENT_DESCRIPTOR EventDescriptor,
				 BOOLEAN EventMatchANY, ULONG PayloadPredicateCount,
				 PPAYLOAD_FILTER_PREDICATE PayloadPredicates, PVOID *PayloadFilter)
{
	ETW_UNBUILT(TdhCreatePayloadFilter, ProviderGuid, EventDescriptor, EventMatchANY,
		    PayloadPredicateCount, PayloadPredicates, PayloadFilter);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhDeletePayloadFilter(PVOID *PayloadFilter)
{
	ETW_UNBUILT(TdhDeletePayloadFilter, PayloadFilter);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhAggregatePayloadFilters(ULONG PayloadFilterCount, PVOID *PayloadFilterPtrs,
				     PBOOLEAN EventMatchALLFlags,
				     PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	ETW_UNBUILT(TdhAggregatePayloadFilters, PayloadFilterCount, PayloadFilterPtrs,
		    EventMatchALLFlags, EventFilterDescriptor);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhCleanupPayloadEventFilterDescriptor(PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor)
{
	ETW_UNBUILT(TdhCleanupPayloadEventFilterDescriptor, EventFilterDescriptor);
	return ERROR_CALL_NOT_IMPLEMENTED;
}
