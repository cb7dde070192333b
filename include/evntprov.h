/* SPDX-License-Identifier: MIT */
#ifndef ETW_EVNTPROV_H
#define ETW_EVNTPROV_H

#include <etw/wintypes.h>
#include <guiddef.h>

#ifndef EVNTAPI
#define EVNTAPI WINAPI
#endif
#ifndef EVNTPROV_PFORCEINLINE
#define EVNTPROV_PFORCEINLINE ETW_STATIC_INLINE
#endif

ETW_EXTERN_C_BEGIN

#define EVENT_MIN_LEVEL (0)
#define EVENT_MAX_LEVEL (0xff)

#define EVENT_ACTIVITY_CTRL_GET_ID (1)
#define EVENT_ACTIVITY_CTRL_SET_ID (2)
#define EVENT_ACTIVITY_CTRL_CREATE_ID (3)
#define EVENT_ACTIVITY_CTRL_GET_SET_ID (4)
#define EVENT_ACTIVITY_CTRL_CREATE_SET_ID (5)

#define MAX_EVENT_DATA_DESCRIPTORS (128)
#define MAX_EVENT_FILTER_DATA_SIZE (1024)
#define MAX_EVENT_FILTER_PAYLOAD_SIZE (4096)
#define MAX_EVENT_FILTER_EVENT_NAME_SIZE (4096)
#define MAX_EVENT_FILTERS_COUNT (13)
#define MAX_EVENT_FILTER_PID_COUNT (8)
#define MAX_EVENT_FILTER_EVENT_ID_COUNT (64)

#define EVENT_FILTER_TYPE_NONE (0x00000000)
#define EVENT_FILTER_TYPE_SCHEMATIZED (0x80000000)
#define EVENT_FILTER_TYPE_SYSTEM_FLAGS (0x80000001)
#define EVENT_FILTER_TYPE_TRACEHANDLE (0x80000002)
#define EVENT_FILTER_TYPE_PID (0x80000004)
#define EVENT_FILTER_TYPE_EXECUTABLE_NAME (0x80000008)
#define EVENT_FILTER_TYPE_PACKAGE_ID (0x80000010)
#define EVENT_FILTER_TYPE_PACKAGE_APP_ID (0x80000020)
#define EVENT_FILTER_TYPE_PAYLOAD (0x80000100)
#define EVENT_FILTER_TYPE_EVENT_ID (0x80000200)
#define EVENT_FILTER_TYPE_EVENT_NAME (0x80000400)
#define EVENT_FILTER_TYPE_STACKWALK (0x80001000)
#define EVENT_FILTER_TYPE_STACKWALK_NAME (0x80002000)
#define EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW (0x80004000)
#define EVENT_FILTER_TYPE_CONTAINER (0x80008000)

#define EVENT_DATA_DESCRIPTOR_TYPE_NONE (0)
#define EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA (1)
#define EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA (2)
#define EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE (3)

#define EVENT_WRITE_FLAG_NO_FAULTING (0x00000001)
#define EVENT_WRITE_FLAG_INPRIVATE (0x00000002)

typedef ULONGLONG REGHANDLE, *PREGHANDLE;

typedef struct _EVENT_DATA_DESCRIPTOR {
	ULONGLONG Ptr;
	ULONG Size;
	__extension__ union {
		ULONG Reserved;
		__extension__ struct {
			UCHAR Type;
			UCHAR Reserved1;
			USHORT Reserved2;
		};
	};
} EVENT_DATA_DESCRIPTOR, *PEVENT_DATA_DESCRIPTOR;

#ifndef EVENT_DESCRIPTOR_DEF
#define EVENT_DESCRIPTOR_DEF
typedef struct _EVENT_DESCRIPTOR {
	USHORT Id;
	UCHAR Version;
	UCHAR Channel;
	UCHAR Level;
	UCHAR Opcode;
	USHORT Task;
	ULONGLONG Keyword;
} EVENT_DESCRIPTOR, *PEVENT_DESCRIPTOR;
#endif
typedef const EVENT_DESCRIPTOR *PCEVENT_DESCRIPTOR;

typedef struct _EVENT_FILTER_DESCRIPTOR {
	ULONGLONG Ptr;
	ULONG Size;
	ULONG Type;
} EVENT_FILTER_DESCRIPTOR, *PEVENT_FILTER_DESCRIPTOR;

typedef struct _EVENT_FILTER_HEADER {
	USHORT Id;
	UCHAR Version;
	UCHAR Reserved[5];
	ULONGLONG InstanceId;
	ULONG Size;
	ULONG NextOffset;
} EVENT_FILTER_HEADER, *PEVENT_FILTER_HEADER;

