/* SPDX-License-Identifier: MIT */
#include "write_kinds/write_kinds.h"

#include <stddef.h>
#include <string.h>

#include <TraceLoggingProvider.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#define LEVEL     4
#define TEXT_LONG 200

#define TRACELOGGING_ID (0xBEF0, 0xBEEF, 1, 2, 3, 4, 5, 6, 7, 8, 9)

TRACELOGGING_DEFINE_PROVIDER(tracelogging, "Etw.WriteKinds", TRACELOGGING_ID);

static const GUID ids[WRITE_PROVIDERS] = {
	[WRITE_MANIFEST] = {0xBEEF, 0xBEEF, 1, {2, 3, 4, 5, 6, 7, 8, 9}},
	[WRITE_TRACELOGGING] = {0xBEF0, 0xBEEF, 1, {2, 3, 4, 5, 6, 7, 8, 9}},
	[WRITE_CLASSIC] = {0xBEF1, 0xBEEF, 1, {2, 3, 4, 5, 6, 7, 8, 9}},
};
static const GUID class_id = {0xBEF2, 0xBEEF, 1, {2, 3, 4, 5, 6, 7, 8, 9}};
static const GUID activity = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = LEVEL, .Keyword = 1};
static const char text[TEXT_LONG] = "ten letter";
static const WCHAR wide[] = u"ten letter";

static REGHANDLE manifest;
static TRACEHANDLE classic;
static TRACEHANDLE logger; /* atomic; 0: none */

/* As generated code does it: descriptors of the values, then the call. */
static inline __attribute__((always_inline)) uint64_t write_numbers(uint64_t count, ULONG fields)
{
	EVENT_DATA_DESCRIPTOR data[10];
	uint64_t numbers[10];
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		for (ULONG k = 0; k < fields; k++) {
			numbers[k] = i * k;
			EventDataDescCreate(&data[k], &numbers[k], sizeof(numbers[k]));
		}
		refused += EventWrite(manifest, &descriptor, fields, data) != ERROR_SUCCESS;
	}
	return refused;
}

#define WRITE_NUMBERS(fields)                          \
	static uint64_t write_##fields(uint64_t count) \
	{                                              \
		return write_numbers(count, fields);   \
	}
WRITE_NUMBERS(0)
WRITE_NUMBERS(1)
WRITE_NUMBERS(2)
WRITE_NUMBERS(3)
WRITE_NUMBERS(4)
WRITE_NUMBERS(5)
WRITE_NUMBERS(6)
WRITE_NUMBERS(7)
WRITE_NUMBERS(8)
WRITE_NUMBERS(9)
WRITE_NUMBERS(10)

/* 26 bytes: two numbers and ten bytes of text, as bench/compare writes them. */
static inline void describe(EVENT_DATA_DESCRIPTOR data[3], const uint64_t *number,
			    const uint64_t *square)
{
	EventDataDescCreate(&data[0], number, sizeof(*number));
	EventDataDescCreate(&data[1], square, sizeof(*square));
	EventDataDescCreate(&data[2], text, 10);
}

static uint64_t write_manifest(uint64_t count)
{
	EVENT_DATA_DESCRIPTOR data[3];
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t square = i * i;

		describe(data, &i, &square);
		refused += EventWrite(manifest, &descriptor, 3, data) != ERROR_SUCCESS;
	}
	return refused;
}

static uint64_t write_transfer(uint64_t count)
{
	EVENT_DATA_DESCRIPTOR data[3];
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t square = i * i;

		describe(data, &i, &square);
		refused += EventWriteTransfer(manifest, &descriptor, &activity, &activity, 3,
					      data) != ERROR_SUCCESS;
	}
	return refused;
}

static uint64_t write_ex(uint64_t count)
{
	EVENT_DATA_DESCRIPTOR data[3];
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t square = i * i;

		describe(data, &i, &square);
		refused += EventWriteEx(manifest, &descriptor, 0, 0, NULL, NULL, 3, data) !=
			   ERROR_SUCCESS;
	}
	return refused;
}

