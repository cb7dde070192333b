/* SPDX-License-Identifier: MIT */
#ifndef ETW_TDH_H
#define ETW_TDH_H

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#ifndef TDH_INLINE
#define TDH_INLINE ETW_STATIC_INLINE
#endif

ETW_EXTERN_C_BEGIN

typedef ULONG TDHSTATUS;
typedef HANDLE TDH_HANDLE, *PTDH_HANDLE;

/* --- Maps. */

typedef struct _EVENT_MAP_ENTRY {
	ULONG OutputOffset;
	__extension__ union {
		ULONG Value;
		ULONG InputOffset;
	};
} EVENT_MAP_ENTRY, *PEVENT_MAP_ENTRY;

typedef enum _MAP_FLAGS {
	EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP = 0x1,
	EVENTMAP_INFO_FLAG_MANIFEST_BITMAP = 0x2,
	EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP = 0x4,
	EVENTMAP_INFO_FLAG_WBEM_VALUEMAP = 0x8,
	EVENTMAP_INFO_FLAG_WBEM_BITMAP = 0x10,
	EVENTMAP_INFO_FLAG_WBEM_FLAG = 0x20,
	EVENTMAP_INFO_FLAG_WBEM_NO_MAP = 0x40
} MAP_FLAGS;

typedef enum _MAP_VALUETYPE {
	EVENTMAP_ENTRY_VALUETYPE_ULONG = 0,
	EVENTMAP_ENTRY_VALUETYPE_STRING = 1
} MAP_VALUETYPE;

typedef struct _EVENT_MAP_INFO {
	ULONG NameOffset;
	MAP_FLAGS Flag;
	ULONG EntryCount;
	__extension__ union {
		MAP_VALUETYPE MapEntryValueType;
		ULONG FormatStringOffset;
	};
	EVENT_MAP_ENTRY MapEntryArray[ANYSIZE_ARRAY];
} EVENT_MAP_INFO, *PEVENT_MAP_INFO;

/* --- Types of fields. */

typedef enum _TDH_IN_TYPE {
	TDH_INTYPE_NULL = 0,
	TDH_INTYPE_UNICODESTRING = 1,
	TDH_INTYPE_ANSISTRING = 2,
	TDH_INTYPE_INT8 = 3,
	TDH_INTYPE_UINT8 = 4,
	TDH_INTYPE_INT16 = 5,
	TDH_INTYPE_UINT16 = 6,
	TDH_INTYPE_INT32 = 7,
	TDH_INTYPE_UINT32 = 8,
	TDH_INTYPE_INT64 = 9,
	TDH_INTYPE_UINT64 = 10,
	TDH_INTYPE_FLOAT = 11,
	TDH_INTYPE_DOUBLE = 12,
	TDH_INTYPE_BOOLEAN = 13,
	TDH_INTYPE_BINARY = 14,
	TDH_INTYPE_GUID = 15,
	TDH_INTYPE_POINTER = 16,
	TDH_INTYPE_FILETIME = 17,
	TDH_INTYPE_SYSTEMTIME = 18,
	TDH_INTYPE_SID = 19,
	TDH_INTYPE_HEXINT32 = 20,
	TDH_INTYPE_HEXINT64 = 21,
	TDH_INTYPE_MANIFEST_COUNTEDSTRING = 22,
	TDH_INTYPE_MANIFEST_COUNTEDANSISTRING = 23,
	TDH_INTYPE_RESERVED24 = 24,
	TDH_INTYPE_MANIFEST_COUNTEDBINARY = 25,
	TDH_INTYPE_COUNTEDSTRING = 300,
	TDH_INTYPE_COUNTEDANSISTRING = 301,
	TDH_INTYPE_REVERSEDCOUNTEDSTRING = 302,
	TDH_INTYPE_REVERSEDCOUNTEDANSISTRING = 303,
	TDH_INTYPE_NONNULLTERMINATEDSTRING = 304,
	TDH_INTYPE_NONNULLTERMINATEDANSISTRING = 305,
	TDH_INTYPE_UNICODECHAR = 306,
	TDH_INTYPE_ANSICHAR = 307,
	TDH_INTYPE_SIZET = 308,
	TDH_INTYPE_HEXDUMP = 309,
	TDH_INTYPE_WBEMSID = 310
} TDH_IN_TYPE;

