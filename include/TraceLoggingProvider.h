/* SPDX-License-Identifier: MIT */
/*
 * TraceLogging: events that carry their own description, for C11 and C++11 and later, gcc and clang.
 *
 *   TRACELOGGING_DEFINE_PROVIDER(provider, "Company.Component", (0x12345678, 0x1234, 0x1234, 1, 2, 3, 4, 5, 6, 7, 8));
 *
 *   TraceLoggingRegister(provider);
 *   TraceLoggingWrite(provider, "Opened", TraceLoggingLevel(4), TraceLoggingString(path, "Path"));
 *   TraceLoggingUnregister(provider);
 *
 * The compiler lays the description out as a constant; writing allocates nothing, and costs a load and a comparison
 * while nobody has the provider enabled. What differs on Linux: LONG has 32 bits and long has 64, so TraceLoggingLong() takes a
 * LONG; wide text is UTF-16, of WCHAR, and wchar_t is that only with -fshort-wchar: write u"text" or ETW_WIDE("text").
 */
#ifndef ETW_TRACELOGGINGPROVIDER_H
#define ETW_TRACELOGGINGPROVIDER_H

#include <etw/tracelogging.h>
#include <etw/tracelogging_value.h>
#include <evntrace.h>
#include <winerror.h>
#include <winmeta.h>

typedef PENABLECALLBACK TLG_PENABLECALLBACK;
typedef HRESULT TLG_STATUS;

/* --- Providers. */

/* In a header: there is a provider of this name, in one source with TRACELOGGING_DEFINE_PROVIDER(). */
#define TRACELOGGING_DECLARE_PROVIDER(handleVariable)                                            \
	EXTERN_C const TraceLoggingHProvider handleVariable

/*
 * (handleVariable, "Name" [, (id as eleven numbers)] [, option...]). Without the id, or with nothing in its place, the
 * provider has the one that libetw_provider_id() makes of the name.
 */
#define TRACELOGGING_DEFINE_PROVIDER(handleVariable, ...)                                        \
	ETW_TL_STORAGE(ETW_JOIN(etw_tl_of_, handleVariable), __VA_ARGS__);                       \
	EXTERN_C const TraceLoggingHProvider handleVariable;                                     \
	const TraceLoggingHProvider handleVariable = &ETW_JOIN(etw_tl_of_, handleVariable)

/* The same without a handle, which is the address of the variable. */
#define TRACELOGGING_DEFINE_PROVIDER_STORAGE(storageVariable, ...)                               \
	ETW_TL_STORAGE(storageVariable, __VA_ARGS__)

/* Options of a provider: the group that it belongs to, as eleven numbers. */
#define TraceLoggingOptionGroup(...) (etw_group, (__VA_ARGS__))
#define TraceLoggingOptionMicrosoftTelemetry()                                                   \
	TraceLoggingOptionGroup(0x4f50731a, 0x89cf, 0x4782, 0xb3, 0xe0, 0xdc, 0xe8, 0xc9, 0x04,  \
				0x76, 0xba)

/* Handles are constant for programs, states are not. */
ETW_STATIC_INLINE struct _tlgProvider_t *etw_tl_state(TraceLoggingHProvider provider)
{
	return (struct _tlgProvider_t *)(ULONG_PTR)provider;
}

ETW_STATIC_INLINE const char *TraceLoggingProviderName(TraceLoggingHProvider hProvider)
{
	return (const char *)hProvider->Metadata + sizeof(UINT16);
}

/* Two threads may find it out at once; they find the same. All zeros where memory runs out or the name is no UTF-8. */
ETW_STATIC_INLINE GUID TraceLoggingProviderId(TraceLoggingHProvider hProvider)
{
	GUID id = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};

	if (hProvider->IsIdKnown)
		return hProvider->Id;
	(void)libetw_provider_id(TraceLoggingProviderName(hProvider), &id);
	return id;
}

/* Before the first event: they say what the descriptors' types mean, and which group the provider is in. */
ETW_STATIC_INLINE ULONG etw_tl_describe(struct _tlgProvider_t *state)
{
	const UINT8 *traits = (const UINT8 *)state->Metadata;
	ULONG error;

	if (__atomic_load_n(&state->IsDescribed, __ATOMIC_ACQUIRE))
		return ERROR_SUCCESS;
	error = EventSetInformation(state->RegHandle, EventProviderSetTraits,
				    (PVOID)(ULONG_PTR)traits,
				    (ULONG)(traits[0] | traits[1] << 8));
	/* Another thread was faster; or the traits hold, and this user may not be in their group. */
	if (error == ERROR_ALREADY_EXISTS || error == ERROR_ACCESS_DENIED)
		error = ERROR_SUCCESS;
	if (error == ERROR_SUCCESS)
		__atomic_store_n(&state->IsDescribed, 1, __ATOMIC_RELEASE);
	return error;
}

