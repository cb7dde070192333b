/* SPDX-License-Identifier: MIT */
/*
 * fields
 *
 * The bytes that every TraceLogging macro writes, against the table in fields.inc, and those of the events around them. The
 * program stands in for libetw: what TraceLoggingWrite() hands to EventWriteTransfer() is what is looked at. C11 and
 * C++17, gcc and clang, without warnings: check_fields builds it.
 */
#include <stdio.h>
#include <string.h>

#include <TraceLoggingProvider.h>

/* --- What the library would do. */
static PENABLECALLBACK enable;
static PVOID enable_context;
static GUID registered_id;
static UINT8 traits[256];
static ULONG traits_bytes;

static struct {
	ULONG64 filter;
	ULONG flags;
	unsigned count;
	EVENT_DESCRIPTOR descriptor;
	GUID activity, related;
	UINT8 provider[256], event[512], payload[512];
	ULONG provider_bytes, event_bytes, payload_bytes;
} seen;

static unsigned failures;

ULONG EVNTAPI EventRegister(LPCGUID ProviderId, PENABLECALLBACK EnableCallback,
			    PVOID CallbackContext, PREGHANDLE RegHandle)
{
	registered_id = *ProviderId;
	enable = EnableCallback;
	enable_context = CallbackContext;
	*RegHandle = 7;
	return ERROR_SUCCESS;
}

ULONG EVNTAPI EventUnregister(REGHANDLE RegHandle)
{
	return RegHandle == 7 ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

ULONG EVNTAPI EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass,
				  PVOID EventInformation, ULONG InformationLength)
{
	if (RegHandle != 7 || InformationClass != EventProviderSetTraits)
		return ERROR_INVALID_PARAMETER;
	memcpy(traits, EventInformation, InformationLength);
	traits_bytes = InformationLength;
	return ERROR_SUCCESS;
}

ULONG EVNTAPI EventWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
				 LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
				 PEVENT_DATA_DESCRIPTOR UserData)
{
	memset(&seen.provider, 0, sizeof(seen.provider));
	seen.provider_bytes = seen.event_bytes = seen.payload_bytes = 0;
	seen.count += RegHandle == 7;
	seen.descriptor = *EventDescriptor;
	memset(&seen.activity, 0, sizeof(GUID));
	memset(&seen.related, 0, sizeof(GUID));
	if (ActivityId)
		seen.activity = *ActivityId;
	if (RelatedActivityId)
		seen.related = *RelatedActivityId;
	for (ULONG i = 0; i < UserDataCount; i++) {
		UINT8 *part = UserData[i].Type == 2   ? seen.provider
			      : UserData[i].Type == 1 ? seen.event
						      : seen.payload;
		ULONG *bytes = UserData[i].Type == 2   ? &seen.provider_bytes
			       : UserData[i].Type == 1 ? &seen.event_bytes
						       : &seen.payload_bytes;

		if (UserData[i].Size)
			memcpy(part + *bytes, (const void *)(ULONG_PTR)UserData[i].Ptr,
			       UserData[i].Size);
		*bytes += UserData[i].Size;
	}
	return ERROR_SUCCESS;
}

ULONG EVNTAPI EventWriteEx(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, ULONG64 Filter,
			   ULONG Flags, LPCGUID ActivityId, LPCGUID RelatedActivityId,
			   ULONG UserDataCount, PEVENT_DATA_DESCRIPTOR UserData)
{
	seen.filter = Filter;
	seen.flags = Flags;
	return EventWriteTransfer(RegHandle, EventDescriptor, ActivityId, RelatedActivityId,
				  UserDataCount, UserData);
}

int libetw_provider_id(const char *name, GUID *ret)
{
	ret->Data1 = (uint32_t)strlen(name);
	return 0;
}

/* --- Comparing. */
static int is_hex(const UINT8 *at, ULONG bytes, const char *hex)
{
	char text[1025];

	for (ULONG i = 0; i < bytes; i++)
		(void)snprintf(text + (size_t)i * 2, 3, "%02X", at[i]);
	text[(size_t)bytes * 2] = 0;
	if (strcmp(text, hex) == 0)
		return 1;
	printf("is %s, should be %s\n", text, hex);
	return 0;
}

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	failures++;
	printf("WRONG %s\n", what);
}

