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
#include "api/provider/copies.h"
#include "api/win32_error.h"
#include "private/private.h"
#include "provider/event_layout.h"
#include "provider/event_plain.h"
#include "provider/event_usual.h"
#include "provider/provider.h"
#include "provider/registrations.h"
#include "provider/stack.h"

#define WRITE_FLAGS ((ULONG)(EVENT_WRITE_FLAG_NO_FAULTING | EVENT_WRITE_FLAG_INPRIVATE))

/* The section is set by a declaration, as the functions' other declarations are in public headers. */
ETW_STACK_ENTRY __typeof__(EventWrite) EventWrite;
ETW_STACK_ENTRY __typeof__(EventWriteTransfer) EventWriteTransfer;
ETW_STACK_ENTRY __typeof__(EventWriteEx) EventWriteEx;
ETW_STACK_ENTRY __typeof__(EventWriteString) EventWriteString;

ULONG EventRegister(LPCGUID ProviderId, PENABLECALLBACK EnableCallback, PVOID CallbackContext,
		    PREGHANDLE RegHandle)
{
	int r;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_register(ProviderId, EnableCallback, CallbackContext,
						      RegHandle);
	if (!ProviderId || !RegHandle)
		return ERROR_INVALID_PARAMETER;
	if (etw_copy_is_strange())
		return ERROR_REVISION_MISMATCH;
	store_relaxed(RegHandle, (REGHANDLE)0);
	etw_private_serve_hosts();
	r = etw_provider_register(ProviderId, EnableCallback, CallbackContext, RegHandle);
	return r == -EAGAIN ? ERROR_NOT_ENOUGH_MEMORY : etw_win32_from_result(r);
}

ULONG EventUnregister(REGHANDLE RegHandle)
{
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_unregister(RegHandle);
	return etw_win32_from_result(etw_provider_unregister(RegHandle));
}

/* What Microsoft's page names for a handle that is none, where other functions have ERROR_INVALID_HANDLE. */
static ULONG information_error(int result)
{
	return result == -EBADF ? ERROR_INVALID_PARAMETER : etw_win32_from_result(result);
}

static ULONG set_typed(REGHANDLE handle, const void *information, ULONG bytes)
{
	BOOLEAN is_typed;

	if (!information || bytes != sizeof(is_typed))
		return ERROR_INVALID_PARAMETER;
	memcpy(&is_typed, information, sizeof(is_typed));
	return information_error(etw_provider_set_typed(handle, is_typed));
}

ULONG EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass,
			  PVOID EventInformation, ULONG InformationLength)
{
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_set_information(RegHandle, InformationClass,
							     EventInformation, InformationLength);
	switch (InformationClass) {
	case EventProviderBinaryTrackInfo:
		/* Asks that sessions note the provider's binary; Image events do, for every binary. */
		return information_error(etw_provider_check_handle(RegHandle));
	case EventProviderSetTraits:
		if (!EventInformation)
			return ERROR_INVALID_PARAMETER;
		return information_error(
			etw_provider_set_traits(RegHandle, EventInformation, InformationLength));
	case EventProviderUseDescriptorType:
		return set_typed(RegHandle, EventInformation, InformationLength);
	default:
		return etw_provider_check_handle(RegHandle) < 0 ? ERROR_INVALID_PARAMETER
								: ERROR_NOT_SUPPORTED;
	}
}

BOOLEAN EventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
{
	if (LIKELY(etw_provider_is_closed(RegHandle)) || !EventDescriptor)
		return FALSE;
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_enabled(RegHandle, EventDescriptor);
	return etw_provider_wants(RegHandle, EventDescriptor->Level, EventDescriptor->Keyword);
}

BOOLEAN EventProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
{
	if (LIKELY(etw_provider_is_closed(RegHandle)))
		return FALSE;
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_provider_enabled(RegHandle, Level, Keyword);
	return etw_provider_wants(RegHandle, Level, Keyword);
}

static inline bool are_sound(PCEVENT_DESCRIPTOR descriptor, ULONG data_count,
			     const EVENT_DATA_DESCRIPTOR *data)
{
	return descriptor && data_count <= MAX_EVENT_DATA_DESCRIPTORS && (data || !data_count);
}