typedef enum _TDH_OUT_TYPE {
	TDH_OUTTYPE_NULL = 0,
	TDH_OUTTYPE_STRING = 1,
	TDH_OUTTYPE_DATETIME = 2,
	TDH_OUTTYPE_BYTE = 3,
	TDH_OUTTYPE_UNSIGNEDBYTE = 4,
	TDH_OUTTYPE_SHORT = 5,
	TDH_OUTTYPE_UNSIGNEDSHORT = 6,
	TDH_OUTTYPE_INT = 7,
	TDH_OUTTYPE_UNSIGNEDINT = 8,
	TDH_OUTTYPE_LONG = 9,
	TDH_OUTTYPE_UNSIGNEDLONG = 10,
	TDH_OUTTYPE_FLOAT = 11,
	TDH_OUTTYPE_DOUBLE = 12,
	TDH_OUTTYPE_BOOLEAN = 13,
	TDH_OUTTYPE_GUID = 14,
	TDH_OUTTYPE_HEXBINARY = 15,
	TDH_OUTTYPE_HEXINT8 = 16,
	TDH_OUTTYPE_HEXINT16 = 17,
	TDH_OUTTYPE_HEXINT32 = 18,
	TDH_OUTTYPE_HEXINT64 = 19,
	TDH_OUTTYPE_PID = 20,
	TDH_OUTTYPE_TID = 21,
	TDH_OUTTYPE_PORT = 22,
	TDH_OUTTYPE_IPV4 = 23,
	TDH_OUTTYPE_IPV6 = 24,
	TDH_OUTTYPE_SOCKETADDRESS = 25,
	TDH_OUTTYPE_CIMDATETIME = 26,
	TDH_OUTTYPE_ETWTIME = 27,
	TDH_OUTTYPE_XML = 28,
	TDH_OUTTYPE_ERRORCODE = 29,
	TDH_OUTTYPE_WIN32ERROR = 30,
	TDH_OUTTYPE_NTSTATUS = 31,
	TDH_OUTTYPE_HRESULT = 32,
	TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME = 33,
	TDH_OUTTYPE_JSON = 34,
	TDH_OUTTYPE_UTF8 = 35,
	TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO = 36,
	TDH_OUTTYPE_CODE_POINTER = 37,
	TDH_OUTTYPE_DATETIME_UTC = 38,
	TDH_OUTTYPE_REDUCEDSTRING = 300,
	TDH_OUTTYPE_NOPRINT = 301
} TDH_OUT_TYPE;

/* A misspelling that Microsoft keeps. */
#define TDH_OUTYTPE_ERRORCODE TDH_OUTTYPE_ERRORCODE

/* --- Events. */

typedef enum _PROPERTY_FLAGS {
	PropertyStruct = 0x1,
	PropertyParamLength = 0x2,
	PropertyParamCount = 0x4,
	PropertyWBEMXmlFragment = 0x8,
	PropertyParamFixedLength = 0x10,
	PropertyParamFixedCount = 0x20,
	PropertyHasTags = 0x40,
	PropertyHasCustomSchema = 0x80
} PROPERTY_FLAGS;

typedef struct _EVENT_PROPERTY_INFO {
	PROPERTY_FLAGS Flags;
	ULONG NameOffset;
	__extension__ union {
		struct {
			USHORT InType;
			USHORT OutType;
			ULONG MapNameOffset;
		} nonStructType;
		struct {
			USHORT StructStartIndex;
			USHORT NumOfStructMembers;
			ULONG padding;
		} structType;
		struct {
			USHORT InType;
			USHORT OutType;
			ULONG CustomSchemaOffset;
		} customSchemaType;
	};
	__extension__ union {
		USHORT count;
		USHORT countPropertyIndex;
	};
	__extension__ union {
		USHORT length;
		USHORT lengthPropertyIndex;
	};
	__extension__ union {
		ULONG Reserved;
		__extension__ struct {
			ULONG Tags : 28;
		};
	};
} EVENT_PROPERTY_INFO, *PEVENT_PROPERTY_INFO;

typedef enum _DECODING_SOURCE {
	DecodingSourceXMLFile = 0,
	DecodingSourceWbem = 1,
	DecodingSourceWPP = 2,
	DecodingSourceTlg = 3,
	DecodingSourceMax = 4
} DECODING_SOURCE;

typedef enum _TEMPLATE_FLAGS {
	TEMPLATE_EVENT_DATA = 1,
	TEMPLATE_USER_DATA = 2,
	TEMPLATE_CONTROL_GUID = 4
} TEMPLATE_FLAGS;