static uint64_t write_long(uint64_t count)
{
	EVENT_DATA_DESCRIPTOR data;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		EventDataDescCreate(&data, text, TEXT_LONG);
		refused += EventWrite(manifest, &descriptor, 1, &data) != ERROR_SUCCESS;
	}
	return refused;
}

/* Two strings whose lengths are asked for, as generated code does. */
static uint64_t write_texts(uint64_t count)
{
	EVENT_DATA_DESCRIPTOR data[2];
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		const char *narrow = text;

		__asm__("" : "+r"(narrow)); /* the compiler is not to know how long it is */
		EventDataDescCreate(&data[0], narrow, (ULONG)strlen(narrow) + 1);
		EventDataDescCreate(&data[1], wide, sizeof(wide));
		refused += EventWrite(manifest, &descriptor, 2, data) != ERROR_SUCCESS;
	}
	return refused;
}

static uint64_t write_string(uint64_t count)
{
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++)
		refused += EventWriteString(manifest, LEVEL, 1, wide) != ERROR_SUCCESS;
	return refused;
}

static uint64_t write_tracelogging(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		TraceLoggingWrite(tracelogging, "Fields", TraceLoggingLevel(LEVEL),
				  TraceLoggingKeyword(1), TraceLoggingUInt64(i, "Number"),
				  TraceLoggingUInt64(i * i, "Square"),
				  TraceLoggingCharFixedArray(text, 8, "Text"));
	return 0; /* the macro has no value; who counts what arrived knows */
}

static uint64_t write_tracelogging_activity(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		TraceLoggingWriteActivity(tracelogging, "Activity", &activity, &activity,
					  TraceLoggingLevel(LEVEL), TraceLoggingKeyword(1),
					  TraceLoggingUInt64(i, "Number"),
					  TraceLoggingString(text, "Text"));
	return 0;
}

struct classic_event {
	EVENT_TRACE_HEADER header;
	union {
		MOF_FIELD fields[3];
		uint8_t payload[26];
	};
};

static void begin_event(struct classic_event *event, size_t payload_bytes, ULONG flags)
{
	memset(&event->header, 0, sizeof(event->header));
	event->header.Size = (USHORT)(sizeof(event->header) + payload_bytes);
	event->header.Flags = WNODE_FLAG_TRACED_GUID | flags;
	event->header.Guid = class_id;
	event->header.Class.Type = 10;
	event->header.Class.Level = LEVEL;
}

static uint64_t write_mof(uint64_t count)
{
	const TRACEHANDLE handle = __atomic_load_n(&logger, __ATOMIC_ACQUIRE);
	struct classic_event event;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t square = i * i;

		begin_event(&event, sizeof(event.fields), WNODE_FLAG_USE_MOF_PTR);
		DEFINE_TRACE_MOF_FIELD(&event.fields[0], &i, sizeof(i), 0);
		DEFINE_TRACE_MOF_FIELD(&event.fields[1], &square, sizeof(square), 0);
		DEFINE_TRACE_MOF_FIELD(&event.fields[2], text, 10, 0);
		refused += TraceEvent(handle, &event.header) != ERROR_SUCCESS;
	}
	return refused;
}

static uint64_t write_classic(uint64_t count)
{
	const TRACEHANDLE handle = __atomic_load_n(&logger, __ATOMIC_ACQUIRE);
	struct classic_event event;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		begin_event(&event, sizeof(event.payload), 0);
		memcpy(event.payload, &i, sizeof(i));
		memcpy(event.payload + 8, text, sizeof(event.payload) - 8);
		refused += TraceEvent(handle, &event.header) != ERROR_SUCCESS;
	}
	return refused;
}