/* What is wrong with a write behind the gate: the handle before everything else. */
static ULONG refusal(REGHANDLE handle)
{
	return etw_provider_gate(handle) < 0 ? ERROR_INVALID_HANDLE : ERROR_INVALID_PARAMETER;
}

/* Behind the gate: somebody wants events of the provider, or there is no such provider. */
static ULONG write_event(REGHANDLE handle, const struct etw_event_request *request)
{
	int r;

	if (UNLIKELY(!are_sound(request->descriptor, request->data_count, request->data)))
		return refusal(handle);
	r = etw_provider_write_usual(handle, request);
	return LIKELY(r == 0) ? ERROR_SUCCESS : etw_win32_from_result(r);
}

/* What is not so simple. Parameters that registers hold: others call it last. */
ETW_STACK_ENTRY static __attribute__((noinline)) ULONG write_otherwise(
	REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG data_count,
	PEVENT_DATA_DESCRIPTOR data, LPCGUID activity)
{
	const struct etw_event_request request = {
		.descriptor = descriptor,
		.data = data,
		.data_count = data_count,
		.activity = activity,
	};
	/* A hint, which spares a path that would find it out: sessions that ask for more do so for a while. */
	const uint32_t general = load_relaxed(&etw_handle_place(handle)->general);

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_write_transfer(
			handle, descriptor, activity == &etw_thread_activity ? NULL : activity,
			NULL, data_count, data);
	if (general & ~(uint32_t)(ETW_GENERAL_TRAITS | ETW_GENERAL_TWICE) &&
	    are_sound(descriptor, data_count, data))
		return etw_win32_from_result(etw_provider_write_unusual(handle, &request));
	return write_event(handle, &request);
}

/* Several sessions, or what is even less simple. */
ETW_STACK_ENTRY static __attribute__((noinline)) ULONG write_payload(REGHANDLE handle,
								     PCEVENT_DESCRIPTOR descriptor,
								     ULONG data_count,
								     PEVENT_DATA_DESCRIPTOR data,
								     LPCGUID activity)
{
	if (LIKELY(are_sound(descriptor, data_count, data)) &&
	    LIKELY(etw_provider_write_payload(handle, descriptor, data, data_count, activity) == 0))
		return ERROR_SUCCESS;
	return write_otherwise(handle, descriptor, data_count, data, activity);
}

/* Apart from EventWrite(), which so needs no frame of its own before it has looked at the gate. */
ETW_STACK_ENTRY static __attribute__((noinline)) ULONG write_plain(
	REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG data_count,
	PEVENT_DATA_DESCRIPTOR data, const struct etw_registration *place)
{
	if (LIKELY(are_sound(descriptor, data_count, data)) &&
	    LIKELY(etw_provider_write_plain(place, handle, descriptor, data, data_count,
					    &etw_thread_activity) == 0))
		return ERROR_SUCCESS;
	return write_payload(handle, descriptor, data_count, data, &etw_thread_activity);
}

/* The same with an activity of the caller's: one parameter more costs EventWrite() as much as a field does. */
ETW_STACK_ENTRY static __attribute__((noinline)) ULONG write_of_activity(
	REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG data_count,
	PEVENT_DATA_DESCRIPTOR data, const struct etw_registration *place, LPCGUID activity)
{
	if (LIKELY(are_sound(descriptor, data_count, data)) &&
	    LIKELY(etw_provider_write_plain(place, handle, descriptor, data, data_count,
					    activity) == 0))
		return ERROR_SUCCESS;
	return write_payload(handle, descriptor, data_count, data, activity);
}

/* The same for TraceLogging, whose descriptors are there: etw_event_is_described(). */
ETW_STACK_ENTRY static __attribute__((noinline)) ULONG write_described(
	REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, ULONG data_count,
	PEVENT_DATA_DESCRIPTOR data, const struct etw_registration *place, LPCGUID activity)
{
	if (LIKELY(descriptor && data_count <= MAX_EVENT_DATA_DESCRIPTORS) &&
	    LIKELY(etw_provider_write_described(place, handle, descriptor, data, data_count,
						activity) == 0))
		return ERROR_SUCCESS;
	return write_otherwise(handle, descriptor, data_count, data, activity);
}