typedef struct _TRACE_EVENT_INFO {
	GUID ProviderGuid;
	GUID EventGuid;
	EVENT_DESCRIPTOR EventDescriptor;
	DECODING_SOURCE DecodingSource;
	ULONG ProviderNameOffset;
	ULONG LevelNameOffset;
	ULONG ChannelNameOffset;
	ULONG KeywordsNameOffset;
	ULONG TaskNameOffset;
	ULONG OpcodeNameOffset;
	ULONG EventMessageOffset;
	ULONG ProviderMessageOffset;
	ULONG BinaryXMLOffset;
	ULONG BinaryXMLSize;
	__extension__ union {
		ULONG EventNameOffset;
		ULONG ActivityIDNameOffset;
	};
	__extension__ union {
		ULONG EventAttributesOffset;
		ULONG RelatedActivityIDNameOffset;
	};
	ULONG PropertyCount;
	ULONG TopLevelPropertyCount;
	__extension__ union {
		TEMPLATE_FLAGS Flags;
		__extension__ struct {
			ULONG Reserved : 4;
			ULONG Tags : 28;
		};
	};
	EVENT_PROPERTY_INFO EventPropertyInfoArray[ANYSIZE_ARRAY];
} TRACE_EVENT_INFO, *PTRACE_EVENT_INFO;

typedef struct _PROPERTY_DATA_DESCRIPTOR {
	ULONGLONG PropertyName;
	ULONG ArrayIndex;
	ULONG Reserved;
} PROPERTY_DATA_DESCRIPTOR, *PPROPERTY_DATA_DESCRIPTOR;

/* --- Filters by payload. */

typedef enum _PAYLOAD_OPERATOR {
	PAYLOADFIELD_EQ = 0,
	PAYLOADFIELD_NE = 1,
	PAYLOADFIELD_LE = 2,
	PAYLOADFIELD_GT = 3,
	PAYLOADFIELD_LT = 4,
	PAYLOADFIELD_GE = 5,
	PAYLOADFIELD_BETWEEN = 6,
	PAYLOADFIELD_NOTBETWEEN = 7,
	PAYLOADFIELD_MODULO = 8,
	PAYLOADFIELD_CONTAINS = 20,
	PAYLOADFIELD_DOESNTCONTAIN = 21,
	PAYLOADFIELD_IS = 30,
	PAYLOADFIELD_ISNOT = 31,
	PAYLOADFIELD_INVALID = 32
} PAYLOAD_OPERATOR;

typedef struct _PAYLOAD_FILTER_PREDICATE {
	LPWSTR FieldName;
	USHORT CompareOp;
	LPWSTR Value;
} PAYLOAD_FILTER_PREDICATE, *PPAYLOAD_FILTER_PREDICATE;

#define MAX_PAYLOAD_PREDICATES 8

/* --- Providers. */

typedef struct _PROVIDER_FILTER_INFO {
	UCHAR Id;
	UCHAR Version;
	ULONG MessageOffset;
	ULONG Reserved;
	ULONG PropertyCount;
	EVENT_PROPERTY_INFO EventPropertyInfoArray[ANYSIZE_ARRAY];
} PROVIDER_FILTER_INFO, *PPROVIDER_FILTER_INFO;

typedef enum _EVENT_FIELD_TYPE {
	EventKeywordInformation = 0,
	EventLevelInformation = 1,
	EventChannelInformation = 2,
	EventTaskInformation = 3,
	EventOpcodeInformation = 4,
	EventInformationMax = 5
} EVENT_FIELD_TYPE;

typedef struct _PROVIDER_FIELD_INFO {
	ULONG NameOffset;
	ULONG DescriptionOffset;
	ULONGLONG Value;
} PROVIDER_FIELD_INFO, *PPROVIDER_FIELD_INFO;

typedef struct _PROVIDER_FIELD_INFOARRAY {
	ULONG NumberOfElements;
	EVENT_FIELD_TYPE FieldType;
	PROVIDER_FIELD_INFO FieldInfoArray[ANYSIZE_ARRAY];
} PROVIDER_FIELD_INFOARRAY, *PPROVIDER_FIELD_INFOARRAY;

typedef struct _TRACE_PROVIDER_INFO {
	GUID ProviderGuid;
	ULONG SchemaSource;
	ULONG ProviderNameOffset;
} TRACE_PROVIDER_INFO, *PTRACE_PROVIDER_INFO;

typedef struct _PROVIDER_ENUMERATION_INFO {
	ULONG NumberOfProviders;
	ULONG Reserved;
	TRACE_PROVIDER_INFO TraceProviderInfoArray[ANYSIZE_ARRAY];
} PROVIDER_ENUMERATION_INFO, *PPROVIDER_ENUMERATION_INFO;

typedef struct _PROVIDER_EVENT_INFO {
	ULONG NumberOfEvents;
	ULONG Reserved;
	EVENT_DESCRIPTOR EventDescriptorsArray[ANYSIZE_ARRAY];
} PROVIDER_EVENT_INFO, *PPROVIDER_EVENT_INFO;

/* --- Decoding contexts. */

typedef enum _TDH_CONTEXT_TYPE {
	TDH_CONTEXT_WPP_TMFFILE = 0,
	TDH_CONTEXT_WPP_TMFSEARCHPATH = 1,
	TDH_CONTEXT_WPP_GMT = 2,
	TDH_CONTEXT_POINTERSIZE = 3,
	TDH_CONTEXT_PDB_PATH = 4,
	TDH_CONTEXT_MAXIMUM = 5
} TDH_CONTEXT_TYPE;

