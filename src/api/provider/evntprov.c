/* SPDX-License-Identifier: MIT */
/* evntprov.h: providers. EventActivityIdControl is in activity_id.c. */
#include <evntprov.h>
#include <winerror.h>

#include "api/unbuilt.h"

ULONG EventRegister(LPCGUID ProviderId, PENABLECALLBACK EnableCallback, PVOID CallbackContext,
		    PREGHANDLE RegHandle)
{
	ETW_UNBUILT(EventRegister, ProviderId, EnableCallback, CallbackContext, RegHandle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventUnregister(REGHANDLE RegHandle)
{
	ETW_UNBUILT(EventUnregister, RegHandle);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass,
			  PVOID EventInformation, ULONG InformationLength)
{
	ETW_UNBUILT(EventSetInformation, RegHandle, InformationClass, EventInformation,
		    InformationLength);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

BOOLEAN EventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
{
	ETW_UNBUILT(EventEnabled, RegHandle, EventDescriptor);
	return FALSE;
}

BOOLEAN EventProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
{
	ETW_UNBUILT(EventProviderEnabled, RegHandle, Level, Keyword);
	return FALSE;
}

ULONG EventWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG UserDataCount,
		 PEVENT_DATA_DESCRIPTOR UserData)
{
	ETW_UNBUILT(EventWrite, RegHandle, EventDescriptor, UserDataCount, UserData);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
			 LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
			 PEVENT_DATA_DESCRIPTOR UserData)
{
	ETW_UNBUILT(EventWriteTransfer, RegHandle, EventDescriptor, ActivityId, RelatedActivityId,
		    UserDataCount, UserData);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter,
		   ULONG Flags, LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
		   PEVENT_DATA_DESCRIPTOR UserData)
{
	ETW_UNBUILT(EventWriteEx, RegHandle, EventDescriptor, Filter, Flags, ActivityId,
		    RelatedActivityId, UserDataCount, UserData);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventWriteString(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword, PCWSTR String)
{
	ETW_UNBUILT(EventWriteString, RegHandle, Level, Keyword, String);
	return ERROR_CALL_NOT_IMPLEMENTED;
}
