/* SPDX-License-Identifier: MIT */
/* tdh.h: what is not built yet. The others are in the files beside this one. */
#include <tdh.h>
#include <winerror.h>

#include "api/unbuilt.h"

TDHSTATUS TdhEnumerateProviders(PPROVIDER_ENUMERATION_INFO pBuffer, PULONG pBufferSize)
{
	ETW_UNBUILT(TdhEnumerateProviders, pBuffer, pBufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhEnumerateProvidersForDecodingSource(DECODING_SOURCE filter,
						 PROVIDER_ENUMERATION_INFO *buffer,
						 ULONG bufferSize, PULONG bufferRequired)
{
	ETW_UNBUILT(TdhEnumerateProvidersForDecodingSource, filter, buffer, bufferSize,
		    bufferRequired);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhQueryProviderFieldInformation(LPGUID pGuid, ULONGLONG EventFieldValue,
					   EVENT_FIELD_TYPE EventFieldType,
					   PPROVIDER_FIELD_INFOARRAY pBuffer, PULONG pBufferSize)
{
	ETW_UNBUILT(TdhQueryProviderFieldInformation, pGuid, EventFieldValue, EventFieldType,
		    pBuffer, pBufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhEnumerateProviderFieldInformation(LPGUID pGuid, EVENT_FIELD_TYPE EventFieldType,
					       PPROVIDER_FIELD_INFOARRAY pBuffer,
					       PULONG pBufferSize)
{
	ETW_UNBUILT(TdhEnumerateProviderFieldInformation, pGuid, EventFieldType, pBuffer,
		    pBufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhEnumerateProviderFilters(LPGUID Guid, ULONG TdhContextCount, PTDH_CONTEXT TdhContext,
				      PULONG FilterCount, PPROVIDER_FILTER_INFO *Buffer,
				      PULONG BufferSize)
{
	ETW_UNBUILT(TdhEnumerateProviderFilters, Guid, TdhContextCount, TdhContext, FilterCount,
		    Buffer, BufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhEnumerateManifestProviderEvents(LPGUID ProviderGuid, PPROVIDER_EVENT_INFO Buffer,
					     PULONG BufferSize)
{
	ETW_UNBUILT(TdhEnumerateManifestProviderEvents, ProviderGuid, Buffer, BufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhGetManifestEventInformation(LPGUID ProviderGuid, PEVENT_DESCRIPTOR EventDescriptor,
					 PTRACE_EVENT_INFO Buffer, PULONG BufferSize)
{
	ETW_UNBUILT(TdhGetManifestEventInformation, ProviderGuid, EventDescriptor, Buffer,
		    BufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhLoadManifest(PWSTR Manifest)
{
	ETW_UNBUILT(TdhLoadManifest, Manifest);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhLoadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	ETW_UNBUILT(TdhLoadManifestFromMemory, pData, cbData);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhLoadManifestFromBinary(PWSTR BinaryPath)
{
	ETW_UNBUILT(TdhLoadManifestFromBinary, BinaryPath);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhUnloadManifest(PWSTR Manifest)
{
	ETW_UNBUILT(TdhUnloadManifest, Manifest);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

TDHSTATUS TdhUnloadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	ETW_UNBUILT(TdhUnloadManifestFromMemory, pData, cbData);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

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