typedef struct _TDH_CONTEXT {
	ULONGLONG ParameterValue;
	TDH_CONTEXT_TYPE ParameterType;
	ULONG ParameterSize;
} TDH_CONTEXT, *PTDH_CONTEXT;

/* --- Functions. */

/*
 * TdhGetEventInformation() - what is known of an event: its names, and the layout of its payload.
 *
 * @Event: as a callback got it
 * @TdhContext: of which only TDH_CONTEXT_WPP_TMFFILE, _WPP_TMFSEARCHPATH, _PDB_PATH, _WPP_GMT and _POINTERSIZE
 *   count
 * @BufferSize: in: bytes of Buffer; out: of the answer. 0 asks for the size alone
 *
 * What a trace says of its events goes before what the program has loaded (TdhLoadManifest()), and that before what
 * is installed on this machine (wevtutil(1)).
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: Event
 * or BufferSize is NULL, or a context is none; ERROR_NOT_FOUND: nobody has a schema for the event;
 * ERROR_NOT_ENOUGH_MEMORY; what kept a file of the trace from being searched.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhGetEventInformation(
	_In_ PEVENT_RECORD Event, _In_ ULONG TdhContextCount,
	_In_reads_opt_(TdhContextCount) PTDH_CONTEXT TdhContext,
	_Out_writes_bytes_opt_(*BufferSize) PTRACE_EVENT_INFO Buffer, _Inout_ PULONG BufferSize);

/*
 * TdhGetAllEventsInformation() - what is known of all events of the event's provider.
 *
 * @WbemService: not used
 * @Index: gets the place of the event among them
 * @Count: gets their number
 * @Buffer: gets Count pointers, then what they point to
 *
 * Of classic events it tells those of the same class and version. The function is in tdh.dll, not in Microsoft's
 * header.
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL; ERROR_NOT_FOUND: nobody has a schema for the event; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhGetAllEventsInformation(
	_In_ PEVENT_RECORD Event, _In_opt_ PVOID WbemService, _Out_ PULONG Index,
	_Out_ PULONG Count, _Out_writes_bytes_opt_(*BufferSize) PTRACE_EVENT_INFO *Buffer,
	_Inout_ PULONG BufferSize);

/*
 * TdhGetEventMapInformation() - the names that the values of a field stand for.
 *
 * @pMapName: as the event's information has it, see TEI_MAP_NAME()
 * @pBufferSize: in: bytes of pBuffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL; ERROR_NOT_FOUND: there is no such map, or no schema for the event; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhGetEventMapInformation(
	_In_ PEVENT_RECORD pEvent, _In_ LPWSTR pMapName,
	_Out_writes_bytes_opt_(*pBufferSize) PEVENT_MAP_INFO pBuffer, _Inout_ PULONG pBufferSize);

/*
 * TdhGetPropertySize() and its like - the bytes of a field, and how many there are.
 *
 * @pPropertyData: the path to the field: for each step a name, and an index into its array, ULONG_MAX without one
 * @PropertyDataCount: of its steps: 1, or 2 for a member of a struct
 * @BufferSize: bytes of pBuffer
 * @pPropertySize: gets the size
 *
 * The bytes are those of the payload. TdhFormatProperty() makes text of them, libetw_get_text() does both.
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the field takes more bytes; ERROR_INVALID_PARAMETER: a pointer
 * is NULL, or a path or context is none; ERROR_NOT_FOUND: there is no such field, its array has fewer elements, or
 * nobody has a schema for the event; ERROR_EVT_INVALID_EVENT_DATA: the payload ends before the field;
 * ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhGetPropertySize(
	_In_ PEVENT_RECORD pEvent, _In_ ULONG TdhContextCount,
	_In_reads_opt_(TdhContextCount) PTDH_CONTEXT pTdhContext, _In_ ULONG PropertyDataCount,
	_In_reads_(PropertyDataCount) PPROPERTY_DATA_DESCRIPTOR pPropertyData,
	_Out_ PULONG pPropertySize);
ETW_API TDHSTATUS WINAPI TdhGetProperty(
	_In_ PEVENT_RECORD pEvent, _In_ ULONG TdhContextCount,
	_In_reads_opt_(TdhContextCount) PTDH_CONTEXT pTdhContext, _In_ ULONG PropertyDataCount,
	_In_reads_(PropertyDataCount) PPROPERTY_DATA_DESCRIPTOR pPropertyData,
	_In_ ULONG BufferSize, _Out_writes_bytes_(BufferSize) PBYTE pBuffer);

/*
 * TdhFormatProperty() - the text of a value, as the type of its field wants it.
 *
 * @EventInfo: of TdhGetEventInformation()
 * @MapInfo: of TdhGetEventMapInformation(), for fields that have a map; NULL: none
 * @PointerSize: 4 or 8, as the event's header says
 * @PropertyInType, @PropertyOutType, @PropertyLength: of the field's description
 * @UserData: the payload from the value on
 * @UserDataLength: the bytes that are left of it
 * @BufferSize: in: bytes of Buffer; out: of the text with its NUL
 * @UserDataConsumed: gets the bytes of the value
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: BufferSize says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL, or a type or size is none; ERROR_EVT_INVALID_EVENT_DATA: the payload ends within the value, or
 * the map has no name for it; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhFormatProperty(_In_ PTRACE_EVENT_INFO EventInfo,
					   _In_opt_ PEVENT_MAP_INFO MapInfo,
					   _In_ ULONG PointerSize, _In_ USHORT PropertyInType,
					   _In_ USHORT PropertyOutType,
					   _In_ USHORT PropertyLength, _In_ USHORT UserDataLength,
					   _In_reads_bytes_(UserDataLength) PBYTE UserData,
					   _Inout_ PULONG BufferSize,
					   _Out_writes_bytes_opt_(*BufferSize) PWCHAR Buffer,
					   _Out_ PUSHORT UserDataConsumed);

/*
 * TdhEnumerateProviders() - the providers that are registered on this machine or loaded by this program.
 *
 * @pBufferSize: in: bytes of pBuffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER:
 * pBufferSize is NULL, or pBuffer is where there is a size; ERROR_NOT_ENOUGH_MEMORY; what reading the registry
 * fails with.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhEnumerateProviders(
	_Out_writes_bytes_opt_(*pBufferSize) PPROVIDER_ENUMERATION_INFO pBuffer,
	_Inout_ PULONG pBufferSize);

/*
 * TdhEnumerateProvidersForDecodingSource() - the same of one kind of schema.
 *
 * @filter: DecodingSourceXMLFile: manifests; DecodingSourceWbem: classes; others have no providers
 * @bufferSize: bytes of buffer
 * @bufferRequired: gets the size of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: bufferRequired says how much it takes; ERROR_INVALID_PARAMETER:
 * a pointer is NULL, or there is no such source; ERROR_NOT_ENOUGH_MEMORY; what reading the registry fails with.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhEnumerateProvidersForDecodingSource(
	_In_ DECODING_SOURCE filter,
	_Out_writes_bytes_opt_(bufferSize) PROVIDER_ENUMERATION_INFO *buffer,
	_In_ ULONG bufferSize, _Out_ PULONG bufferRequired);

/*
 * TdhQueryProviderFieldInformation() and its like - the keywords, levels, channels, tasks or opcodes of a provider,
 * with their names.
 *
 * @pGuid: a provider that is registered or loaded
 * @EventFieldValue: the value whose name is asked for; of keywords a bit or several
 * @EventFieldType: EventKeywordInformation, EventLevelInformation, EventChannelInformation, EventTaskInformation or
 *   EventOpcodeInformation
 * @pBufferSize: in: bytes of pBuffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL; ERROR_NOT_SUPPORTED: there is no such type; ERROR_NOT_FOUND: the provider is not known, or has
 * none of them; ERROR_FILE_NOT_FOUND: the provider is registered, but its definition is gone or damaged;
 * ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhQueryProviderFieldInformation(
	_In_ LPGUID pGuid, _In_ ULONGLONG EventFieldValue, _In_ EVENT_FIELD_TYPE EventFieldType,
	_Out_writes_bytes_opt_(*pBufferSize) PPROVIDER_FIELD_INFOARRAY pBuffer,
	_Inout_ PULONG pBufferSize);
ETW_API TDHSTATUS WINAPI TdhEnumerateProviderFieldInformation(
	_In_ LPGUID pGuid, _In_ EVENT_FIELD_TYPE EventFieldType,
	_Out_writes_bytes_opt_(*pBufferSize) PPROVIDER_FIELD_INFOARRAY pBuffer,
	_Inout_ PULONG pBufferSize);

/*
 * TdhEnumerateProviderFilters() - the filters that a provider's manifest defines.
 *
 * @FilterCount: gets their number
 * @Buffer: gets FilterCount pointers, then what they point to
 * @BufferSize: in: bytes of Buffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL, or a context is none; ERROR_NOT_FOUND: the provider is not known, or defines no filters;
 * ERROR_FILE_NOT_FOUND: the provider is registered, but its definition is gone or damaged; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhEnumerateProviderFilters(
	_In_ LPGUID Guid, _In_ ULONG TdhContextCount,
	_In_reads_opt_(TdhContextCount) PTDH_CONTEXT TdhContext, _In_ PULONG FilterCount,
	_Out_writes_bytes_opt_(*BufferSize) PPROVIDER_FILTER_INFO *Buffer,
	_Inout_ PULONG BufferSize);

/*
 * TdhEnumerateManifestProviderEvents() - the descriptors of all events that a provider's manifest defines.
 *
 * @BufferSize: in: bytes of Buffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL; ERROR_NOT_FOUND: the provider is not known; ERROR_FILE_NOT_FOUND: it is registered, but its
 * definition is gone or damaged; ERROR_EMPTY: it defines no events; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhEnumerateManifestProviderEvents(
	_In_ LPGUID ProviderGuid, _Out_writes_bytes_opt_(*BufferSize) PPROVIDER_EVENT_INFO Buffer,
	_Inout_ PULONG BufferSize);

/*
 * TdhGetManifestEventInformation() - what a manifest says of an event, without an event at hand.
 *
 * @EventDescriptor: whose Id and Version count
 * @BufferSize: in: bytes of Buffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: a
 * pointer is NULL; ERROR_NOT_FOUND: the provider is not known, or has no such event; ERROR_FILE_NOT_FOUND: it is
 * registered, but its definition is gone or damaged; ERROR_EMPTY: it defines no events; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhGetManifestEventInformation(
	_In_ LPGUID ProviderGuid, _In_ PEVENT_DESCRIPTOR EventDescriptor,
	_Out_writes_bytes_opt_(*BufferSize) PTRACE_EVENT_INFO Buffer, _Inout_ PULONG BufferSize);

/*
 * TdhLoadManifest() and its like - adds schemas for this process: from a manifest, from its text, or from a binary
 * that holds it compiled.
 *
 * @Manifest, @BinaryPath: a path of Linux, or of Windows below the folder that ETW_DRIVE_C names
 * @pData: the text of a manifest, borrowed for the call
 * @cbData: its bytes
 *
 * What is loaded again replaces what was. wevtutil(1) installs manifests for all programs.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no path or text; ERROR_FILE_NOT_FOUND,
 * ERROR_PATH_NOT_FOUND: the file, or its folder, is not there; ERROR_ACCESS_DENIED; ERROR_XML_PARSE_ERROR: the
 * manifest is damaged; ERROR_RESOURCE_TYPE_NOT_FOUND: the binary has no compiled manifest; ERROR_FILE_CORRUPT: the
 * binary is damaged; ERROR_FILE_TOO_LARGE: more than 64 MiB of text, or 1 GiB; ERROR_NOT_ENOUGH_MEMORY; what
 * reading fails with.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhLoadManifest(_In_ PWSTR Manifest);
ETW_API TDHSTATUS WINAPI TdhLoadManifestFromMemory(_In_reads_bytes_(cbData) LPCVOID pData,
						   _In_ ULONG cbData);
ETW_API TDHSTATUS WINAPI TdhLoadManifestFromBinary(_In_ PWSTR BinaryPath);

/*
 * TdhUnloadManifest() and its like - takes back what TdhLoadManifest() added.
 *
 * @Manifest: the path as it was loaded; the file may be gone
 * @pData: the same text
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no path or text; ERROR_NOT_FOUND: it is not loaded;
 * ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhUnloadManifest(_In_ PWSTR Manifest);
ETW_API TDHSTATUS WINAPI TdhUnloadManifestFromMemory(_In_reads_bytes_(cbData) LPCVOID pData,
						     _In_ ULONG cbData);

/*
 * TdhOpenDecodingHandle() - a handle for decoding WPP messages.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: Handle is NULL; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhOpenDecodingHandle(_Out_ PTDH_HANDLE Handle);

/*
 * TdhSetDecodingParameter() and its like - where a handle looks for TMF files and PDBs, and how it shows times.
 *
 * @TdhContext: TDH_CONTEXT_WPP_TMFFILE, _WPP_TMFSEARCHPATH or _PDB_PATH with a path in UTF-16, _WPP_GMT or
 *   _POINTERSIZE with a number
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no such handle or parameter, or its value cannot be;
 * ERROR_INSUFFICIENT_BUFFER: ParameterSize is too small for what is asked for; ERROR_NOT_ENOUGH_MEMORY.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhSetDecodingParameter(_In_ TDH_HANDLE Handle,
						 _In_ PTDH_CONTEXT TdhContext);
ETW_API TDHSTATUS WINAPI TdhGetDecodingParameter(_In_ TDH_HANDLE Handle,
						 _Inout_ PTDH_CONTEXT TdhContext);

/*
 * TdhGetWppProperty() and its like - a part of a WPP message, or the whole of it with its prefix.
 *
 * @PropertyName: FormattedString, and the names of the prefix: LevelName, FlagsName, FunctionName, ComponentName,
 *   SubComponentName, GuidName, GuidTypeName, ProcessId, ThreadId, SystemTime, SequenceNum, CpuNumber, ...
 * @BufferSize: in: bytes of Buffer; out: of the answer
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER: the size says how much it takes; ERROR_INVALID_PARAMETER: there
 * is no such handle, a pointer is NULL, or the event is no WPP message; ERROR_NOT_FOUND: there is no such property,
 * or no TMF file or PDB knows the message; ERROR_NOT_ENOUGH_MEMORY; what reading the files fails with.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhGetWppProperty(_In_ TDH_HANDLE Handle, _In_ PEVENT_RECORD EventRecord,
					   _In_ PWSTR PropertyName, _Inout_ PULONG BufferSize,
					   _Out_writes_bytes_(*BufferSize) PBYTE Buffer);
ETW_API TDHSTATUS WINAPI TdhGetWppMessage(_In_ TDH_HANDLE Handle, _In_ PEVENT_RECORD EventRecord,
					  _Inout_ PULONG BufferSize,
					  _Out_writes_bytes_(*BufferSize) PBYTE Buffer);

/*
 * TdhCloseDecodingHandle() - frees a handle of TdhOpenDecodingHandle().
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no such handle.
 *
 * Context: any thread.
 */
