/* SPDX-License-Identifier: MIT */
#ifndef ETW_EVNTCONS_H
#define ETW_EVNTCONS_H

#include <etw/winsecurity.h>
#include <evntprov.h>
#include <evntrace.h>
#include <wmistr.h>

#ifndef EVNTCONS_INLINE
#define EVNTCONS_INLINE ETW_STATIC_INLINE
#endif

ETW_EXTERN_C_BEGIN

#define EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID 0x0001
#define EVENT_HEADER_EXT_TYPE_SID 0x0002
#define EVENT_HEADER_EXT_TYPE_TS_ID 0x0003
#define EVENT_HEADER_EXT_TYPE_INSTANCE_INFO 0x0004
#define EVENT_HEADER_EXT_TYPE_STACK_TRACE32 0x0005
#define EVENT_HEADER_EXT_TYPE_STACK_TRACE64 0x0006
#define EVENT_HEADER_EXT_TYPE_PEBS_INDEX 0x0007
#define EVENT_HEADER_EXT_TYPE_PMC_COUNTERS 0x0008
#define EVENT_HEADER_EXT_TYPE_PSM_KEY 0x0009
#define EVENT_HEADER_EXT_TYPE_EVENT_KEY 0x000A
#define EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL 0x000B
#define EVENT_HEADER_EXT_TYPE_PROV_TRAITS 0x000C
#define EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY 0x000D
#define EVENT_HEADER_EXT_TYPE_CONTROL_GUID 0x000E
#define EVENT_HEADER_EXT_TYPE_QPC_DELTA 0x000F
#define EVENT_HEADER_EXT_TYPE_CONTAINER_ID 0x0010
#define EVENT_HEADER_EXT_TYPE_STACK_KEY32 0x0011
#define EVENT_HEADER_EXT_TYPE_STACK_KEY64 0x0012
#define EVENT_HEADER_EXT_TYPE_MAX 0x0013

#define EVENT_HEADER_PROPERTY_XML 0x0001
#define EVENT_HEADER_PROPERTY_FORWARDED_XML 0x0002
#define EVENT_HEADER_PROPERTY_LEGACY_EVENTLOG 0x0004
#define EVENT_HEADER_PROPERTY_RELOGGABLE 0x0008

#define EVENT_HEADER_FLAG_EXTENDED_INFO 0x0001
#define EVENT_HEADER_FLAG_PRIVATE_SESSION 0x0002
#define EVENT_HEADER_FLAG_STRING_ONLY 0x0004
#define EVENT_HEADER_FLAG_TRACE_MESSAGE 0x0008
#define EVENT_HEADER_FLAG_NO_CPUTIME 0x0010
#define EVENT_HEADER_FLAG_32_BIT_HEADER 0x0020
#define EVENT_HEADER_FLAG_64_BIT_HEADER 0x0040
#define EVENT_HEADER_FLAG_DECODE_GUID 0x0080
#define EVENT_HEADER_FLAG_CLASSIC_HEADER 0x0100
#define EVENT_HEADER_FLAG_PROCESSOR_INDEX 0x0200

#define EVENT_ENABLE_PROPERTY_SID 0x00000001
#define EVENT_ENABLE_PROPERTY_TS_ID 0x00000002
#define EVENT_ENABLE_PROPERTY_STACK_TRACE 0x00000004
#define EVENT_ENABLE_PROPERTY_PSM_KEY 0x00000008
#define EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 0x00000010
#define EVENT_ENABLE_PROPERTY_PROVIDER_GROUP 0x00000020
#define EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 0x00000040
#define EVENT_ENABLE_PROPERTY_PROCESS_START_KEY 0x00000080
#define EVENT_ENABLE_PROPERTY_EVENT_KEY 0x00000100
#define EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE 0x00000200
#define EVENT_ENABLE_PROPERTY_ENABLE_SILOS 0x00000400
#define EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING 0x00000800

#define PROCESS_TRACE_MODE_REAL_TIME 0x00000100
#define PROCESS_TRACE_MODE_RAW_TIMESTAMP 0x00001000
#define PROCESS_TRACE_MODE_EVENT_RECORD 0x10000000

#ifndef EVENT_HEADER_EXTENDED_DATA_ITEM_DEF
#define EVENT_HEADER_EXTENDED_DATA_ITEM_DEF
typedef struct _EVENT_HEADER_EXTENDED_DATA_ITEM {
	USHORT Reserved1;
	USHORT ExtType;
	__extension__ struct {
		USHORT Linkage : 1;
		USHORT Reserved2 : 15;
	};
	USHORT DataSize;
	ULONGLONG DataPtr;
} EVENT_HEADER_EXTENDED_DATA_ITEM, *PEVENT_HEADER_EXTENDED_DATA_ITEM;
#endif

