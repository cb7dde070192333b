/* SPDX-License-Identifier: MIT */
/*
 * evntprov.h: providers. EventActivityIdControl is in activity_id.c. What is disabled costs a load and a
 * comparison here, and returns success whatever the other arguments are, as on Windows.
 */
#include <evntprov.h>

#include <errno.h>
#include <string.h>

#include <evntcons.h>
#include <winerror.h>

#include "api/provider/activity_id.h"
#include "api/win32_error.h"
#include "provider/event.h"
#include "provider/registry.h"

#define WRITE_FLAGS ((ULONG)(EVENT_WRITE_FLAG_NO_FAULTING | EVENT_WRITE_FLAG_INPRIVATE))

ULONG EventRegister(LPCGUID ProviderId, PENABLECALLBACK EnableCallback, PVOID CallbackContext,
		    PREGHANDLE RegHandle)
{
	int r;

	if (!ProviderId || !RegHandle)
		return ERROR_INVALID_PARAMETER;
	*RegHandle = 0;
	r = etw_provider_register(ProviderId, EnableCallback, CallbackContext, RegHandle);
	return r == -EAGAIN ? ERROR_NOT_ENOUGH_MEMORY : etw_win32_from_result(r);
}

ULONG EventUnregister(REGHANDLE RegHandle)
{
	return etw_win32_from_result(etw_provider_unregister(RegHandle));
}

static ULONG set_typed(REGHANDLE handle, const void *information, ULONG bytes)
{
	BOOLEAN is_typed;

	if (!information || bytes != sizeof(is_typed))
		return ERROR_INVALID_PARAMETER;
	memcpy(&is_typed, information, sizeof(is_typed));
	return etw_win32_from_result(etw_provider_set_typed(handle, is_typed));
}

ULONG EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass,
			  PVOID EventInformation, ULONG InformationLength)
{
	switch (InformationClass) {
	case EventProviderBinaryTrackInfo:
		/* Asks that sessions note the provider's binary; Image events do, for every binary. */
		return etw_win32_from_result(etw_provider_check_handle(RegHandle));
	case EventProviderSetTraits:
		if (!EventInformation)
			return ERROR_INVALID_PARAMETER;
		return etw_win32_from_result(
			etw_provider_set_traits(RegHandle, EventInformation, InformationLength));
	case EventProviderUseDescriptorType:
		return set_typed(RegHandle, EventInformation, InformationLength);
	default:
		TRY_WIN32(etw_provider_check_handle(RegHandle));
		return ERROR_NOT_SUPPORTED;
	}
}

BOOLEAN EventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
{
	if (LIKELY(etw_provider_gate(RegHandle) <= 0) || !EventDescriptor)
		return FALSE;
	return etw_provider_wants(RegHandle, EventDescriptor->Level, EventDescriptor->Keyword);
}

BOOLEAN EventProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
{
	return etw_provider_wants(RegHandle, Level, Keyword);
}

/* Never inlined: keeps what every disabled write costs small. */
static __attribute__((noinline)) ULONG write_event(REGHANDLE handle,
						   const struct etw_event_request *request)
{
	if (!request->descriptor || request->data_count > MAX_EVENT_DATA_DESCRIPTORS ||
	    (request->data_count > 0 && !request->data))
		return ERROR_INVALID_PARAMETER;
	return etw_win32_from_result(etw_provider_write(handle, request));
}

/* What stands in front of every write: returns when nobody wants anything of the provider. */
#define RETURN_IF_DISABLED(handle)                     \
	do {                                           \
		int gate_ = etw_provider_gate(handle); \
		if (LIKELY(gate_ == 0))                \
			return ERROR_SUCCESS;          \
		if (UNLIKELY(gate_ < 0))               \
			return ERROR_INVALID_HANDLE;   \
	} while (0)

ULONG EventWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG UserDataCount,
		 PEVENT_DATA_DESCRIPTOR UserData)
{
	RETURN_IF_DISABLED(RegHandle);
	return write_event(RegHandle, &(struct etw_event_request){
					      .descriptor = EventDescriptor,
					      .data = UserData,
					      .data_count = UserDataCount,
					      .activity = &etw_thread_activity,
				      });
}

ULONG EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
			 LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
			 PEVENT_DATA_DESCRIPTOR UserData)
{
	RETURN_IF_DISABLED(RegHandle);
	return write_event(RegHandle,
			   &(struct etw_event_request){
				   .descriptor = EventDescriptor,
				   .data = UserData,
				   .data_count = UserDataCount,
				   .activity = ActivityId ? ActivityId : &etw_thread_activity,
				   .related = RelatedActivityId,
			   });
}

ULONG EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter,
		   ULONG Flags, LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
		   PEVENT_DATA_DESCRIPTOR UserData)
{
	RETURN_IF_DISABLED(RegHandle);
	if (Flags & ~WRITE_FLAGS)
		return ERROR_INVALID_PARAMETER;
	if (Filter) /* names sessions by the ids of filters, and no session has any */
		return ERROR_NOT_SUPPORTED;
	return write_event(RegHandle,
			   &(struct etw_event_request){
				   .descriptor = EventDescriptor,
				   .data = UserData,
				   .data_count = UserDataCount,
				   .is_in_private = Flags & EVENT_WRITE_FLAG_INPRIVATE,
				   .activity = ActivityId ? ActivityId : &etw_thread_activity,
				   .related = RelatedActivityId,
			   });
}

ULONG EventWriteString(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword, PCWSTR String)
{
	const EVENT_DESCRIPTOR descriptor = {.Level = Level, .Keyword = Keyword};
	EVENT_DATA_DESCRIPTOR data;
	size_t chars = 0;

	RETURN_IF_DISABLED(RegHandle);
	if (!String)
		return ERROR_INVALID_PARAMETER;
	while (chars < ETW_EVENT_BYTES_MAX && String[chars])
		chars++;
	EventDataDescCreate(&data, String, (ULONG)((chars + 1) * sizeof(*String)));
	return write_event(RegHandle, &(struct etw_event_request){
					      .descriptor = &descriptor,
					      .data = &data,
					      .data_count = 1,
					      .header_flags = EVENT_HEADER_FLAG_STRING_ONLY,
					      .activity = &etw_thread_activity,
				      });
}