ETW_API TDHSTATUS WINAPI TdhCloseDecodingHandle(_In_ TDH_HANDLE Handle);

/*
 * TdhCreatePayloadFilter() - makes a filter on the fields of an event.
 *
 * @ProviderGuid: a provider that is registered or loaded
 * @EventDescriptor: the event
 * @EventMatchANY: TRUE: one predicate is enough; FALSE: all must hold
 * @PayloadPredicateCount: 1 to 8
 * @PayloadPredicates: name of a field, comparison and value
 * @PayloadFilter: gets the filter, for TdhAggregatePayloadFilters() and TdhDeletePayloadFilter()
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: a pointer is NULL, or a predicate is none; ERROR_FILE_NOT_FOUND:
 * the provider is not known; ERROR_NOT_FOUND: it has no such event or field; ERROR_NOT_SUPPORTED: a field of a type
 * that cannot be compared; ERROR_INSUFFICIENT_BUFFER: the filter is larger than 4096 bytes;
 * ERROR_NOT_ENOUGH_MEMORY.
 */
ETW_API TDHSTATUS WINAPI TdhCreatePayloadFilter(
	_In_ LPCGUID ProviderGuid, _In_ PCEVENT_DESCRIPTOR EventDescriptor,
	_In_ BOOLEAN EventMatchANY, _In_ ULONG PayloadPredicateCount,
	_In_reads_(PayloadPredicateCount) PPAYLOAD_FILTER_PREDICATE PayloadPredicates,
	_Outptr_result_maybenull_ PVOID *PayloadFilter);