typedef struct _EVENT_FILTER_EVENT_ID {
	BOOLEAN FilterIn;
	UCHAR Reserved;
	USHORT Count;
	USHORT Events[ANYSIZE_ARRAY];
} EVENT_FILTER_EVENT_ID, *PEVENT_FILTER_EVENT_ID;

typedef struct _EVENT_FILTER_EVENT_NAME {
	ULONGLONG MatchAnyKeyword;
	ULONGLONG MatchAllKeyword;
	UCHAR Level;
	BOOLEAN FilterIn;
	USHORT NameCount;
	UCHAR Names[ANYSIZE_ARRAY];
} EVENT_FILTER_EVENT_NAME, *PEVENT_FILTER_EVENT_NAME;

typedef struct _EVENT_FILTER_LEVEL_KW {
	ULONGLONG MatchAnyKeyword;
	ULONGLONG MatchAllKeyword;
	UCHAR Level;
	BOOLEAN FilterIn;
} EVENT_FILTER_LEVEL_KW, *PEVENT_FILTER_LEVEL_KW;

typedef enum _EVENT_INFO_CLASS {
	EventProviderBinaryTrackInfo = 0,
	EventProviderSetReserved1 = 1,
	EventProviderSetTraits = 2,
	EventProviderUseDescriptorType = 3,
	MaxEventInfo = 4
} EVENT_INFO_CLASS;

typedef VOID(NTAPI *PENABLECALLBACK)(_In_ LPCGUID SourceId, _In_ ULONG IsEnabled,
				     _In_ UCHAR Level, _In_ ULONGLONG MatchAnyKeyword,
				     _In_ ULONGLONG MatchAllKeyword,
				     _In_opt_ PEVENT_FILTER_DESCRIPTOR FilterData,
				     _Inout_opt_ PVOID CallbackContext);

/*
 * EventRegister() - registers a provider, so that its events can be enabled and written.
 *
 * @ProviderId: who the provider is; the same one may be registered several times
 * @EnableCallback: is called when a session enables or disables the provider, on a thread of the library and
 *   possibly before this function returns; NULL where nobody cares
 * @CallbackContext: what the callback gets as its last argument
 * @RegHandle: gets the registration, for EventUnregister()
 *
 * Where a host of sessions runs, the function returns after the provider has been told of the sessions that want
 * it, but waits at most 200 ms for that. Without a host it succeeds, and the provider is enabled when there is one.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: ProviderId or RegHandle is NULL; ERROR_ACCESS_DENIED: the provider is
 * the kernel, or a host says that this user may not register it; ERROR_NOT_ENOUGH_MEMORY: memory ran out, the process
 * has 2047 registrations, or no thread can be made; ERROR_FILENAME_EXCED_RANGE: the runtime folder has too long a name;
 * ERROR_REVISION_MISMATCH: another copy of the library is in the process already, of a version that this one does not
 * understand.
 *
 * Context: any thread.
 */
ETW_API ULONG EVNTAPI EventRegister(_In_ LPCGUID ProviderId,
				    _In_opt_ PENABLECALLBACK EnableCallback,
				    _In_opt_ PVOID CallbackContext, _Out_ PREGHANDLE RegHandle);

/*
 * EventUnregister() - takes a registration back.
 *
 * Waits until a callback of the registration that is running has returned, unless the caller is that callback.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_HANDLE: EventRegister() did not give it, or it was taken back before.
 *
 * Context: any thread, also callbacks of this or another registration.
 */
ETW_API ULONG EVNTAPI EventUnregister(_In_ REGHANDLE RegHandle);

/*
 * EventSetInformation() - says more about a registered provider.
 *
 * @InformationClass: EventProviderSetTraits: every event carries these traits from now on (a name, a group), and the
 *   registration is a member of the group, which sessions may enable; once for a registration. The Type of data
 *   descriptors counts from then on, too; EventProviderUseDescriptorType: whether it counts;
 *   EventProviderBinaryTrackInfo: accepted, since Image events tell of every binary; EventInformation is not looked at
 * @EventInformation: of the class: the traits, or a BOOLEAN
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: no such registration, or the information is missing, has another
 * length than the class wants, or is not the layout of traits; ERROR_ALREADY_EXISTS: the registration has traits;
 * ERROR_ACCESS_DENIED: it may not be a member of the group, and has the traits all the same; ERROR_NOT_SUPPORTED: another
 * class; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API ULONG EVNTAPI EventSetInformation(_In_ REGHANDLE RegHandle,
					  _In_ EVENT_INFO_CLASS InformationClass,
					  _In_reads_bytes_(InformationLength)
						  PVOID EventInformation,
					  _In_ ULONG InformationLength);

/*
 * EventEnabled() - whether a session wants such an event.
 *
 * For events whose data are dear to prepare: EventWrite() itself costs next to nothing while nobody wants the
 * event.
 *
 * Returns TRUE when a session has the provider enabled with the event's level and keyword. FALSE also for handles
 * and descriptors that are none.
 *
 * Context: any thread, signal handlers.
 */
