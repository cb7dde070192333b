/* SPDX-License-Identifier: MIT */
/*
 * What Microsoft's pages say of providers beyond errors, in sessions of a real host: who hears what, which events are
 * wanted, and what lies in the file. Sources: [MSD] the function's page, [SHEET] the rule of levels and keywords as two
 * sources have it, [SDK] evntprov.h, [DERIVED] no page says it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <pthread.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/host.h"
#include "conformance/evntrace/waiting.h"

#define LIMIT_S     1500
#define RECORDS_MAX 64
#define BYTES_MAX   256

static const GUID provider = {0x7c1f0d11, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID null_guid;

/* What a callback heard last; what it is to do. */
struct heard {
	unsigned count; /* atomic: all else is written before it */
	unsigned captures;
	GUID source;
	ULONG code;
	UCHAR level;
	ULONGLONG any, all;
	ULONG filter_type, filter_bytes;
	UCHAR filter[16];
	REGHANDLE handle;      /* as EventRegister() gives it */
	REGHANDLE seen_handle; /* what of it was there in the callback */
	int ends_itself;
	ULONG end_error;
	pthread_t thread;
};

static void NTAPI hear(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		       PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct heard *heard = context;

	heard->source = *source;
	heard->code = code;
	heard->level = level;
	heard->any = any;
	heard->all = all;
	heard->filter_type = filter ? filter->Type : 0;
	heard->filter_bytes = filter ? filter->Size : 0;
	if (filter && filter->Size <= sizeof(heard->filter))
		memcpy(heard->filter, (const void *)(uintptr_t)filter->Ptr, filter->Size);
	heard->seen_handle = heard->handle;
	heard->thread = pthread_self();
	if (heard->ends_itself)
		heard->end_error = EventUnregister(heard->handle);
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		__atomic_add_fetch(&heard->captures, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&heard->count, 1, __ATOMIC_RELEASE);
}

static unsigned count_of(const struct heard *heard)
{
	return __atomic_load_n(&heard->count, __ATOMIC_ACQUIRE);
}

static REGHANDLE registered(struct heard *heard)
{
	assert_int_equal(EventRegister(&provider, hear, heard, &heard->handle), ERROR_SUCCESS);
	assert_true(heard->handle != 0);
	return heard->handle;
}

static TRACEHANDLE start_file(const char *name)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	host_block_init(&block, host_path(name));
	block.properties.BufferSize = 16;
	assert_int_equal(StartTraceA(&handle, name, &block.properties), ERROR_SUCCESS);
	return handle;
}

/* With a timeout: every callback has returned when this does. */
static ULONG control(TRACEHANDLE session, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		     const ENABLE_TRACE_PARAMETERS *parameters)
{
	return EnableTraceEx2(session, &provider, code, level, any, all, 60000,
			      (PENABLE_TRACE_PARAMETERS)(uintptr_t)parameters);
}

static void enable(TRACEHANDLE session, UCHAR level, ULONGLONG any, ULONGLONG all)
{
	assert_int_equal(
		control(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, any, all, NULL),
		ERROR_SUCCESS);
}