/*
 * TdhDeletePayloadFilter() - frees a filter and sets the pointer to NULL.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no filter.
 */
ETW_API TDHSTATUS WINAPI TdhDeletePayloadFilter(_Inout_ PVOID *PayloadFilter);

/*
 * TdhAggregatePayloadFilters() - puts filters of several events together, for EnableTraceEx2().
 *
 * @EventMatchALLFlags: for each filter whether it is one of several of its event that must all hold; NULL: none is
 * @EventFilterDescriptor: gets the whole, for TdhCleanupPayloadEventFilterDescriptor()
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: a pointer is NULL, or filters of several providers;
 * ERROR_INSUFFICIENT_BUFFER: the whole is larger than 4096 bytes; ERROR_NOT_ENOUGH_MEMORY.
 */
ETW_API TDHSTATUS WINAPI TdhAggregatePayloadFilters(
	_In_ ULONG PayloadFilterCount, _In_reads_(PayloadFilterCount) PVOID *PayloadFilterPtrs,
	_In_reads_opt_(PayloadFilterCount) PBOOLEAN EventMatchALLFlags,
	_Out_ PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor);

/*
 * TdhCleanupPayloadEventFilterDescriptor() - frees what TdhAggregatePayloadFilters() made.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER: there is no descriptor.
 */