/* The library's, which knows of all sessions at once; the program's own callback comes after it. */
ETW_STATIC_INLINE VOID NTAPI etw_tl_on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any,
				       ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter,
				       PVOID context)
{
	struct _tlgProvider_t *state = (struct _tlgProvider_t *)context;
	UINT32 level_plus_1 = level ? level + 1u : 256;

	if (code == EVENT_CONTROL_CODE_DISABLE_PROVIDER)
		level_plus_1 = 0;
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		(void)etw_tl_describe(state);
	if (code != EVENT_CONTROL_CODE_CAPTURE_STATE) {
		__atomic_store_n(&state->KeywordAny, any ? any : ~(UINT64)0, __ATOMIC_RELAXED);
		__atomic_store_n(&state->KeywordAll, all, __ATOMIC_RELAXED);
		__atomic_store_n(&state->LevelPlus1, level_plus_1, __ATOMIC_RELEASE);
	}
	if (state->Callback)
		state->Callback(source, code, level, any, all, filter, state->Context);
}

/*
 * Registers a provider, as EventRegister() does, with a callback that hears of sessions that enable it. Returns S_OK or
 * HRESULT_FROM_WIN32() of EventRegister()'s or EventSetInformation()'s error; ERROR_INVALID_PARAMETER where it is
 * registered already. One thread at a time.
 */
ETW_STATIC_INLINE TLG_STATUS TraceLoggingRegisterEx(TraceLoggingHProvider hProvider,
					     TLG_PENABLECALLBACK pEnableCallback,
					     PVOID pCallbackContext)
{
	struct _tlgProvider_t *state = etw_tl_state(hProvider);
	ULONG error;

	if (state->RegHandle)
		return HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER);
	state->Id = TraceLoggingProviderId(hProvider);
	state->IsIdKnown = 1;
	state->Callback = pEnableCallback;
	state->Context = pCallbackContext;
	error = EventRegister(&state->Id, etw_tl_on_enable, state, &state->RegHandle);
	if (error != ERROR_SUCCESS)
		return HRESULT_FROM_WIN32(error);
	error = etw_tl_describe(state);
	if (error == ERROR_SUCCESS)
		return S_OK;
	(void)EventUnregister(state->RegHandle);
	__atomic_store_n(&state->LevelPlus1, 0, __ATOMIC_RELAXED);
	state->RegHandle = 0;
	return HRESULT_FROM_WIN32(error);
}

ETW_STATIC_INLINE TLG_STATUS TraceLoggingRegister(TraceLoggingHProvider hProvider)
{
	return TraceLoggingRegisterEx(hProvider, NULL, NULL);
}

/* Takes the registration back; a callback that runs is waited for. Without a registration nothing happens. */
ETW_STATIC_INLINE VOID TraceLoggingUnregister(TraceLoggingHProvider hProvider)
{
	struct _tlgProvider_t *state = etw_tl_state(hProvider);

	if (!state->RegHandle)
		return;
	(void)EventUnregister(state->RegHandle);
	__atomic_store_n(&state->LevelPlus1, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&state->IsDescribed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&state->RegHandle, 0, __ATOMIC_RELAXED);
}

/* Whether a session may want events of this level and keyword; 0: of whatever level or keyword. */
ETW_STATIC_INLINE BOOLEAN TraceLoggingProviderEnabled(TraceLoggingHProvider hProvider, UCHAR eventLevel,
					       ULONGLONG eventKeyword)
{
	return (BOOLEAN)etw_tl_is_wanted(hProvider, eventLevel, eventKeyword);
}

/* EventSetInformation() for the provider. Returns S_OK or HRESULT_FROM_WIN32() of its error. */
ETW_STATIC_INLINE TLG_STATUS TraceLoggingSetInformation(TraceLoggingHProvider hProvider,
						 EVENT_INFO_CLASS informationClass,
						 PVOID pvInformation, ULONG cbInformation)
{
	const ULONG error = EventSetInformation(hProvider->RegHandle, informationClass,
						pvInformation, cbInformation);

	return error == ERROR_SUCCESS ? S_OK : HRESULT_FROM_WIN32(error);
}