ETW_API BOOLEAN EVNTAPI EventEnabled(_In_ REGHANDLE RegHandle,
				     _In_ PCEVENT_DESCRIPTOR EventDescriptor);

/*
 * EventProviderEnabled() - whether a session wants events of this level and keyword.
 *
 * @Level: 0: events without a level
 * @Keyword: 0: events without a keyword
 *
 * Returns TRUE when a session has the provider enabled with that level and keyword. FALSE also for handles that are none.
 *
 * Context: any thread, signal handlers.
 */
ETW_API BOOLEAN EVNTAPI EventProviderEnabled(_In_ REGHANDLE RegHandle, _In_ UCHAR Level,
					     _In_ ULONGLONG Keyword);

/*
 * EventWrite() and its like - writes an event into every session that wants it.
 *
 * @EventDescriptor: id, version, level, opcode, task and keyword of the event
 * @UserDataCount: of the pieces of data, at most 128
 * @UserData: the pieces, made with EventDataDescCreate(); they become the payload without gaps. With traits or
 *   EventProviderUseDescriptorType the Type of a piece says what it is: EVENT_DATA_DESCRIPTOR_TYPE_NONE payload,
 *   _EVENT_METADATA and _PROVIDER_METADATA what TraceLogging puts beside it
 * @ActivityId: which activity the event belongs to; NULL: that of the thread (EventActivityIdControl())
 * @RelatedActivityId: the activity that began this one; NULL: none
 * @Filter: sessions that are not to have the event, by the bits that InstanceId has in the blocks of
 *   EVENT_FILTER_HEADER of their SCHEMATIZED filters; bits that are no session's change nothing
 * @Flags: EVENT_WRITE_FLAG_NO_FAULTING, which changes nothing here, and EVENT_WRITE_FLAG_INPRIVATE: not for
 *   sessions that exclude such events
 * @Level, @Keyword: of the event
 * @String: the whole payload, in UTF-16 with its NUL
 *
 * EventWriteString() writes an event without a descriptor, whose payload is a text. While no session wants the
 * event, the functions look at one word and return success, whatever the other arguments are. They never wait: what
 * finds no room is lost and counted by the session.
 *
 * Returns ERROR_SUCCESS: the event is in every buffer that was meant; ERROR_INVALID_HANDLE;
 * ERROR_INVALID_PARAMETER: no descriptor, no string, more than 128 pieces, no pieces where some are announced, flags
 * that are none, or where it counts a Type that is none;
 * ERROR_NOT_ENOUGH_MEMORY: the buffers are full, the event is lost and counted; ERROR_MORE_DATA: the event is
 * larger than a buffer; ERROR_ARITHMETIC_OVERFLOW: it is larger than 64 KiB; ERROR_NOACCESS: a piece with bytes has
 * a null pointer; ERROR_NOT_SUPPORTED: a piece is a timestamp
 * (EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE). Any other pointer is used: one that cannot be read is the program's
 * own SIGSEGV, where Windows' kernel says ERROR_NOACCESS. The place in the buffer that was reserved for the event is then
 * a lost event of the session's.
 *
 * Context: any thread, signal handlers.
 */
ETW_API ULONG EVNTAPI EventWrite(_In_ REGHANDLE RegHandle,
				 _In_ PCEVENT_DESCRIPTOR EventDescriptor, _In_ ULONG UserDataCount,
				 _In_reads_opt_(UserDataCount) PEVENT_DATA_DESCRIPTOR UserData);

ETW_API ULONG EVNTAPI EventWriteTransfer(_In_ REGHANDLE RegHandle,
					 _In_ PCEVENT_DESCRIPTOR EventDescriptor,
					 _In_opt_ LPCGUID ActivityId,
					 _In_opt_ LPCGUID RelatedActivityId,
					 _In_ ULONG UserDataCount,
					 _In_reads_opt_(UserDataCount)
						 PEVENT_DATA_DESCRIPTOR UserData);

ETW_API ULONG EVNTAPI EventWriteEx(_In_ REGHANDLE RegHandle,
				   _In_ PCEVENT_DESCRIPTOR EventDescriptor, _In_ ULONG64 Filter,
				   _In_ ULONG Flags, _In_opt_ LPCGUID ActivityId,
				   _In_opt_ LPCGUID RelatedActivityId, _In_ ULONG UserDataCount,
				   _In_reads_opt_(UserDataCount) PEVENT_DATA_DESCRIPTOR UserData);