ETW_API TDHSTATUS WINAPI TdhCleanupPayloadEventFilterDescriptor(
	_Inout_ PEVENT_FILTER_DESCRIPTOR EventFilterDescriptor);

/*
 * EMI_MAP_NAME() and its like - strings of the structures that Tdh functions fill, by their offset.
 *
 * EMI_ functions are for what TdhGetEventMapInformation() gives, TEI_ for TdhGetEventInformation(), PFI_ for
 * filters and fields of providers, PEI_ for TdhEnumerateProviders().
 *
 * Returns the string within the structure, or NULL where the structure has none.
 */
TDH_INLINE PWSTR EMI_MAP_NAME(_In_ PEVENT_MAP_INFO MapInfo)
{
	if (MapInfo->NameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)MapInfo + MapInfo->NameOffset);
}

TDH_INLINE PWSTR EMI_MAP_FORMAT(_In_ PEVENT_MAP_INFO MapInfo)
{
	if (!(MapInfo->Flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP) ||
	    MapInfo->FormatStringOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)MapInfo + MapInfo->FormatStringOffset);
}

TDH_INLINE PWSTR EMI_MAP_OUTPUT(_In_ PEVENT_MAP_INFO MapInfo, _In_ PEVENT_MAP_ENTRY Map)
{
	if (Map->OutputOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)MapInfo + Map->OutputOffset);
}