typedef struct _EVENT_EXTENDED_ITEM_INSTANCE {
	ULONG InstanceId;
	ULONG ParentInstanceId;
	GUID ParentGuid;
} EVENT_EXTENDED_ITEM_INSTANCE, *PEVENT_EXTENDED_ITEM_INSTANCE;

typedef struct _EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID {
	GUID RelatedActivityId;
} EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID, *PEVENT_EXTENDED_ITEM_RELATED_ACTIVITYID;

typedef struct _EVENT_EXTENDED_ITEM_TS_ID {
	ULONG SessionId;
} EVENT_EXTENDED_ITEM_TS_ID, *PEVENT_EXTENDED_ITEM_TS_ID;

typedef struct _EVENT_EXTENDED_ITEM_STACK_TRACE32 {
	ULONG64 MatchId;
	ULONG Address[ANYSIZE_ARRAY];
} EVENT_EXTENDED_ITEM_STACK_TRACE32, *PEVENT_EXTENDED_ITEM_STACK_TRACE32;

typedef struct _EVENT_EXTENDED_ITEM_STACK_TRACE64 {
	ULONG64 MatchId;
	ULONG64 Address[ANYSIZE_ARRAY];
} EVENT_EXTENDED_ITEM_STACK_TRACE64, *PEVENT_EXTENDED_ITEM_STACK_TRACE64;

typedef struct _EVENT_EXTENDED_ITEM_STACK_KEY32 {
	ULONG64 MatchId;
	ULONG StackKey;
	ULONG Padding;
} EVENT_EXTENDED_ITEM_STACK_KEY32, *PEVENT_EXTENDED_ITEM_STACK_KEY32;

typedef struct _EVENT_EXTENDED_ITEM_STACK_KEY64 {
	ULONG64 MatchId;
	ULONG64 StackKey;
} EVENT_EXTENDED_ITEM_STACK_KEY64, *PEVENT_EXTENDED_ITEM_STACK_KEY64;

typedef struct _EVENT_EXTENDED_ITEM_PEBS_INDEX {
	ULONG64 PebsIndex;
} EVENT_EXTENDED_ITEM_PEBS_INDEX, *PEVENT_EXTENDED_ITEM_PEBS_INDEX;

typedef struct _EVENT_EXTENDED_ITEM_PMC_COUNTERS {
	ULONG64 Counter[ANYSIZE_ARRAY];
} EVENT_EXTENDED_ITEM_PMC_COUNTERS, *PEVENT_EXTENDED_ITEM_PMC_COUNTERS;

typedef struct _EVENT_EXTENDED_ITEM_PROCESS_START_KEY {
	ULONG64 ProcessStartKey;
} EVENT_EXTENDED_ITEM_PROCESS_START_KEY, *PEVENT_EXTENDED_ITEM_PROCESS_START_KEY;

typedef struct _EVENT_EXTENDED_ITEM_EVENT_KEY {
	ULONG64 Key;
} EVENT_EXTENDED_ITEM_EVENT_KEY, *PEVENT_EXTENDED_ITEM_EVENT_KEY;

#ifndef EVENT_HEADER_DEF
#define EVENT_HEADER_DEF
typedef struct _EVENT_HEADER {
	USHORT Size;
	USHORT HeaderType;
	USHORT Flags;
	USHORT EventProperty;
	ULONG ThreadId;
	ULONG ProcessId;
	LARGE_INTEGER TimeStamp;
	GUID ProviderId;
	EVENT_DESCRIPTOR EventDescriptor;
	__extension__ union {
		__extension__ struct {
			ULONG KernelTime;
			ULONG UserTime;
		};
		ULONG64 ProcessorTime;
	};
	GUID ActivityId;
} EVENT_HEADER, *PEVENT_HEADER;
#endif

#ifndef EVENT_RECORD_DEF
#define EVENT_RECORD_DEF
struct _EVENT_RECORD {
	EVENT_HEADER EventHeader;
	ETW_BUFFER_CONTEXT BufferContext;
	USHORT ExtendedDataCount;
	USHORT UserDataLength;
	PEVENT_HEADER_EXTENDED_DATA_ITEM ExtendedData;
	PVOID UserData;
	PVOID UserContext;
};
#endif
typedef const EVENT_RECORD *PCEVENT_RECORD;

/*
 * GetEventProcessorIndex() - the processor on which an event was written.
 *
 * Returns its number, of as many bits as the event has for it.
 */
EVNTCONS_INLINE ULONG GetEventProcessorIndex(_In_ PCEVENT_RECORD EventRecord)
{
	if (EventRecord->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX)
		return EventRecord->BufferContext.ProcessorIndex;
	return EventRecord->BufferContext.ProcessorNumber;
}

typedef enum {
	EtwProviderTraitTypeGroup = 1,
	EtwProviderTraitDecodeGuid = 2,
	EtwProviderTraitTypeMax
} ETW_PROVIDER_TRAIT_TYPE;