/* An event "E" with a field "F", of which only what is behind the names differs. */
static void check_field(const char *what, const char *types, const char *payload)
{
	static const UINT8 head[] = {0, 'E', 0, 'F', 0};

	check(seen.event_bytes >= 7 &&
		      (ULONG)(seen.event[0] | seen.event[1] << 8) == seen.event_bytes &&
		      memcmp(seen.event + 2, head, sizeof(head)) == 0 &&
		      is_hex(seen.event + 7, seen.event_bytes - 7, types),
	      what);
	check(is_hex(seen.payload, seen.payload_bytes, payload), what);
}

#define FIELD(types, payload, ...)                             \
	do {                                                   \
		const unsigned before = seen.count;            \
		TraceLoggingWrite(provider, "E", __VA_ARGS__); \
		check(seen.count == before + 1, #__VA_ARGS__); \
		check_field(#__VA_ARGS__, types, payload);     \
	} while (0)

TRACELOGGING_DECLARE_PROVIDER(provider);
TRACELOGGING_DEFINE_PROVIDER(provider, "Test", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
TRACELOGGING_DEFINE_PROVIDER(nameless, "Nameless", /* no id */);
TRACELOGGING_DEFINE_PROVIDER(two_arguments, "Two");
TRACELOGGING_DEFINE_PROVIDER(grouped, "G", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
			     TraceLoggingOptionGroup(0x04030201, 0x0605, 0x0807, 9, 10, 11, 12, 13,
						     14, 15, 16));
TRACELOGGING_DEFINE_PROVIDER(grouped_alone, "G", TraceLoggingOptionMicrosoftTelemetry());
TRACELOGGING_DEFINE_PROVIDER_STORAGE(storage, "Stored", (9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));

struct some_buffer {
	const char *Buffer;
	USHORT Length;
};

static void check_fields(void)
{
	static const UINT8 bytes16[32] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
					  12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
					  23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
	static const INT8 i8[] = {1, 2};
	static const UINT8 u8[] = {1, 2};
	static const INT16 i16[] = {1, 2};
	static const UINT16 u16[] = {1, 2};
	static const INT32 i32[] = {1, 2};
	static const UINT32 u32[] = {1, 2};
	static const INT64 i64[] = {1, 2};
	static const UINT64 u64[] = {1, 2};
	static const INT_PTR ip[] = {1, 2};
	static const UINT_PTR up[] = {1, 2};
	static const FLOAT f32[] = {1, 2};
	static const DOUBLE f64[] = {1, 2};
	static const WCHAR wide[] = {'a', 'b', 0};
	static const ETW_TL_CHAR16 text16[] = {'a', 'b', 0};
	const GUID guid = {0x01020304, 0x0506, 0x0708, {1, 2, 3, 4, 5, 6, 7, 8}};
	const FILETIME file_time = {0x05060708, 0x01020304};
	const SYSTEMTIME system_time = {2024, 1, 2, 3, 4, 5, 6, 7};
	SID sid = {1, 1, {{0, 0, 0, 0, 0, 5}}, {18}};
	const void *const pointer = (const void *)0x0123456789ABCDEF;
	const char *const no_text = NULL;
	const WCHAR *const no_wide = NULL;
	const struct some_buffer buffer = {"ab", 2};
	char narrow[] = "ab";
	WCHAR wide_copy[] = {'a', 'b', 0};
	const UNICODE_STRING unicode = {4, 6, wide_copy};
	const ANSI_STRING ansi = {2, 3, narrow};
	PCVOID pointers[2];
	FILETIME file_times[2];
	SYSTEMTIME system_times[2];
	GUID guids[2];
#ifdef __cplusplus
	const bool truth = true;
#else
	const _Bool truth = 1;
#endif

	memcpy(file_times, bytes16, sizeof(file_times));
	memcpy(system_times, bytes16, sizeof(system_times));
	memcpy(guids, bytes16, sizeof(guids));
	pointers[0] = (PCVOID)(ULONG_PTR)1;
	pointers[1] = (PCVOID)(ULONG_PTR)2;
#include "fields.inc"
}

static void check_names(void)
{
	const INT32 first = 1;
	const INT32 values[] = {1, 2};

	TraceLoggingWrite(provider, "N", TraceLoggingInt32(first), TraceLoggingInt32(first + 1),
			  TraceLoggingInt32Array(values, 2), TraceLoggingValue(first),
			  TraceLoggingBinary(values, 1), TraceLoggingCountedString("a", 1));
	check(is_hex(seen.event, seen.event_bytes,
		     "3300004E00"
		     "66697273740007"
		     "6669727374202B20310007"
		     "76616C7565730047"
		     "66697273740007"
		     "76616C756573000E"
		     "2261220017"),
	      "names of values");
}

static void check_options(void)
{
	const GUID activity = {5, 0, 0, {0}};
	const GUID related = {6, 0, 0, {0}};

	TraceLoggingWrite(provider, "Plain");
	check(is_hex(seen.event, seen.event_bytes, "090000506C61696E00"),
	      "an event without fields");
	check(seen.payload_bytes == 0 && seen.descriptor.Id == 0 && seen.descriptor.Version == 0 &&
		      seen.descriptor.Task == 0 && seen.descriptor.Channel == 11 &&
		      seen.descriptor.Level == 5 && seen.descriptor.Opcode == 0 &&
		      seen.descriptor.Keyword == 0,
	      "defaults");
	TraceLoggingWrite(provider, "O", TraceLoggingUInt8(1, "F"), TraceLoggingKeyword(0x10),
			  TraceLoggingLevel(WINEVENT_LEVEL_LOG_ALWAYS), TraceLoggingOpcode(2),
			  TraceLoggingChannel(0), TraceLoggingKeyword(0x8000000000000000u),
			  TraceLoggingEventTag(0x1234567), TraceLoggingDescription("a comment"),
			  TraceLoggingCustomAttribute("key", "value"));
	check(is_hex(seen.event, seen.event_bytes, "0B00898D8A674F00460004"), "an event's tag");
	check(seen.descriptor.Channel == 0 && seen.descriptor.Level == 0 &&
		      seen.descriptor.Opcode == 2 && seen.descriptor.Keyword == 0x8000000000000010u,
	      "options");
	TraceLoggingWriteActivity(provider, "A", &activity, &related, TraceLoggingUInt8(1, "F"));
	check(seen.activity.Data1 == 5 && seen.related.Data1 == 6, "activities");
	TraceLoggingWriteActivity(provider, "A", &activity, NULL);
	check(seen.activity.Data1 == 5 && seen.related.Data1 == 0, "an activity alone");
	TraceLoggingWriteEx(provider, "E", 3, EVENT_WRITE_FLAG_INPRIVATE, &activity, &related,
			    TraceLoggingUInt8(2, "F"));
	check(seen.filter == 3 && seen.flags == EVENT_WRITE_FLAG_INPRIVATE &&
		      seen.activity.Data1 == 5 && seen.related.Data1 == 6 &&
		      is_hex(seen.payload, seen.payload_bytes, "02"),
	      "a filter and flags");
	check(TraceLoggingSetInformation(provider, EventProviderSetTraits, traits, traits_bytes) ==
			      S_OK &&
		      TraceLoggingSetInformation(provider, EventProviderBinaryTrackInfo, NULL, 0) ==
			      HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER),
	      "information");
	TraceLoggingWriteEx(provider, "E", 0, 0, NULL, NULL);
	check(seen.filter == 0 && seen.flags == 0 && seen.activity.Data1 == 0, "neither");
	TraceLoggingWrite(provider, "P", TraceLoggingPackedData("ab", 2),
			  TraceLoggingPackedDataEx("cd", 2, 1));
	check(is_hex(seen.event, seen.event_bytes,
		     "0500005000"
		     "6364") &&
		      is_hex(seen.payload, seen.payload_bytes, "6162"),
	      "data of a type");
	check(is_hex(seen.provider, seen.provider_bytes, "07005465737400"),
	      "the provider's metadata");
}

/* The genuine event of docs/format/tracelogging.md: a structure of two texts. */
static void check_genuine(void)
{
	static const WCHAR empty[] = {0};

	TraceLoggingWrite(provider, "TestEvent", TraceLoggingStruct(2, "a"),
			  TraceLoggingWideString(empty, "b"), TraceLoggingWideString(empty, "c"));
	check(is_hex(seen.event, seen.event_bytes,
		     "170000546573744576656E740061009802620001630001"),
	      "the genuine event");
}

static void enable_at(UCHAR level, ULONGLONG any, ULONGLONG all)
{
	enable(&registered_id, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, any, all, NULL,
	       enable_context);
}

static unsigned evaluated;

static INT32 evaluate(void)
{
	evaluated++;
	return 1;
}

static void check_enabling(void)
{
	const unsigned before = seen.count;

	TraceLoggingWrite(provider, "D", TraceLoggingInt32(evaluate()));
	check(TraceLoggingProviderEnabled(provider, 0, 0) == FALSE, "registered, not enabled");
	enable_at(4, 0x6, 0x2);
	TraceLoggingWrite(provider, "D", TraceLoggingInt32(evaluate()));
	TraceLoggingWrite(provider, "D", TraceLoggingLevel(4), TraceLoggingKeyword(0x4),
			  TraceLoggingInt32(evaluate()));
	TraceLoggingWrite(provider, "D", TraceLoggingLevel(4), TraceLoggingKeyword(0x8),
			  TraceLoggingInt32(evaluate()));
	check(seen.count == before && evaluated == 0, "what nobody wants is not looked at");
	TraceLoggingWrite(provider, "D", TraceLoggingLevel(4), TraceLoggingKeyword(0x2),
			  TraceLoggingInt32(evaluate()));
	TraceLoggingWrite(provider, "D", TraceLoggingLevel(4), TraceLoggingInt32(evaluate()));
	check(seen.count == before + 2 && evaluated == 2, "what is wanted is written once");
	check(TraceLoggingProviderEnabled(provider, 4, 2) &&
		      TraceLoggingEventEnabled(provider, "D"),
	      "enabled");
	enable(&registered_id, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, NULL, enable_context);
	check(!TraceLoggingProviderEnabled(provider, 5, 0), "a request for state changes nothing");
	enable_at(0, 0, 0);
	check(TraceLoggingProviderEnabled(provider, 255, 1), "level 0 is every level");
}

static void check_providers(void)
{
	check(TraceLoggingRegister(nameless) == S_OK && registered_id.Data1 == 8,
	      "an id of the name");
	check(is_hex(traits, traits_bytes, "0B004E616D656C65737300"), "traits without a group");
	TraceLoggingUnregister(nameless);
	check(TraceLoggingProviderId(two_arguments).Data1 == 3, "an id before registering");
	check(TraceLoggingRegister(grouped) == S_OK && is_hex(traits, traits_bytes,
							      "17004700130001"
							      "0102030405060708090A0B0C0D0E0F10"),
	      "traits with a group");
	TraceLoggingUnregister(grouped);
	check(TraceLoggingRegister(grouped_alone) == S_OK && registered_id.Data1 == 1 &&
		      is_hex(traits, traits_bytes,
			     "17004700130001"
			     "1A73504FCF898247B3E0DCE8C90476BA"),
	      "a group and no id");
	TraceLoggingUnregister(grouped_alone);
	check(TraceLoggingRegister(&storage) == S_OK && registered_id.Data1 == 9 &&
		      strcmp(TraceLoggingProviderName(&storage), "Stored") == 0,
	      "a provider without a handle");
	TraceLoggingUnregister(&storage);
	check(TraceLoggingRegister(provider) == S_OK && TraceLoggingRegister(provider) != S_OK,
	      "registering twice");
}

int main(void)
{
	check_providers();
	check_enabling();
	check_fields();
	check_names();
	check_options();
	check_genuine();
	enable(&registered_id, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL, enable_context);
	check(!TraceLoggingProviderEnabled(provider, 0, 0), "disabled");
	TraceLoggingUnregister(provider);
	TraceLoggingUnregister(provider);
	printf("%u events, %u failures\n", seen.count, failures);
	return failures ? 1 : 0;
}