static void disable(TRACEHANDLE session)
{
	assert_int_equal(control(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
}

/* What a file has of the provider. */
struct record {
	EVENT_HEADER header;
	GUID related;
	UCHAR data[BYTES_MAX];
	unsigned bytes;
	unsigned traits_bytes, schema_bytes;
};

static struct record records[RECORDS_MAX];
static unsigned record_count;

static void WINAPI keep(PEVENT_RECORD event)
{
	struct record *record = &records[record_count];

	if (memcmp(&event->EventHeader.ProviderId, &provider, sizeof(GUID)) != 0 ||
	    record_count == RECORDS_MAX)
		return;
	*record = (struct record){.header = event->EventHeader, .bytes = event->UserDataLength};
	assert_true(record->bytes <= BYTES_MAX);
	if (record->bytes)
		memcpy(record->data, event->UserData, record->bytes);
	for (unsigned i = 0; i < event->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &event->ExtendedData[i];

		if (item->ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID)
			memcpy(&record->related, (const void *)(uintptr_t)item->DataPtr,
			       sizeof(GUID));
		if (item->ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS)
			record->traits_bytes = item->DataSize;
		if (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)
			record->schema_bytes = item->DataSize;
	}
	record_count++;
}

/* Ends the session and reads what the provider wrote. */
static void read_file(TRACEHANDLE session, const char *name)
{
	EVENT_TRACE_LOGFILEA file = {
		.LogFileName = (LPSTR)(uintptr_t)host_path(name),
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = keep,
	};
	TRACEHANDLE handle;

	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	handle = OpenTraceA(&file);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	record_count = 0;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(file.LogfileHeader.EventsLost, 0);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/*
 * [SHEET] An event passes when its level is 0 or at most the session's, where 0 is 255; and its keyword is 0, or has a bit
 * of MatchAnyKeyword, where 0 is all, and all of MatchAllKeyword.
 */
static void rules__levels_and_keywords(void **state)
{
	static const struct {
		UCHAR level;
		ULONGLONG any, all;
	} wishes[] = {{0, 0, 0}, {3, 0, 0}, {255, 1, 0}, {3, 6, 4}, {1, 0, 5}, {5, 1ULL << 63, 0}};
	static const UCHAR levels[] = {0, 1, 3, 4, 255};
	static const ULONGLONG keywords[] = {0, 1, 2, 4, 5, 6, 1ULL << 63, UINT64_MAX};
	const TRACEHANDLE session = start_file("levels.etl");
	struct heard heard = {0};
	const REGHANDLE handle = registered(&heard);

	(void)state;
	for (size_t w = 0; w < sizeof(wishes) / sizeof(wishes[0]); w++) {
		const unsigned limit = wishes[w].level ? wishes[w].level : 255;
		const ULONGLONG any = wishes[w].any ? wishes[w].any : UINT64_MAX;

		enable(session, wishes[w].level, wishes[w].any, wishes[w].all);
		for (size_t i = 0; i < sizeof(levels) * 8; i++) {
			const EVENT_DESCRIPTOR event = {.Level = levels[i / 8],
							.Keyword = keywords[i % 8]};
			const ULONGLONG keyword = event.Keyword, all = wishes[w].all;
			const BOOLEAN passes = event.Level <= limit &&
					       (!keyword ||
						((keyword & any) && (keyword & all) == all));

			assert_int_equal(EventEnabled(handle, &event), passes);
			assert_int_equal(EventProviderEnabled(handle, event.Level, keyword),
					 passes);
		}
	}
	disable(session);
	assert_false(EventProviderEnabled(handle, 0, 0));
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

/*
 * [MSD] The callback hears each time that a session enables the provider or changes what it wants: the highest level and the
 * keywords of all sessions, and the source and filter of the call.
 */
static void rules__callbacks_hear_of_all_sessions(void **state)
{
	const TRACEHANDLE one = start_file("one.etl"), two = start_file("two.etl");
	EVENT_FILTER_DESCRIPTOR filter = {(ULONGLONG)(uintptr_t) "data", 4, 17};
	const ENABLE_TRACE_PARAMETERS parameters = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.SourceId = {0xabc, 1, 2, {3}},
		.EnableFilterDesc = &filter,
		.FilterDescCount = 1,
	};
	struct heard heard = {0};
	const REGHANDLE handle = registered(&heard);

	(void)state;
	enable(one, 3, 0x1, 0x3);
	assert_int_equal(count_of(&heard), 1);
	assert_int_equal(heard.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_memory_equal(&heard.source, &null_guid, sizeof(GUID));
	assert_int_equal(heard.filter_type, 0);
	assert_false(pthread_equal(heard.thread, pthread_self()));
	assert_int_equal(control(two, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 1, 0x4, 0x2, &parameters),
			 ERROR_SUCCESS);
	assert_int_equal(count_of(&heard), 2);
	assert_int_equal(heard.level, 3);
	assert_true(heard.any == 0x5 && heard.all == 0x2);
	assert_memory_equal(&heard.source, &parameters.SourceId, sizeof(GUID));
	assert_int_equal(heard.filter_type, 17);
	assert_int_equal(heard.filter_bytes, 4);
	assert_memory_equal(heard.filter, "data", 4);
	/* A session that changes its mind. */
	enable(one, 5, 0x8, 0);
	assert_int_equal(heard.level, 5);
	assert_true(heard.any == 0xC && heard.all == 0);
	disable(one);
	assert_int_equal(heard.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(heard.level, 1);
	assert_true(heard.any == 0x4);
	/* The end of a session is a disable. */
	assert_int_equal(host_stop(two), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&heard) == 5);
	assert_int_equal(heard.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_memory_equal(&heard.source, &null_guid, sizeof(GUID));
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	assert_int_equal(host_stop(one), ERROR_SUCCESS);
	assert_int_equal(count_of(&heard), 5);
}

/* [MSD] EnableTraceEx2: the callback of a provider that is registered later is called then. [DERIVED] Before EventRegister returns. */
static void rules__registered_as_enabled(void **state)
{
	const TRACEHANDLE session = start_file("early.etl");
	struct heard first = {0}, second = {0};

	(void)state;
	enable(session, 4, 0x10, 0);
	(void)registered(&first);
	assert_int_equal(count_of(&first), 1);
	assert_int_equal(first.level, 4);
	assert_true(first.any == 0x10);
	assert_true(first.seen_handle == first.handle);
	assert_true(EventProviderEnabled(first.handle, 4, 0x10));
	/* One GUID, several registrations, each with its own callback and context. */
	(void)registered(&second);
	assert_true(first.handle != second.handle);
	assert_int_equal(count_of(&first), 1);
	assert_int_equal(count_of(&second), 1);
	disable(session);
	assert_int_equal(count_of(&first), 2);
	assert_int_equal(count_of(&second), 2);
	assert_int_equal(EventUnregister(first.handle), ERROR_SUCCESS);
	enable(session, 1, 0, 0);
	assert_int_equal(count_of(&first), 2);
	assert_int_equal(count_of(&second), 3);
	assert_int_equal(EventUnregister(second.handle), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

/* [MSD] CAPTURE_STATE: the provider is asked to log its state. [DERIVED] Each registration, with what the call says. */
static void rules__capture_state(void **state)
{
	const TRACEHANDLE one = start_file("capture1.etl"), two = start_file("capture2.etl");
	struct heard first = {0}, second = {0};

	(void)state;
	(void)registered(&first);
	(void)registered(&second);
	enable(one, 3, 0x1, 0);
	enable(two, 5, 0x2, 0);
	assert_int_equal(control(one, EVENT_CONTROL_CODE_CAPTURE_STATE, 2, 0x20, 0x20, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(first.captures, 1);
	assert_int_equal(second.captures, 1);
	assert_int_equal(first.level, 2);
	assert_true(first.any == 0x20 && first.all == 0x20);
	assert_int_equal(control(two, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(first.captures, 2);
	/* It changes nothing of what sessions want. */
	assert_true(EventProviderEnabled(first.handle, 5, 0x2));
	assert_true(EventProviderEnabled(first.handle, 3, 0x1));
	assert_false(EventProviderEnabled(first.handle, 1, 0x20));
	assert_int_equal(EventUnregister(first.handle), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(second.handle), ERROR_SUCCESS);
	assert_int_equal(host_stop(one), ERROR_SUCCESS);
	assert_int_equal(host_stop(two), ERROR_SUCCESS);
}

/* [DERIVED] A callback may end its own registration; what else was registered goes on. */
static void rules__ended_in_the_callback(void **state)
{
	const TRACEHANDLE session = start_file("ended.etl");
	struct heard ending = {.ends_itself = 1}, staying = {0};

	(void)state;
	(void)registered(&ending);
	(void)registered(&staying);
	enable(session, 4, 0, 0);
	assert_int_equal(count_of(&ending), 1);
	assert_int_equal(ending.end_error, ERROR_SUCCESS);
	assert_int_equal(EventUnregister(ending.handle), ERROR_INVALID_HANDLE);
	assert_true(EventProviderEnabled(staying.handle, 4, 1));
	disable(session);
	assert_int_equal(count_of(&ending), 1);
	assert_int_equal(count_of(&staying), 2);
	assert_int_equal(EventUnregister(staying.handle), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static void *read_activity(void *context)
{
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, context),
			 ERROR_SUCCESS);
	return NULL;
}

/* [MSD] EventActivityIdControl's five codes; the thread's activity is in events that name none. */
static void rules__activities(void **state)
{
	const TRACEHANDLE session = start_file("activities.etl");
	const EVENT_DESCRIPTOR event = {.Id = 9, .Level = 4};
	struct heard heard = {0};
	const REGHANDLE handle = registered(&heard);
	GUID first, second, id = {1, 2, 3, {4}}, elsewhere = {5, 6, 7, {8}};
	pthread_t thread;

	(void)state;
	enable(session, 4, 0, 0);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id), ERROR_SUCCESS);
	assert_memory_equal(&id, &null_guid, sizeof(GUID)); /* [MSD] GUID_NULL if not set */
	assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &first),
			 ERROR_SUCCESS);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id), ERROR_SUCCESS);
	assert_memory_equal(&id, &null_guid, sizeof(GUID)); /* made, and not set */
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &first), ERROR_SUCCESS);
	assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
	id = first;
	id.Data4[7] ^= 0x80;
	second = id;
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id),
			 ERROR_SUCCESS);
	assert_memory_equal(&id, &first, sizeof(GUID));
	assert_int_equal(EventWriteTransfer(handle, &event, NULL, &first, 0, NULL), ERROR_SUCCESS);
	assert_int_equal(EventWriteEx(handle, &event, 0, 0, &first, &second, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(EventWriteString(handle, 4, 0, (PCWSTR)u"text"), ERROR_SUCCESS);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &id),
			 ERROR_SUCCESS);
	assert_memory_equal(&id, &second, sizeof(GUID));
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id), ERROR_SUCCESS);
	assert_memory_not_equal(&id, &second, sizeof(GUID));
	assert_memory_not_equal(&id, &null_guid, sizeof(GUID));
	/* It is the thread's. */
	assert_int_equal(pthread_create(&thread, NULL, read_activity, &elsewhere), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_memory_equal(&elsewhere, &null_guid, sizeof(GUID));
	id = null_guid;
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &id), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	read_file(session, "activities.etl");
	assert_int_equal(record_count, 5);
	assert_memory_equal(&records[0].header.ActivityId, &null_guid, sizeof(GUID));
	assert_memory_equal(&records[1].header.ActivityId, &first, sizeof(GUID));
	assert_memory_equal(&records[2].header.ActivityId, &second, sizeof(GUID));
	assert_memory_equal(&records[2].related, &first, sizeof(GUID));
	assert_memory_equal(&records[3].header.ActivityId, &first, sizeof(GUID));
	assert_memory_equal(&records[3].related, &second, sizeof(GUID));
	assert_memory_equal(&records[4].header.ActivityId, &second, sizeof(GUID));
	assert_true(records[4].header.Flags & EVENT_HEADER_FLAG_STRING_ONLY);
	assert_memory_equal(records[4].data, u"text", sizeof(u"text"));
}