ETW_API ULONG EVNTAPI EventWriteString(_In_ REGHANDLE RegHandle, _In_ UCHAR Level,
				       _In_ ULONGLONG Keyword, _In_ PCWSTR String);

/*
 * EventActivityIdControl() - makes, reads or sets the activity id of the calling thread.
 *
 * @ControlCode: EVENT_ACTIVITY_CTRL_GET_ID, _SET_ID, _CREATE_ID (makes one and sets nothing), _GET_SET_ID (sets it
 *   and gives the one before), _CREATE_SET_ID (makes and sets one, and gives the one before)
 * @ActivityId: the id that is set or given
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: ActivityId is NULL, or there is no such code.
 *
 * Context: any thread, signal handlers.
 */
ETW_API ULONG EVNTAPI EventActivityIdControl(_In_ ULONG ControlCode, _Inout_ LPGUID ActivityId);

/*
 * EventDataDescCreate() - makes the description of a piece of an event's payload.
 *
 * @DataPtr: the piece; it is read when the event is written, not before
 * @DataSize: its bytes
 */
EVNTPROV_PFORCEINLINE VOID EventDataDescCreate(_Out_ PEVENT_DATA_DESCRIPTOR EventDataDescriptor,
					       _In_reads_bytes_opt_(DataSize) const VOID *DataPtr,
					       _In_ ULONG DataSize)
{
	EventDataDescriptor->Ptr = (ULONGLONG)(ULONG_PTR)DataPtr;
	EventDataDescriptor->Size = DataSize;
	EventDataDescriptor->Reserved = 0;
}

/*
 * EventDescCreate() and its like - make, read and change an event's descriptor.
 *
 * The functions that set a part return the descriptor, so that calls can be chained; EventDescOrKeyword() adds
 * bits to the keyword. None of them checks what it is given.
 *
 * Returns the part of the descriptor, or the descriptor.
 */
EVNTPROV_PFORCEINLINE VOID EventDescCreate(_Out_ PEVENT_DESCRIPTOR EventDescriptor, _In_ USHORT Id,
					   _In_ UCHAR Version, _In_ UCHAR Channel,
					   _In_ UCHAR Level, _In_ USHORT Task, _In_ UCHAR Opcode,
					   _In_ ULONGLONG Keyword)
{
	EventDescriptor->Id = Id;
	EventDescriptor->Version = Version;
	EventDescriptor->Channel = Channel;
	EventDescriptor->Level = Level;
	EventDescriptor->Task = Task;
	EventDescriptor->Opcode = Opcode;
	EventDescriptor->Keyword = Keyword;
}

EVNTPROV_PFORCEINLINE VOID EventDescZero(_Out_ PEVENT_DESCRIPTOR EventDescriptor)
{
	memset(EventDescriptor, 0, sizeof(*EventDescriptor));
}

EVNTPROV_PFORCEINLINE USHORT EventDescGetId(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Id;
}

EVNTPROV_PFORCEINLINE UCHAR EventDescGetVersion(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Version;
}

EVNTPROV_PFORCEINLINE USHORT EventDescGetTask(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Task;
}

EVNTPROV_PFORCEINLINE UCHAR EventDescGetOpcode(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Opcode;
}

EVNTPROV_PFORCEINLINE UCHAR EventDescGetChannel(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Channel;
}

EVNTPROV_PFORCEINLINE UCHAR EventDescGetLevel(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Level;
}

EVNTPROV_PFORCEINLINE ULONGLONG EventDescGetKeyword(_In_ PCEVENT_DESCRIPTOR EventDescriptor)
{
	return EventDescriptor->Keyword;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetId(_In_ PEVENT_DESCRIPTOR EventDescriptor,
						       _In_ USHORT Id)
{
	EventDescriptor->Id = Id;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetVersion(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							    _In_ UCHAR Version)
{
	EventDescriptor->Version = Version;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetTask(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							 _In_ USHORT Task)
{
	EventDescriptor->Task = Task;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetOpcode(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							   _In_ UCHAR Opcode)
{
	EventDescriptor->Opcode = Opcode;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetLevel(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							  _In_ UCHAR Level)
{
	EventDescriptor->Level = Level;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetChannel(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							    _In_ UCHAR Channel)
{
	EventDescriptor->Channel = Channel;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescSetKeyword(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							    _In_ ULONGLONG Keyword)
{
	EventDescriptor->Keyword = Keyword;
	return EventDescriptor;
}

EVNTPROV_PFORCEINLINE PEVENT_DESCRIPTOR EventDescOrKeyword(_In_ PEVENT_DESCRIPTOR EventDescriptor,
							   _In_ ULONGLONG Keyword)
{
	EventDescriptor->Keyword |= Keyword;
	return EventDescriptor;
}

ETW_EXTERN_C_END

#endif /* ETW_EVNTPROV_H */