static uint64_t write_message(uint64_t count)
{
	const TRACEHANDLE handle = __atomic_load_n(&logger, __ATOMIC_ACQUIRE);
	const ULONG flags = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_SYSTEMINFO |
			    TRACE_MESSAGE_TIMESTAMP;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t square = i * i;

		refused += TraceMessage(handle, flags, &class_id, 10, &i, sizeof(i), &square,
					sizeof(square), text, (SIZE_T)10, NULL) != ERROR_SUCCESS;
	}
	return refused;
}

#define NUMBERS_ROW(fields)                                                  \
	{                                                                    \
#fields " fields of 8 bytes", WRITE_MANIFEST, write_##fields \
	}

const struct write_kind write_kinds[] = {
	NUMBERS_ROW(0),
	NUMBERS_ROW(1),
	NUMBERS_ROW(2),
	NUMBERS_ROW(3),
	NUMBERS_ROW(4),
	NUMBERS_ROW(5),
	NUMBERS_ROW(6),
	NUMBERS_ROW(7),
	NUMBERS_ROW(8),
	NUMBERS_ROW(9),
	NUMBERS_ROW(10),
	{"EventWrite, 26 bytes", WRITE_MANIFEST, write_manifest},
	{"EventWriteTransfer, 26 bytes", WRITE_MANIFEST, write_transfer},
	{"EventWriteEx, 26 bytes", WRITE_MANIFEST, write_ex},
	{"EventWrite, 200 bytes", WRITE_MANIFEST, write_long},
	{"EventWrite, two strings", WRITE_MANIFEST, write_texts},
	{"EventWriteString", WRITE_MANIFEST, write_string},
	{"TraceLoggingWrite, 26 bytes", WRITE_TRACELOGGING, write_tracelogging},
	{"TraceLoggingWriteActivity", WRITE_TRACELOGGING, write_tracelogging_activity},
	{"TraceEvent, MOF fields", WRITE_CLASSIC, write_mof},
	{"TraceEvent, 26 bytes", WRITE_CLASSIC, write_classic},
	{"TraceMessage, 26 bytes", WRITE_CLASSIC, write_message},
	{NULL, WRITE_PROVIDERS, NULL},
};

const struct write_kind *write_kind_find(const char *name)
{
	for (const struct write_kind *kind = write_kinds; kind->name; kind++) {
		if (strcmp(kind->name, name) == 0)
			return kind;
	}
	return NULL;
}

const GUID *write_kinds_id(enum write_provider provider)
{
	return &ids[provider];
}

static ULONG WINAPI on_request(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)context;
	*bytes = 0;
	__atomic_store_n(&logger, code == WMI_ENABLE_EVENTS ? GetTraceLoggerHandle(buffer) : 0,
			 __ATOMIC_RELEASE);
	return ERROR_SUCCESS;
}

uint32_t write_kinds_register(void)
{
	TRACE_GUID_REGISTRATION classes = {&class_id, NULL};
	ULONG error = EventRegister(&ids[WRITE_MANIFEST], NULL, NULL, &manifest);

	if (error == ERROR_SUCCESS)
		error = (ULONG)TraceLoggingRegister(tracelogging);
	if (error == ERROR_SUCCESS)
		error = RegisterTraceGuidsW(on_request, NULL, &ids[WRITE_CLASSIC], 1, &classes,
					    NULL, NULL, &classic);
	return error;
}

void write_kinds_unregister(void)
{
	(void)EventUnregister(manifest);
	TraceLoggingUnregister(tracelogging);
	(void)UnregisterTraceGuids(classic);
}

int write_kinds_has_logger(void)
{
	return __atomic_load_n(&logger, __ATOMIC_ACQUIRE) != 0;
}

__attribute__((noinline)) uint64_t write_kind_run(const struct write_kind *kind, uint64_t count)
{
	return kind->write(count);
}

uint64_t write_kinds_manifest_handle(void)
{
	return manifest;
}