/*
 * [MSD] EventProviderUseDescriptorType says whether the Type of pieces is respected, and EventProviderSetTraits says so, too.
 * [DERIVED] Without either what lies there means nothing.
 */
static void rules__types_of_pieces(void **state)
{
	static const UCHAR traits[] = {4, 0, 'P', 0};
	static const BOOLEAN yes = TRUE, no = FALSE;
	const TRACEHANDLE session = start_file("types.etl");
	const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
	EVENT_DATA_DESCRIPTOR data[2];
	struct heard heard = {0};
	const REGHANDLE handle = registered(&heard);

	(void)state;
	enable(session, 4, 0, 0);
	EventDataDescCreate(&data[0], "schema", 6);
	EventDataDescCreate(&data[1], "payload", 7);
	data[0].Reserved = 0xABCDEF99; /* of a program that does not know of types */
	assert_int_equal(EventWrite(handle, &event, 2, data), ERROR_SUCCESS);
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	assert_int_equal(EventWrite(handle, &event, 2, data), ERROR_SUCCESS);
	assert_int_equal(EventSetInformation(handle, EventProviderUseDescriptorType,
					     (PVOID)(uintptr_t)&yes, 1),
			 ERROR_SUCCESS);
	assert_int_equal(EventWrite(handle, &event, 2, data), ERROR_SUCCESS);
	assert_int_equal(EventSetInformation(handle, EventProviderUseDescriptorType,
					     (PVOID)(uintptr_t)&no, 1),
			 ERROR_SUCCESS);
	assert_int_equal(EventWrite(handle, &event, 2, data), ERROR_SUCCESS);
	assert_int_equal(EventSetInformation(handle, EventProviderSetTraits,
					     (PVOID)(uintptr_t)traits, sizeof(traits)),
			 ERROR_SUCCESS);
	assert_int_equal(EventWrite(handle, &event, 2, data), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	read_file(session, "types.etl");
	assert_int_equal(record_count, 5);
	for (unsigned i = 0; i < 5; i++) {
		const bool is_typed = i == 2 || i == 4;

		assert_int_equal(records[i].bytes, is_typed ? 7 : 13);
		assert_int_equal(records[i].schema_bytes, is_typed ? 6 : 0);
		assert_int_equal(records[i].traits_bytes, i == 4 ? sizeof(traits) : 0);
	}
	assert_memory_equal(records[0].data, "schemapayload", 13);
}

/* [MSD] At most 128 pieces, which become the payload; [DERIVED] empty ones may have any pointer. */
static void rules__pieces_become_the_payload(void **state)
{
	const TRACEHANDLE session = start_file("pieces.etl");
	const EVENT_DESCRIPTOR event = {.Id = 0xFFFE,
					.Version = 3,
					.Channel = 4,
					.Level = 2,
					.Opcode = 6,
					.Task = 0x708,
					.Keyword = 0x1122334455667788};
	EVENT_DATA_DESCRIPTOR data[MAX_EVENT_DATA_DESCRIPTORS];
	UCHAR bytes[MAX_EVENT_DATA_DESCRIPTORS];
	struct heard heard = {0};
	const REGHANDLE handle = registered(&heard);

	(void)state;
	enable(session, 0, 0, 0);
	for (unsigned i = 0; i < MAX_EVENT_DATA_DESCRIPTORS; i++) {
		bytes[i] = (UCHAR)i;
		EventDataDescCreate(&data[i], &bytes[i], 1);
	}
	assert_int_equal(EventWrite(handle, &event, MAX_EVENT_DATA_DESCRIPTORS, data),
			 ERROR_SUCCESS);
	EventDataDescCreate(&data[0], NULL, 0);
	EventDataDescCreate(&data[1], (const void *)(uintptr_t)UINTPTR_MAX, 0);
	assert_int_equal(EventWrite(handle, &event, 3, data), ERROR_SUCCESS);
	assert_int_equal(EventWrite(handle, &event, 0, data), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	read_file(session, "pieces.etl");
	assert_int_equal(record_count, 3);
	assert_int_equal(records[0].bytes, MAX_EVENT_DATA_DESCRIPTORS);
	assert_memory_equal(records[0].data, bytes, sizeof(bytes));
	assert_memory_equal(&records[0].header.EventDescriptor, &event, sizeof(event));
	assert_int_equal(records[1].bytes, 1);
	assert_int_equal(records[1].data[0], 2);
	assert_int_equal(records[2].bytes, 0);
}

/* [SDK] EVENT_WRITE_FLAG_INPRIVATE: not for sessions that exclude such events; NO_FAULTING changes nothing in user mode. */
static void rules__flags_of_writes(void **state)
{
	const ENABLE_TRACE_PARAMETERS without = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE,
	};
	const TRACEHANDLE all = start_file("all.etl"), some = start_file("some.etl");
	struct heard heard = {0};
	const REGHANDLE handle = registered(&heard);
	EVENT_DESCRIPTOR event = {.Level = 4};

	(void)state;
	enable(all, 4, 0, 0);
	assert_int_equal(control(some, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, &without),
			 ERROR_SUCCESS);
	for (ULONG flags = 0; flags < 4; flags++) {
		event.Id = (USHORT)flags;
		assert_int_equal(EventWriteEx(handle, &event, 0, flags, NULL, NULL, 0, NULL),
				 ERROR_SUCCESS);
	}
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	read_file(some, "some.etl");
	assert_int_equal(record_count, 2);
	assert_int_equal(records[0].header.EventDescriptor.Id, 0);
	assert_int_equal(records[1].header.EventDescriptor.Id, EVENT_WRITE_FLAG_NO_FAULTING);
	read_file(all, "all.etl");
	assert_int_equal(record_count, 4);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules__levels_and_keywords),
		cmocka_unit_test(rules__callbacks_hear_of_all_sessions),
		cmocka_unit_test(rules__registered_as_enabled),
		cmocka_unit_test(rules__capture_state),
		cmocka_unit_test(rules__ended_in_the_callback),
		cmocka_unit_test(rules__activities),
		cmocka_unit_test(rules__types_of_pieces),
		cmocka_unit_test(rules__pieces_become_the_payload),
		cmocka_unit_test(rules__flags_of_writes),
	};

	return cmocka_run_group_tests_name("rules of evntprov.h", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