/* Sessions enable providers and not events by name, so this is whether any session has the provider enabled. */
#define TraceLoggingEventEnabled(hProvider, eventName)                                           \
	TraceLoggingProviderEnabled((hProvider), (UCHAR)(sizeof(eventName) * 0), 0)

/* --- Events: (provider, "Name", up to 99 options and fields in any order). */
#define TraceLoggingWrite(hProvider, ...) ETW_TL_WRITE(hProvider, NULL, NULL, __VA_ARGS__)

/*
 * (provider, "Name", activity id, related activity id, options and fields...). Pointers to GUIDs; NULL: the thread's
 * activity, no related one.
 */
#define TraceLoggingWriteActivity(hProvider, eventName, pActivityId, ...)                        \
	ETW_TL_WRITE_ACTIVITY(hProvider, eventName, pActivityId, __VA_ARGS__)

/* The same through EventWriteEx(): (provider, "Name", Filter, Flags, activity id, related activity id, ...). */
#define TraceLoggingWriteEx(hProvider, eventName, filter, flags, pActivityId, ...)               \
	ETW_TL_WRITE_EX(hProvider, eventName, filter, flags, pActivityId, __VA_ARGS__)

/* --- Options of an event. */
#define TraceLoggingLevel(eventLevel) ETW_TL_OPTION(ETW_TL_GIVEN(eventLevel), 0, 0, 0, 0)
#define TraceLoggingKeyword(eventKeyword) ETW_TL_OPTION(0, eventKeyword, 0, 0, 0)
#define TraceLoggingOpcode(eventOpcode) ETW_TL_OPTION(0, 0, ETW_TL_GIVEN(eventOpcode), 0, 0)
#define TraceLoggingChannel(eventChannel) ETW_TL_OPTION(0, 0, 0, ETW_TL_GIVEN(eventChannel), 0)
#define TraceLoggingEventTag(eventTag) ETW_TL_OPTION(0, 0, 0, 0, eventTag)
/* Said to whoever reads the source; nothing of it is in the event. */
#define TraceLoggingDescription(...) ETW_TL_IGNORED
#define TraceLoggingCustomAttribute(...) ETW_TL_IGNORED