TDH_INLINE PWSTR EMI_MAP_INPUT(_In_ PEVENT_MAP_INFO MapInfo, _In_ PEVENT_MAP_ENTRY Map)
{
	if (!(MapInfo->Flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP) || Map->InputOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)MapInfo + Map->InputOffset);
}

TDH_INLINE PWSTR TEI_MAP_NAME(_In_ PTRACE_EVENT_INFO EventInfo,
			      _In_ PEVENT_PROPERTY_INFO Property)
{
	if (Property->nonStructType.MapNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + Property->nonStructType.MapNameOffset);
}

TDH_INLINE PWSTR TEI_PROPERTY_NAME(_In_ PTRACE_EVENT_INFO EventInfo,
				   _In_ PEVENT_PROPERTY_INFO Property)
{
	if (Property->NameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + Property->NameOffset);
}

TDH_INLINE PWSTR TEI_PROVIDER_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->ProviderNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->ProviderNameOffset);
}

TDH_INLINE PWSTR TEI_LEVEL_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->LevelNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->LevelNameOffset);
}

TDH_INLINE PWSTR TEI_CHANNEL_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->ChannelNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->ChannelNameOffset);
}

TDH_INLINE PWSTR TEI_KEYWORDS_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->KeywordsNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->KeywordsNameOffset);
}

TDH_INLINE PWSTR TEI_TASK_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->TaskNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->TaskNameOffset);
}

TDH_INLINE PWSTR TEI_OPCODE_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->OpcodeNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->OpcodeNameOffset);
}

TDH_INLINE PWSTR TEI_EVENT_MESSAGE(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->EventMessageOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->EventMessageOffset);
}

TDH_INLINE PWSTR TEI_PROVIDER_MESSAGE(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->ProviderMessageOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->ProviderMessageOffset);
}

TDH_INLINE PWSTR TEI_ACTIVITYID_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->ActivityIDNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->ActivityIDNameOffset);
}

TDH_INLINE PWSTR TEI_RELATEDACTIVITYID_NAME(_In_ PTRACE_EVENT_INFO EventInfo)
{
	if (EventInfo->RelatedActivityIDNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)EventInfo + EventInfo->RelatedActivityIDNameOffset);
}

TDH_INLINE PWSTR PFI_FILTER_MESSAGE(_In_ PPROVIDER_FILTER_INFO FilterInfo)
{
	if (FilterInfo->MessageOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)FilterInfo + FilterInfo->MessageOffset);
}

TDH_INLINE PWSTR PFI_PROPERTY_NAME(_In_ PPROVIDER_FILTER_INFO FilterInfo,
				   _In_ PEVENT_PROPERTY_INFO Property)
{
	if (Property->NameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)FilterInfo + Property->NameOffset);
}

TDH_INLINE PWSTR PFI_FIELD_NAME(_In_ PPROVIDER_FIELD_INFOARRAY FieldInfoArray,
				_In_ PPROVIDER_FIELD_INFO FieldInfo)
{
	if (FieldInfo->NameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)FieldInfoArray + FieldInfo->NameOffset);
}

TDH_INLINE PWSTR PFI_FIELD_MESSAGE(_In_ PPROVIDER_FIELD_INFOARRAY FieldInfoArray,
				   _In_ PPROVIDER_FIELD_INFO FieldInfo)
{
	if (FieldInfo->DescriptionOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)FieldInfoArray + FieldInfo->DescriptionOffset);
}

TDH_INLINE PWSTR PEI_PROVIDER_NAME(_In_ PPROVIDER_ENUMERATION_INFO ProviderEnum,
				   _In_ PTRACE_PROVIDER_INFO ProviderInfo)
{
	if (ProviderInfo->ProviderNameOffset == 0)
		return NULL;
	return (PWSTR)(PVOID)((PBYTE)ProviderEnum + ProviderInfo->ProviderNameOffset);
}

ETW_EXTERN_C_END

#endif /* ETW_TDH_H */