ULONG EventWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG UserDataCount,
		 PEVENT_DATA_DESCRIPTOR UserData)
{
	const struct etw_registration *place = etw_handle_place(RegHandle);

	if (LIKELY(etw_place_is_closed(place, RegHandle)))
		return ERROR_SUCCESS;
	return write_plain(RegHandle, EventDescriptor, UserDataCount, UserData, place);
}

ETW_STACK_ENTRY static __attribute__((noinline)) ULONG write_related(
	REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, LPCGUID activity, LPCGUID related,
	ULONG data_count, PEVENT_DATA_DESCRIPTOR data)
{
	const struct etw_event_request request = {
		.descriptor = descriptor,
		.data = data,
		.data_count = data_count,
		.activity = activity,
		.related = related,
	};

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_write_transfer(
			handle, descriptor, activity == &etw_thread_activity ? NULL : activity,
			related, data_count, data);
	return write_event(handle, &request);
}

ULONG EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
			 LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
			 PEVENT_DATA_DESCRIPTOR UserData)
{
	const struct etw_registration *place = etw_handle_place(RegHandle);

	if (LIKELY(etw_place_is_closed(place, RegHandle)))
		return ERROR_SUCCESS;
	if (!ActivityId)
		ActivityId = &etw_thread_activity;
	if (RelatedActivityId)
		return write_related(RegHandle, EventDescriptor, ActivityId, RelatedActivityId,
				     UserDataCount, UserData);
	if (UserData && etw_event_is_described(UserData, UserDataCount))
		return write_described(RegHandle, EventDescriptor, UserDataCount, UserData, place,
				       ActivityId);
	return write_of_activity(RegHandle, EventDescriptor, UserDataCount, UserData, place,
				 ActivityId);
}

ULONG EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter,
		   ULONG Flags, LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
		   PEVENT_DATA_DESCRIPTOR UserData)
{
	const struct etw_event_request request = {
		.descriptor = EventDescriptor,
		.data = UserData,
		.data_count = UserDataCount,
		.is_in_private = Flags & EVENT_WRITE_FLAG_INPRIVATE,
		.activity = ActivityId ? ActivityId : &etw_thread_activity,
		.related = RelatedActivityId,
		.excluded = (uint32_t)Filter, /* bits above are no session's */
	};

	if (LIKELY(etw_provider_is_closed(RegHandle)))
		return ERROR_SUCCESS;
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_write_ex(RegHandle, EventDescriptor, Filter, Flags,
						      ActivityId, RelatedActivityId, UserDataCount,
						      UserData);
	TRY_WIN32(etw_provider_gate(RegHandle));
	if (Flags & ~WRITE_FLAGS)
		return ERROR_INVALID_PARAMETER;
	return write_event(RegHandle, &request);
}

ULONG EventWriteString(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword, PCWSTR String)
{
	const EVENT_DESCRIPTOR descriptor = {.Level = Level, .Keyword = Keyword};
	EVENT_DATA_DESCRIPTOR data;
	const struct etw_event_request request = {
		.descriptor = &descriptor,
		.data = &data,
		.data_count = 1,
		.header_flags = EVENT_HEADER_FLAG_STRING_ONLY,
		.activity = &etw_thread_activity,
	};
	size_t chars = 0;

	if (LIKELY(etw_provider_is_closed(RegHandle)))
		return ERROR_SUCCESS;
	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->event_write_string(RegHandle, Level, Keyword, String);
	TRY_WIN32(etw_provider_gate(RegHandle));
	if (!String)
		return ERROR_INVALID_PARAMETER;
	while (chars < ETW_EVENT_BYTES_MAX && String[chars])
		chars++;
	EventDataDescCreate(&data, String, (ULONG)((chars + 1) * sizeof(*String)));
	return write_event(RegHandle, &request);
}