/* --- Scalars: (value [, "name" [, "description" [, tag]]]); without a name, the text of the value is the name. */
#define TraceLoggingInt8(...)                                                                    \
	ETW_TL_SCALAR(TlgInINT8, TlgOutNULL, INT8, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt8(...)                                                                   \
	ETW_TL_SCALAR(TlgInUINT8, TlgOutNULL, UINT8, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt16(...)                                                                   \
	ETW_TL_SCALAR(TlgInINT16, TlgOutNULL, INT16, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt16(...)                                                                  \
	ETW_TL_SCALAR(TlgInUINT16, TlgOutNULL, UINT16, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt32(...)                                                                   \
	ETW_TL_SCALAR(TlgInINT32, TlgOutNULL, INT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt32(...)                                                                  \
	ETW_TL_SCALAR(TlgInUINT32, TlgOutNULL, UINT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingInt64(...)                                                                   \
	ETW_TL_SCALAR(TlgInINT64, TlgOutNULL, INT64, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUInt64(...)                                                                  \
	ETW_TL_SCALAR(TlgInUINT64, TlgOutNULL, UINT64, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingLong(...)                                                                    \
	ETW_TL_SCALAR(TlgInINT32, TlgOutNULL, LONG, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingULong(...)                                                                   \
	ETW_TL_SCALAR(TlgInUINT32, TlgOutNULL, ULONG, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingIntPtr(...)                                                                  \
	ETW_TL_SCALAR(ETW_TL_INT_POINTER, TlgOutNULL, INT_PTR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUIntPtr(...)                                                                 \
	ETW_TL_SCALAR(ETW_TL_UINT_POINTER, TlgOutNULL, UINT_PTR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt8(...)                                                                 \
	ETW_TL_SCALAR(TlgInUINT8, TlgOutHEX, INT8, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUInt8(...)                                                                \
	ETW_TL_SCALAR(TlgInUINT8, TlgOutHEX, UINT8, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt16(...)                                                                \
	ETW_TL_SCALAR(TlgInUINT16, TlgOutHEX, INT16, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUInt16(...)                                                               \
	ETW_TL_SCALAR(TlgInUINT16, TlgOutHEX, UINT16, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt32(...)                                                                \
	ETW_TL_SCALAR(TlgInHEXINT32, TlgOutNULL, INT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUInt32(...)                                                               \
	ETW_TL_SCALAR(TlgInHEXINT32, TlgOutNULL, UINT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexInt64(...)                                                                \
	ETW_TL_SCALAR(TlgInHEXINT64, TlgOutNULL, INT64, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUInt64(...)                                                               \
	ETW_TL_SCALAR(TlgInHEXINT64, TlgOutNULL, UINT64, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexLong(...)                                                                 \
	ETW_TL_SCALAR(TlgInHEXINT32, TlgOutNULL, LONG, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexULong(...)                                                                \
	ETW_TL_SCALAR(TlgInHEXINT32, TlgOutNULL, ULONG, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexIntPtr(...)                                                               \
	ETW_TL_SCALAR(ETW_TL_HEX_POINTER, TlgOutNULL, INT_PTR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHexUIntPtr(...)                                                              \
	ETW_TL_SCALAR(ETW_TL_HEX_POINTER, TlgOutNULL, UINT_PTR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingFloat32(...)                                                                 \
	ETW_TL_SCALAR(TlgInFLOAT, TlgOutNULL, FLOAT, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingFloat64(...)                                                                 \
	ETW_TL_SCALAR(TlgInDOUBLE, TlgOutNULL, DOUBLE, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingBoolean(...)                                                                 \
	ETW_TL_SCALAR(TlgInUINT8, TlgOutBOOLEAN, BOOLEAN, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingBool(...)                                                                    \
	ETW_TL_SCALAR(TlgInBOOL32, TlgOutNULL, BOOL, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingPointer(...)                                                                 \
	ETW_TL_SCALAR(ETW_TL_HEX_POINTER, TlgOutNULL, PCVOID, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingCodePointer(...)                                                             \
	ETW_TL_FIELD(etw_field, ETW_TL_HEX_POINTER, TlgOutCODE_POINTER, , etw_code_pointer, 1,             \
		     #__VA_ARGS__, , , __VA_ARGS__)
#define TraceLoggingFileTime(...)                                                                \
	ETW_TL_SCALAR(TlgInFILETIME, TlgOutNULL, FILETIME, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingFileTimeUtc(...)                                                             \
	ETW_TL_SCALAR(TlgInFILETIME, TlgOutDATETIME_UTC, FILETIME, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingSystemTime(...)                                                              \
	ETW_TL_SCALAR(TlgInSYSTEMTIME, TlgOutNULL, SYSTEMTIME, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingSystemTimeUtc(...)                                                           \
	ETW_TL_SCALAR(TlgInSYSTEMTIME, TlgOutDATETIME_UTC, SYSTEMTIME, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingGuid(...)                                                                    \
	ETW_TL_SCALAR(TlgInGUID, TlgOutNULL, GUID, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingChar(...)                                                                    \
	ETW_TL_SCALAR(TlgInUINT8, TlgOutSTRING, CHAR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingChar16(...)                                                                  \
	ETW_TL_SCALAR(TlgInUINT16, TlgOutSTRING, ETW_TL_CHAR16, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingWChar(...)                                                                   \
	ETW_TL_SCALAR(TlgInUINT16, TlgOutSTRING, WCHAR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingPid(...)                                                                     \
	ETW_TL_SCALAR(TlgInUINT32, TlgOutPID, UINT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingTid(...)                                                                     \
	ETW_TL_SCALAR(TlgInUINT32, TlgOutTID, UINT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingPort(...)                                                                    \
	ETW_TL_SCALAR(TlgInUINT16, TlgOutPORT, UINT16, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingIPv4Address(...)                                                             \
	ETW_TL_SCALAR(TlgInUINT32, TlgOutIPV4, UINT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingWinError(...)                                                                \
	ETW_TL_SCALAR(TlgInUINT32, TlgOutWIN32ERROR, UINT32, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingNTStatus(...)                                                                \
	ETW_TL_SCALAR(TlgInHEXINT32, TlgOutNTSTATUS, NTSTATUS, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingHResult(...)                                                                 \
	ETW_TL_SCALAR(TlgInINT32, TlgOutHRESULT, HRESULT, #__VA_ARGS__, __VA_ARGS__)

/* Of the type that the value has: numbers, characters, bool, pointers, text, GUID, FILETIME, SYSTEMTIME, SID. */
#define TraceLoggingValue(...) ETW_TL_AUTO(#__VA_ARGS__, __VA_ARGS__)

/* --- Text with its NUL: (text [, "name" [, "description" [, tag]]]); NULL is written as empty text. */
#define TraceLoggingString(...)                                                                  \
	ETW_TL_TEXT(TlgInANSISTRING, TlgOutNULL, CHAR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingUtf8String(...)                                                              \
	ETW_TL_TEXT(TlgInANSISTRING, TlgOutUTF8, CHAR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingWideString(...)                                                              \
	ETW_TL_TEXT(TlgInUNICODESTRING, TlgOutNULL, WCHAR, #__VA_ARGS__, __VA_ARGS__)
#define TraceLoggingString16(...)                                                                \
	ETW_TL_TEXT(TlgInUNICODESTRING, TlgOutNULL, ETW_TL_CHAR16, #__VA_ARGS__, __VA_ARGS__)

/* --- Text of a number of characters: (characters, count [, "name" [, "description" [, tag]]]). */
#define TraceLoggingCountedString(pchValue, ...)                                                 \
	ETW_TL_COUNTED(TlgInCOUNTEDANSISTRING, TlgOutNULL, CHAR, #pchValue, pchValue, __VA_ARGS__)
#define TraceLoggingCountedUtf8String(pchValue, ...)                                             \
	ETW_TL_COUNTED(TlgInCOUNTEDANSISTRING, TlgOutUTF8, CHAR, #pchValue, pchValue, __VA_ARGS__)
#define TraceLoggingCountedWideString(pchValue, ...)                                             \
	ETW_TL_COUNTED(TlgInCOUNTEDSTRING, TlgOutNULL, WCHAR, #pchValue, pchValue, __VA_ARGS__)
#define TraceLoggingCountedString16(pchValue, ...)                                               \
	ETW_TL_COUNTED(TlgInCOUNTEDSTRING, TlgOutNULL, ETW_TL_CHAR16, #pchValue, pchValue,       \
		       __VA_ARGS__)
/* Arrays of characters are counted text. */
#define TraceLoggingCharArray TraceLoggingCountedString
#define TraceLoggingCharFixedArray TraceLoggingCountedString
#define TraceLoggingWCharArray TraceLoggingCountedWideString
#define TraceLoggingWCharFixedArray TraceLoggingCountedWideString
#define TraceLoggingChar16Array TraceLoggingCountedString16
#define TraceLoggingChar16FixedArray TraceLoggingCountedString16

/* (pointer to a UNICODE_STRING or ANSI_STRING [, "name" [, "description" [, tag]]]). */
#define TraceLoggingUnicodeString(...)                                                           \
	ETW_TL_FIELD(etw_field, TlgInCOUNTEDSTRING, TlgOutNULL, , etw_buffer, 2, #__VA_ARGS__,   \
		     UNICODE_STRING, , __VA_ARGS__)
#define TraceLoggingAnsiString(...)                                                              \
	ETW_TL_FIELD(etw_field, TlgInCOUNTEDANSISTRING, TlgOutNULL, , etw_buffer, 2,             \
		     #__VA_ARGS__, ANSI_STRING, , __VA_ARGS__)

/* --- Bytes. (pointer, size [, out-type] [, "name" [, "description" [, tag]]]). */
#define TraceLoggingBinary(pValue, ...)                                                          \
	ETW_TL_BINARY(TlgOutNULL, #pValue, pValue, __VA_ARGS__)
#define TraceLoggingBinaryEx(pValue, cbValue, ...)                                               \
	ETW_TL_BINARY_EX(#pValue, pValue, cbValue, __VA_ARGS__)
#define TraceLoggingSocketAddress(pValue, ...)                                                   \
	ETW_TL_BINARY(TlgOutSOCKETADDRESS, #pValue, pValue, __VA_ARGS__)
/* (pointer to a structure with Buffer and Length, the structure's type [, out-type] [, "name" ...]). */
#define TraceLoggingBinaryBuffer(pValue, ...)                                                    \
	ETW_TL_BINARY_BUFFER(TlgOutNULL, #pValue, pValue, __VA_ARGS__)
#define TraceLoggingBinaryBufferEx(pValue, StructType, ...)                                      \
	ETW_TL_BINARY_BUFFER_EX(#pValue, pValue, StructType, __VA_ARGS__)
/* (pointer to 16 bytes ...); (pointer to a SID ...). */
#define TraceLoggingIPv6Address(...)                                                             \
	ETW_TL_FIELD(etw_field, TlgInBINARY, TlgOutIPV6, , etw_address, 2, #__VA_ARGS__, , ,     \
		     __VA_ARGS__)
#define TraceLoggingSid(...)                                                                     \
	ETW_TL_FIELD(etw_field, TlgInSID, TlgOutNULL, , etw_sid, 1, #__VA_ARGS__, , , __VA_ARGS__)
/* (pointer, size, protocol 5 to 31, (bytes of its schema), their number [, "name" ...]). */
#define TraceLoggingCustom(pValue, cbValue, protocol, bSchema, ...)                              \
	ETW_TL_FIELD(etw_custom, TlgInBINARY | TlgInCustom, protocol, bSchema, etw_binary, 2,    \
		     #pValue, cbValue, pValue, __VA_ARGS__)
#define TraceLoggingCustomField TraceLoggingCustom

/* --- Structures: the next fieldCount fields are its members; one that is a structure counts as one. */
#define TraceLoggingStruct(fieldCount, ...)                                                      \
	ETW_TL_STRUCT(etw_field, TlgInSTRUCT, fieldCount, etw_nothing, 0, 0, __VA_ARGS__)
/* Of elementCount structures, whose members follow one after the other: by TraceLoggingPackedMetadata() and -Data(). */
#define TraceLoggingStructArray(fieldCount, elementCount, ...)                                   \
	ETW_TL_STRUCT(etw_field, TlgInSTRUCT | TlgInVcount, fieldCount, etw_count, 1,            \
		      elementCount, __VA_ARGS__)
#define TraceLoggingStructFixedArray(fieldCount, elementCount, ...)                              \
	ETW_TL_STRUCT(etw_fixed, TlgInSTRUCT | TlgInCcount, fieldCount, etw_nothing, 0,          \
		      elementCount, __VA_ARGS__)

/* --- Descriptions and data apart, where no macro above fits. Nothing checks that they belong together. */
#define TraceLoggingPackedField(pValue, cbValue, ...)                                            \
	ETW_TL_PACKED(#pValue, pValue, cbValue, __VA_ARGS__)
#define TraceLoggingPackedFieldEx(pValue, cbValue, inType, ...)                                  \
	ETW_TL_PACKED_EX(#pValue, pValue, cbValue, inType, __VA_ARGS__)
#define TraceLoggingPackedMetadata(inType, ...)                                                  \
	ETW_TL_STRUCT(etw_field, inType, 0, etw_nothing, 0, 0, __VA_ARGS__)
#define TraceLoggingPackedMetadataEx(inType, outType, ...)                                       \
	ETW_TL_STRUCT(etw_field, inType, outType, etw_nothing, 0, 0, __VA_ARGS__)
#define TraceLoggingPackedStruct(fieldCount, ...)                                                \
	ETW_TL_STRUCT(etw_field, TlgInSTRUCT, fieldCount, etw_nothing, 0, 0, __VA_ARGS__)
#define TraceLoggingPackedStructArray(fieldCount, ...)                                           \
	ETW_TL_STRUCT(etw_field, TlgInSTRUCT | TlgInVcount, fieldCount, etw_nothing, 0, 0,       \
		      __VA_ARGS__)
#define TraceLoggingPackedData(pValue, cbValue) TraceLoggingPackedDataEx(pValue, cbValue, 0)
#define TraceLoggingPackedDataEx(pValue, cbValue, dataDescType)                                  \
	(ETW_TL_NO_OPTIONS, etw_none, 0, 0, 0, "", , etw_packed, 1, cbValue, pValue, dataDescType)

/* --- Arrays: (pointer, count [, "name" [, "description" [, tag]]]). A fixed one's count is a constant. */
#define TraceLoggingInt8Array(pValues, ...)                                                      \
	ETW_TL_ARRAY(TlgInINT8, TlgOutNULL, INT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt8FixedArray(pValues, ...)                                                 \
	ETW_TL_FIXED(TlgInINT8, TlgOutNULL, INT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt8Array(pValues, ...)                                                     \
	ETW_TL_ARRAY(TlgInUINT8, TlgOutNULL, UINT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt8FixedArray(pValues, ...)                                                \
	ETW_TL_FIXED(TlgInUINT8, TlgOutNULL, UINT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt16Array(pValues, ...)                                                     \
	ETW_TL_ARRAY(TlgInINT16, TlgOutNULL, INT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt16FixedArray(pValues, ...)                                                \
	ETW_TL_FIXED(TlgInINT16, TlgOutNULL, INT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt16Array(pValues, ...)                                                    \
	ETW_TL_ARRAY(TlgInUINT16, TlgOutNULL, UINT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt16FixedArray(pValues, ...)                                               \
	ETW_TL_FIXED(TlgInUINT16, TlgOutNULL, UINT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt32Array(pValues, ...)                                                     \
	ETW_TL_ARRAY(TlgInINT32, TlgOutNULL, INT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt32FixedArray(pValues, ...)                                                \
	ETW_TL_FIXED(TlgInINT32, TlgOutNULL, INT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt32Array(pValues, ...)                                                    \
	ETW_TL_ARRAY(TlgInUINT32, TlgOutNULL, UINT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt32FixedArray(pValues, ...)                                               \
	ETW_TL_FIXED(TlgInUINT32, TlgOutNULL, UINT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt64Array(pValues, ...)                                                     \
	ETW_TL_ARRAY(TlgInINT64, TlgOutNULL, INT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingInt64FixedArray(pValues, ...)                                                \
	ETW_TL_FIXED(TlgInINT64, TlgOutNULL, INT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt64Array(pValues, ...)                                                    \
	ETW_TL_ARRAY(TlgInUINT64, TlgOutNULL, UINT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUInt64FixedArray(pValues, ...)                                               \
	ETW_TL_FIXED(TlgInUINT64, TlgOutNULL, UINT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingLongArray(pValues, ...)                                                      \
	ETW_TL_ARRAY(TlgInINT32, TlgOutNULL, LONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingLongFixedArray(pValues, ...)                                                 \
	ETW_TL_FIXED(TlgInINT32, TlgOutNULL, LONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingULongArray(pValues, ...)                                                     \
	ETW_TL_ARRAY(TlgInUINT32, TlgOutNULL, ULONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingULongFixedArray(pValues, ...)                                                \
	ETW_TL_FIXED(TlgInUINT32, TlgOutNULL, ULONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingIntPtrArray(pValues, ...)                                                    \
	ETW_TL_ARRAY(ETW_TL_INT_POINTER, TlgOutNULL, INT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingIntPtrFixedArray(pValues, ...)                                               \
	ETW_TL_FIXED(ETW_TL_INT_POINTER, TlgOutNULL, INT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUIntPtrArray(pValues, ...)                                                   \
	ETW_TL_ARRAY(ETW_TL_UINT_POINTER, TlgOutNULL, UINT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingUIntPtrFixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(ETW_TL_UINT_POINTER, TlgOutNULL, UINT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt8Array(pValues, ...)                                                   \
	ETW_TL_ARRAY(TlgInUINT8, TlgOutHEX, INT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt8FixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(TlgInUINT8, TlgOutHEX, INT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt8Array(pValues, ...)                                                  \
	ETW_TL_ARRAY(TlgInUINT8, TlgOutHEX, UINT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt8FixedArray(pValues, ...)                                             \
	ETW_TL_FIXED(TlgInUINT8, TlgOutHEX, UINT8, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt16Array(pValues, ...)                                                  \
	ETW_TL_ARRAY(TlgInUINT16, TlgOutHEX, INT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt16FixedArray(pValues, ...)                                             \
	ETW_TL_FIXED(TlgInUINT16, TlgOutHEX, INT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt16Array(pValues, ...)                                                 \
	ETW_TL_ARRAY(TlgInUINT16, TlgOutHEX, UINT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt16FixedArray(pValues, ...)                                            \
	ETW_TL_FIXED(TlgInUINT16, TlgOutHEX, UINT16, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt32Array(pValues, ...)                                                  \
	ETW_TL_ARRAY(TlgInHEXINT32, TlgOutNULL, INT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt32FixedArray(pValues, ...)                                             \
	ETW_TL_FIXED(TlgInHEXINT32, TlgOutNULL, INT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt32Array(pValues, ...)                                                 \
	ETW_TL_ARRAY(TlgInHEXINT32, TlgOutNULL, UINT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt32FixedArray(pValues, ...)                                            \
	ETW_TL_FIXED(TlgInHEXINT32, TlgOutNULL, UINT32, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt64Array(pValues, ...)                                                  \
	ETW_TL_ARRAY(TlgInHEXINT64, TlgOutNULL, INT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexInt64FixedArray(pValues, ...)                                             \
	ETW_TL_FIXED(TlgInHEXINT64, TlgOutNULL, INT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt64Array(pValues, ...)                                                 \
	ETW_TL_ARRAY(TlgInHEXINT64, TlgOutNULL, UINT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUInt64FixedArray(pValues, ...)                                            \
	ETW_TL_FIXED(TlgInHEXINT64, TlgOutNULL, UINT64, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexLongArray(pValues, ...)                                                   \
	ETW_TL_ARRAY(TlgInHEXINT32, TlgOutNULL, LONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexLongFixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(TlgInHEXINT32, TlgOutNULL, LONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexULongArray(pValues, ...)                                                  \
	ETW_TL_ARRAY(TlgInHEXINT32, TlgOutNULL, ULONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexULongFixedArray(pValues, ...)                                             \
	ETW_TL_FIXED(TlgInHEXINT32, TlgOutNULL, ULONG, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexIntPtrArray(pValues, ...)                                                 \
	ETW_TL_ARRAY(ETW_TL_HEX_POINTER, TlgOutNULL, INT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexIntPtrFixedArray(pValues, ...)                                            \
	ETW_TL_FIXED(ETW_TL_HEX_POINTER, TlgOutNULL, INT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUIntPtrArray(pValues, ...)                                                \
	ETW_TL_ARRAY(ETW_TL_HEX_POINTER, TlgOutNULL, UINT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingHexUIntPtrFixedArray(pValues, ...)                                           \
	ETW_TL_FIXED(ETW_TL_HEX_POINTER, TlgOutNULL, UINT_PTR, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFloat32Array(pValues, ...)                                                   \
	ETW_TL_ARRAY(TlgInFLOAT, TlgOutNULL, FLOAT, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFloat32FixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(TlgInFLOAT, TlgOutNULL, FLOAT, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFloat64Array(pValues, ...)                                                   \
	ETW_TL_ARRAY(TlgInDOUBLE, TlgOutNULL, DOUBLE, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFloat64FixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(TlgInDOUBLE, TlgOutNULL, DOUBLE, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingBooleanArray(pValues, ...)                                                   \
	ETW_TL_ARRAY(TlgInUINT8, TlgOutBOOLEAN, BOOLEAN, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingBooleanFixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(TlgInUINT8, TlgOutBOOLEAN, BOOLEAN, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingBoolArray(pValues, ...)                                                      \
	ETW_TL_ARRAY(TlgInBOOL32, TlgOutNULL, BOOL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingBoolFixedArray(pValues, ...)                                                 \
	ETW_TL_FIXED(TlgInBOOL32, TlgOutNULL, BOOL, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingPointerArray(pValues, ...)                                                   \
	ETW_TL_ARRAY(ETW_TL_HEX_POINTER, TlgOutNULL, PCVOID, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingPointerFixedArray(pValues, ...)                                              \
	ETW_TL_FIXED(ETW_TL_HEX_POINTER, TlgOutNULL, PCVOID, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingCodePointerArray(pValues, ...)                                               \
	ETW_TL_ARRAY(ETW_TL_HEX_POINTER, TlgOutCODE_POINTER, PCVOID, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingCodePointerFixedArray(pValues, ...)                                          \
	ETW_TL_FIXED(ETW_TL_HEX_POINTER, TlgOutCODE_POINTER, PCVOID, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFileTimeArray(pValues, ...)                                                  \
	ETW_TL_ARRAY(TlgInFILETIME, TlgOutNULL, FILETIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFileTimeFixedArray(pValues, ...)                                             \
	ETW_TL_FIXED(TlgInFILETIME, TlgOutNULL, FILETIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFileTimeUtcArray(pValues, ...)                                               \
	ETW_TL_ARRAY(TlgInFILETIME, TlgOutDATETIME_UTC, FILETIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingFileTimeUtcFixedArray(pValues, ...)                                          \
	ETW_TL_FIXED(TlgInFILETIME, TlgOutDATETIME_UTC, FILETIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeArray(pValues, ...)                                                \
	ETW_TL_ARRAY(TlgInSYSTEMTIME, TlgOutNULL, SYSTEMTIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeFixedArray(pValues, ...)                                           \
	ETW_TL_FIXED(TlgInSYSTEMTIME, TlgOutNULL, SYSTEMTIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeUtcArray(pValues, ...)                                             \
	ETW_TL_ARRAY(TlgInSYSTEMTIME, TlgOutDATETIME_UTC, SYSTEMTIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingSystemTimeUtcFixedArray(pValues, ...)                                        \
	ETW_TL_FIXED(TlgInSYSTEMTIME, TlgOutDATETIME_UTC, SYSTEMTIME, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingGuidArray(pValues, ...)                                                      \
	ETW_TL_ARRAY(TlgInGUID, TlgOutNULL, GUID, #pValues, pValues, __VA_ARGS__)
#define TraceLoggingGuidFixedArray(pValues, ...)                                                 \
	ETW_TL_FIXED(TlgInGUID, TlgOutNULL, GUID, #pValues, pValues, __VA_ARGS__)

#endif /* ETW_TRACELOGGINGPROVIDER_H */