/*
 * EtwGetTraitFromProviderTraits() - finds a trait among those of a provider, as an event carries them.
 *
 * @ProviderTraits: u16 size of the whole, name as UTF-8 with NUL, then traits of {u16 size, u8 type, data}, each
 *   size counting itself
 * @TraitType: EtwProviderTraitTypeGroup or EtwProviderTraitDecodeGuid
 * @Trait: gets where the trait's data are; NULL: there is none
 * @Size: gets their bytes
 *
 * Traits that do not fit end the search; nothing is read past the size.
 */
EVNTCONS_INLINE VOID EtwGetTraitFromProviderTraits(_In_ PVOID ProviderTraits, _In_ UCHAR TraitType,
						   _Out_ PVOID *Trait, _Out_ PUSHORT Size)
{
	const UCHAR *traits = (const UCHAR *)ProviderTraits;
	const ULONG total = (ULONG)traits[0] | (ULONG)traits[1] << 8;
	ULONG at = 2;

	*Trait = NULL;
	*Size = 0;
	while (at < total && traits[at] != 0)
		at++;
	at++;
	while (at + 3 <= total) {
		const ULONG size = (ULONG)traits[at] | (ULONG)traits[at + 1] << 8;

		if (size < 3 || size > total - at)
			return;
		if (traits[at + 2] == TraitType) {
			*Trait = (UCHAR *)ProviderTraits + at + 3;
			*Size = (USHORT)(size - 3);
			return;
		}
		at += size;
	}
}

typedef enum {
	EventSecuritySetDACL,
	EventSecuritySetSACL,
	EventSecurityAddDACL,
	EventSecurityAddSACL,
	EventSecurityMax
} EVENTSECURITYOPERATION;

/*
 * EventAccessControl() - says who may do what with a session or provider, now and after the next start of its host.
 *
 * @Guid: of the session or provider; DefaultTraceSecurityGuid: of all that have no descriptor of their own
 * @Operation: EventSecuritySetDACL or SetSACL replaces the list by one entry, EventSecurityAddDACL or AddSACL adds one
 * @Sid: who: S-1-22-1-uid is a user, S-1-22-2-gid a group, S-1-1-0 everybody, S-1-5-32-559 the group etwlog; in binary
 *   form: a byte 1, a byte with the number of subauthorities, six bytes of authority, big-endian, and the subauthorities,
 *   32 bits each, little-endian, so that everybody is 01 01 00 00 00 00 00 01 00 00 00 00
 * @Rights: WMIGUID_* and TRACELOG_* of wmistr.h
 * @AllowOrDeny: FALSE: the entry denies; of a SACL it means nothing
 *
 * Root says so for the system's host, a user for the user's own; the host is started if need be.
 * docs/format/security.md says what is checked where.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: Guid or Sid is NULL, there is no such operation, or Rights has other
 * bits; ERROR_INVALID_SID; ERROR_ACCESS_DENIED: this user may not; ERROR_NO_SYSTEM_RESOURCES: the list or the table is
 * full; ERROR_WMI_SERVER_UNAVAILABLE: there is no etwd; ERROR_NOT_ENOUGH_MEMORY; ERROR_TIMEOUT, ERROR_BROKEN_PIPE,
 * ERROR_INVALID_DATA: the host hangs or died; what writing the file fails with.
 *
 * Context: any thread.
 */
ETW_API ULONG EVNTAPI EventAccessControl(_In_ LPGUID Guid, _In_ ULONG Operation, _In_ PSID Sid,
					 _In_ ULONG Rights, _In_ BOOLEAN AllowOrDeny);

/*
 * EventAccessQuery() - the security descriptor that holds for a session or provider, the default one included.
 *
 * @Buffer: gets it, self-relative; may be NULL when *BufferSize is 0
 * @BufferSize: in: room in Buffer; out: the descriptor's size
 *
 * Returns ERROR_SUCCESS; ERROR_MORE_DATA: there is not enough room; ERROR_INVALID_PARAMETER: Guid or BufferSize is
 * NULL, or Buffer is and has a size; ERROR_ACCESS_DENIED: this user may not see it; otherwise as EventAccessControl().
 *
 * Context: any thread.
 */
ETW_API ULONG EVNTAPI EventAccessQuery(_In_ LPGUID Guid,
				       _Inout_updates_bytes_opt_(*BufferSize)
					       PSECURITY_DESCRIPTOR Buffer,
				       _Inout_ PULONG BufferSize);

/*
 * EventAccessRemove() - takes back all that EventAccessControl() said about a session or provider.
 *
 * Returns ERROR_SUCCESS; ERROR_FILE_NOT_FOUND: nothing was said; ERROR_INVALID_PARAMETER: Guid is NULL; otherwise as
 * EventAccessControl().
 *
 * Context: any thread.
 */
ETW_API ULONG EVNTAPI EventAccessRemove(_In_ LPGUID Guid);

ETW_EXTERN_C_END

#endif /* ETW_EVNTCONS_H */
