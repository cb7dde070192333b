/* SPDX-License-Identifier: MIT */
/*
 * Classic providers in sessions of a real host, $ETW_ETWD: RegisterTraceGuids, control callbacks, TraceEvent,
 * TraceEventInstance and TraceMessage, read back from the session's file. Their errors are in test_classic_errors.c, and
 * sizes in test_classic_sizes.c.
 * Sources: [MSD] Microsoft's page of the function, [SDK] evntrace.h and wmistr.h, [DERIVED] what follows from them where
 * the page says nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "host.h"
#include "waiting.h"

#define LIMIT_S     1500
#define NO_LOGGER   ((TRACEHANDLE)(ULONG_PTR)INVALID_HANDLE_VALUE)
#define RECORDS_MAX 64
#define BYTES_MAX   512
#define PLAIN_TYPE  10

static const GUID control = {0x7c1f0a01, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID other_control = {0x7c1f0a02, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID class = {0x7c1f0b01, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID parent_class = {0x7c1f0b02, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};

/* What the control callback heard last. */
struct heard {
	unsigned count; /* atomic: all else is written before it */
	WMIDPREQUESTCODE code;
	ULONG bytes;
	WNODE_HEADER node;
	TRACEHANDLE handle;
	UCHAR level;
	ULONG flags;
	DWORD errors;
};

static ULONG WINAPI hear(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	struct heard *heard = context;

	heard->code = code;
	heard->bytes = *bytes;
	heard->node = *(WNODE_HEADER *)buffer;
	SetLastError(ERROR_SUCCESS);
	heard->handle = GetTraceLoggerHandle(buffer);
	heard->level = GetTraceEnableLevel(heard->handle);
	heard->flags = GetTraceEnableFlags(heard->handle);
	heard->errors = GetLastError();
	*bytes = 0;
	__atomic_add_fetch(&heard->count, 1, __ATOMIC_RELEASE);
	return ERROR_SUCCESS;
}

static unsigned count_of(const struct heard *heard)
{
	return __atomic_load_n(&heard->count, __ATOMIC_ACQUIRE);
}

static TRACEHANDLE start_file(const char *name, ULONG mode)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	host_block_init(&block, host_path(name));
	block.properties.LogFileMode |= mode;
	block.properties.BufferSize = 16;
	assert_int_equal(StartTraceA(&handle, name, &block.properties), ERROR_SUCCESS);
	return handle;
}

/* What a file has of one kind of record. */
struct record {
	EVENT_HEADER header;
	uint8_t data[BYTES_MAX];
	unsigned bytes;
	EVENT_EXTENDED_ITEM_INSTANCE instance;
};

static struct record records[RECORDS_MAX];
static unsigned record_count;
static ULONG lost_events;

static void WINAPI keep(PEVENT_RECORD event)
{
	const EVENT_HEADER *header = &event->EventHeader;
	struct record *record = &records[record_count];

	if (header->ProcessId != (ULONG)getpid() || record_count == RECORDS_MAX)
		return;
	/* The file's own header, which this process is said to have written. */
	if (memcmp(&header->ProviderId, &EventTraceGuid, sizeof(GUID)) == 0 &&
	    header->EventDescriptor.Opcode != PLAIN_TYPE)
		return;
	*record = (struct record){.header = event->EventHeader, .bytes = event->UserDataLength};
	assert_true(record->bytes <= BYTES_MAX);
	if (record->bytes)
		memcpy(record->data, event->UserData, record->bytes);
	for (unsigned i = 0; i < event->ExtendedDataCount; i++) {
		if (event->ExtendedData[i].ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO)
			memcpy(&record->instance,
			       (const void *)(uintptr_t)event->ExtendedData[i].DataPtr,
			       sizeof(record->instance));
	}
	record_count++;
}

/* Reads what this process wrote there. */
static void read_file(const char *name)
{
	EVENT_TRACE_LOGFILEA file = {
		.LogFileName = (LPSTR)(uintptr_t)host_path(name),
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = keep,
	};
	TRACEHANDLE handle = OpenTraceA(&file);

	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	record_count = 0;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	lost_events = file.LogfileHeader.EventsLost;
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

struct plain_event {
	EVENT_TRACE_HEADER header;
	ULONG number;
	char text[6];
};

static struct plain_event plain_event(ULONG number)
{
	const struct plain_event event = {
		.header.Size = offsetof(struct plain_event, text) + 6,
		.header.Class = {.Type = PLAIN_TYPE, .Level = 4, .Version = 2},
		.header.Guid = class,
		.header.Flags = WNODE_FLAG_TRACED_GUID,
		.number = number,
		.text = "hello",
	};

	return event;
}

static void test_classic__end_to_end(void **state)
{
	TRACE_GUID_REGISTRATION classes[] = {{&class, NULL}, {&parent_class, NULL}};
	const TRACEHANDLE session = start_file("classic.etl", 0);
	struct heard heard = {0};
	struct plain_event event = plain_event(7), by_fields = plain_event(0);
	struct {
		EVENT_TRACE_HEADER header;
		MOF_FIELD fields[2];
	} mof = {.header = event.header};
	TRACEHANDLE provider = 0, logger;

	(void)state;
	assert_int_equal(
		RegisterTraceGuidsA(hear, &heard, &control, 2, classes, NULL, NULL, &provider),
		ERROR_SUCCESS);
	assert_true(provider != 0 && classes[0].RegHandle && classes[1].RegHandle);
	assert_true(classes[0].RegHandle != classes[1].RegHandle);
	assert_int_equal(EnableTrace(TRUE, 0x80000011, 5, &control, session), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&heard) == 1);
	assert_int_equal(heard.code, WMI_ENABLE_EVENTS);
	/* [SDK] The buffer is a WNODE_HEADER, whose size the provider gets. */
	assert_int_equal(heard.bytes, sizeof(WNODE_HEADER));
	assert_int_equal(heard.node.BufferSize, sizeof(WNODE_HEADER));
	assert_true(heard.node.Flags & WNODE_FLAG_TRACED_GUID);
	assert_memory_equal(&heard.node.Guid, &control, sizeof(control));
	/* [MSD] GetTraceLoggerHandle: HistoricalContext is the session's handle. */
	assert_true(heard.handle == heard.node.HistoricalContext);
	assert_int_equal(heard.level, 5);
	assert_true(heard.flags == 0x80000011);
	assert_int_equal(heard.errors, ERROR_SUCCESS);
	logger = heard.handle;

	assert_int_equal(TraceEvent(logger, &event.header), ERROR_SUCCESS);
	by_fields.header.Class.Type = 11;
	mof.header = by_fields.header;
	mof.header.Size = sizeof(mof);
	mof.header.Flags |= WNODE_FLAG_USE_MOF_PTR | WNODE_FLAG_USE_GUID_PTR;
	mof.header.GuidPtr = (ULONGLONG)(uintptr_t)&parent_class;
	DEFINE_TRACE_MOF_FIELD(&mof.fields[0], event.text, 6, 0);
	DEFINE_TRACE_MOF_FIELD(&mof.fields[1], &event.number, 4, 0);
	assert_int_equal(TraceEvent(logger, &mof.header), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(FALSE, 0, 0, &control, session), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&heard) == 2);
	assert_int_equal(heard.code, WMI_DISABLE_EVENTS);
	assert_true(heard.handle == logger);
	/* [DERIVED] The session is none of the provider's any more. */
	assert_int_equal(TraceEvent(logger, &event.header), ERROR_INVALID_HANDLE);
	assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
	assert_int_equal(UnregisterTraceGuids(provider), ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);

	read_file("classic.etl");
	assert_int_equal(record_count, 2);
	assert_int_equal(lost_events, 0);
	assert_true(records[0].header.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER);
	assert_memory_equal(&records[0].header.ProviderId, &class, sizeof(class));
	assert_int_equal(records[0].header.EventDescriptor.Opcode, PLAIN_TYPE);
	assert_int_equal(records[0].header.EventDescriptor.Level, 4);
	assert_int_equal(records[0].header.EventDescriptor.Version, 2);
	assert_int_equal(records[0].bytes, 10);
	assert_memory_equal(records[0].data, "\7\0\0\0hello", 10);
	assert_memory_equal(&records[1].header.ProviderId, &parent_class, sizeof(class));
	assert_int_equal(records[1].header.EventDescriptor.Opcode, 11);
	assert_memory_equal(records[1].data, "hello\0\7\0\0\0", 10);
}

/* Of a provider that one session has. */
struct enabled {
	TRACE_GUID_REGISTRATION classes[2];
	struct heard heard;
	TRACEHANDLE session, provider, logger;
	const char *name;
};

static void enable(struct enabled *enabled, const char *name, ULONG mode)
{
	*enabled = (struct enabled){.classes = {{&class, NULL}, {&parent_class, NULL}},
				    .session = start_file(name, mode),
				    .name = name};
	assert_int_equal(RegisterTraceGuidsA(hear, &enabled->heard, &control, 2, enabled->classes,
					     NULL, NULL, &enabled->provider),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 1, 5, &control, enabled->session), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&enabled->heard) == 1);
	enabled->logger = enabled->heard.handle;
}

static void end(struct enabled *enabled)
{
	assert_int_equal(UnregisterTraceGuids(enabled->provider), ERROR_SUCCESS);
	assert_int_equal(host_stop(enabled->session), ERROR_SUCCESS);
	read_file(enabled->name);
}

static void test_classic__instances(void **state)
{
	struct {
		EVENT_INSTANCE_HEADER header;
		ULONG number;
	} event = {.number = 99};
	EVENT_INSTANCE_INFO own, parent;
	struct enabled enabled;

	(void)state;
	enable(&enabled, "instances.etl", 0);
	assert_int_equal(CreateTraceInstanceId(enabled.classes[0].RegHandle, &own), ERROR_SUCCESS);
	assert_int_equal(own.InstanceId, 1);
	assert_int_equal(CreateTraceInstanceId(enabled.classes[0].RegHandle, &own), ERROR_SUCCESS);
	assert_int_equal(own.InstanceId, 2);
	assert_ptr_equal(own.RegHandle, enabled.classes[0].RegHandle);
	assert_int_equal(CreateTraceInstanceId(enabled.classes[1].RegHandle, &parent),
			 ERROR_SUCCESS);
	assert_int_equal(parent.InstanceId, 1);
	event.header.Size = sizeof(event.header) + 4;
	event.header.Class.Type = 1;
	event.header.Flags = WNODE_FLAG_TRACED_GUID;
	assert_int_equal(TraceEventInstance(enabled.logger, &event.header, &own, &parent),
			 ERROR_SUCCESS);
	assert_int_equal(TraceEventInstance(enabled.logger, &event.header, &own, NULL),
			 ERROR_SUCCESS);
	end(&enabled);
	/* The handles of classes end with the registration. */
	assert_int_equal(CreateTraceInstanceId(enabled.classes[0].RegHandle, &own),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(record_count, 2);
	assert_memory_equal(&records[0].header.ProviderId, &class, sizeof(class));
	assert_int_equal(records[0].instance.InstanceId, 2);
	assert_int_equal(records[0].instance.ParentInstanceId, 1);
	assert_memory_equal(&records[0].instance.ParentGuid, &parent_class, sizeof(parent_class));
	assert_int_equal(records[0].bytes, 4);
	assert_memory_equal(records[0].data, &event.number, 4);
	assert_int_equal(records[1].instance.ParentInstanceId, 0);
}

/* Not USHORT: a type that grows when it is handed over cannot stand before the other arguments. */
static ULONG write_list(TRACEHANDLE logger, int number, ...)
{
	va_list arguments;
	ULONG error;

	va_start(arguments, number);
	error = TraceMessageVa(logger, 0, NULL, (USHORT)number, arguments);
	va_end(arguments);
	return error;
}

static void write_messages(TRACEHANDLE logger)
{
	const GUID component = {.Data1 = 0x4711};
	const ULONG number = 5;

	assert_int_equal(TraceMessage(logger,
				      TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID |
					      TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO,
				      &class, 12, &number, sizeof(number), "abc", (size_t)4, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(TraceMessage(logger,
				      TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_COMPONENTID |
					      TRACE_MESSAGE_PERFORMANCE_TIMESTAMP |
					      TRACE_MESSAGE_POINTER32,
				      &component, 13, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(write_list(logger, 14, "x", (size_t)1, NULL), ERROR_SUCCESS);
}

static void check_messages(unsigned first, unsigned second)
{
	assert_int_equal(record_count, 3);
	assert_true(records[0].header.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE);
	assert_true(records[0].header.Flags & EVENT_HEADER_FLAG_64_BIT_HEADER);
	assert_memory_equal(&records[0].header.ProviderId, &class, sizeof(class));
	assert_int_equal(records[0].header.EventDescriptor.Id, 12);
	assert_int_equal(records[0].header.ProcessId, getpid());
	assert_int_equal(records[0].header.ThreadId, gettid());
	assert_int_equal(records[0].bytes, 8);
	assert_memory_equal(records[0].data, "\5\0\0\0abc", 8);
	assert_int_equal(records[0].instance.InstanceId, first);
	assert_true(records[1].header.ProviderId.Data1 == 0x4711);
	assert_true(records[1].header.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER);
	assert_int_equal(records[1].bytes, 0);
	assert_int_equal(records[1].instance.InstanceId, second);
	assert_true(records[1].header.TimeStamp.QuadPart >= records[0].header.TimeStamp.QuadPart);
	assert_int_equal(records[2].header.EventDescriptor.Id, 14);
	assert_int_equal(records[2].bytes, 1);
	assert_int_equal(records[2].data[0], 'x');
}

static void test_classic__messages(void **state)
{
	struct enabled enabled;

	(void)state;
	enable(&enabled, "messages.etl", 0);
	write_messages(enabled.logger);
	end(&enabled);
	check_messages(0, 0);
	/* [MSD] TraceMessage: numbers start at one, where the session has one of the two modes. */
	enable(&enabled, "local.etl",
	       EVENT_TRACE_USE_LOCAL_SEQUENCE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	write_messages(enabled.logger);
	end(&enabled);
	check_messages(1, 2);
	enable(&enabled, "global.etl",
	       EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	write_messages(enabled.logger);
	end(&enabled);
	check_messages(1, 2);
	enable(&enabled, "global2.etl",
	       EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	write_messages(enabled.logger);
	end(&enabled);
	check_messages(3, 4);
}

/* [MSD] EnableTrace: one session has a classic provider, the last that enabled it. */
static void test_classic__last_session_takes_over(void **state)
{
	struct plain_event event = plain_event(1);
	struct enabled enabled;
	TRACEHANDLE second, taken;

	(void)state;
	enable(&enabled, "before.etl", 0);
	second = start_file("after.etl", 0);
	assert_int_equal(TraceEvent(enabled.logger, &event.header), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 2, 3, &control, second), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&enabled.heard) == 2);
	assert_int_equal(enabled.heard.code, WMI_ENABLE_EVENTS);
	assert_int_equal(enabled.heard.level, 3);
	assert_int_equal(enabled.heard.flags, 2);
	taken = enabled.heard.handle;
	assert_true(taken != enabled.logger);
	assert_int_equal(TraceEvent(taken, &event.header), ERROR_SUCCESS);
	assert_int_equal(TraceEvent(taken, &event.header), ERROR_SUCCESS);
	assert_int_equal(host_stop(second), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&enabled.heard) == 3);
	assert_int_equal(enabled.heard.code, WMI_DISABLE_EVENTS);
	end(&enabled);
	assert_int_equal(record_count, 1);
	read_file("after.etl");
	assert_int_equal(record_count, 2);
}

/* [DERIVED] the same where one of them is a private session of the process, and the other one the host's. */
static void test_classic__private_session_takes_over(void **state)
{
	struct plain_event event = plain_event(1);
	struct enabled enabled;
	TRACEHANDLE own, taken;

	(void)state;
	enable(&enabled, "ordinary.etl", 0);
	own = start_file("private.etl",
			 EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC);
	assert_int_equal(TraceEvent(enabled.logger, &event.header), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 2, 3, &control, own), ERROR_SUCCESS);
	assert_int_equal(count_of(&enabled.heard), 2); /* before EnableTrace() returned */
	assert_int_equal(enabled.heard.code, WMI_ENABLE_EVENTS);
	assert_int_equal(enabled.heard.level, 3);
	assert_int_equal(enabled.heard.flags, 2);
	taken = enabled.heard.handle;
	assert_true(taken != enabled.logger);
	assert_int_equal(TraceEvent(taken, &event.header), ERROR_SUCCESS);
	assert_int_equal(TraceEvent(taken, &event.header), ERROR_SUCCESS);
	/* And back: the private session hears nothing of the provider any more. */
	assert_int_equal(EnableTrace(TRUE, 4, 5, &control, enabled.session), ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&enabled.heard) == 3);
	assert_int_equal(enabled.heard.flags, 4);
	assert_int_equal(TraceEvent(enabled.heard.handle, &event.header), ERROR_SUCCESS);
	assert_int_equal(host_stop(own), ERROR_SUCCESS);
	assert_int_equal(count_of(&enabled.heard),
			 3); /* it was not the provider's session any more */
	end(&enabled);
	assert_int_equal(record_count, 2);
	read_file("private.etl");
	assert_int_equal(record_count, 2);
}

/* A provider may also have been enabled before anybody registers it. */
static void test_classic__enabled_before(void **state)
{
	const TRACEHANDLE session = start_file("early.etl", 0);
	struct heard heard = {0};
	TRACEHANDLE provider;

	(void)state;
	assert_int_equal(EnableTrace(TRUE, 0, 0, &other_control, session), ERROR_SUCCESS);
	assert_int_equal(
		RegisterTraceGuidsW(hear, &heard, &other_control, 0, NULL, NULL, NULL, &provider),
		ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&heard) == 1);
	/* [MSD] GetTraceEnableFlags: 0 with ERROR_SUCCESS is what the controller asked for. */
	assert_int_equal(heard.flags, 0);
	assert_int_equal(heard.level, 0);
	assert_int_equal(heard.errors, ERROR_SUCCESS);
	assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static void test_classic__refusals_of_handles(void **state)
{
	WNODE_HEADER node = {.BufferSize = sizeof(node), .HistoricalContext = 0x700040003};

	(void)state;
	SetLastError(ERROR_SUCCESS);
	assert_true(GetTraceLoggerHandle(&node) == 0 || GetLastError() != ERROR_SUCCESS);
	node.Flags = WNODE_FLAG_TRACED_GUID;
	assert_true(GetTraceLoggerHandle(&node) == 0x700040003);
	assert_int_equal(GetTraceEnableLevel(0x700040003), 4);
	assert_int_equal(GetTraceEnableFlags(0x700040003), 7);
	node.BufferSize--;
	assert_true(GetTraceLoggerHandle(&node) == NO_LOGGER);
	assert_int_equal(GetLastError(), ERROR_BAD_LENGTH);
	assert_true(GetTraceLoggerHandle(NULL) == NO_LOGGER);
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	SetLastError(ERROR_SUCCESS);
	assert_int_equal(GetTraceEnableLevel(0), 0);
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	SetLastError(ERROR_SUCCESS);
	assert_int_equal(GetTraceEnableFlags(NO_LOGGER), 0);
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
}

/*
 * [DERIVED] WMI_CAPTURE_STATE is one of the codes of wmistr.h; callbacks of programs made with WPP take it like the others.
 * The provider stays the session's.
 */
static void test_classic__captures_state(void **state)
{
	struct plain_event event = plain_event(1);
	struct enabled enabled;

	(void)state;
	enable(&enabled, "captured.etl", 0);
	assert_int_equal(EnableTraceEx2(enabled.session, &control, EVENT_CONTROL_CODE_CAPTURE_STATE,
					0, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
	WAIT_UNTIL(count_of(&enabled.heard) == 2);
	assert_int_equal(enabled.heard.code, WMI_CAPTURE_STATE);
	assert_int_equal(enabled.heard.bytes, sizeof(WNODE_HEADER));
	assert_true(enabled.heard.handle == enabled.logger);
	assert_int_equal(enabled.heard.errors, ERROR_SUCCESS);
	assert_int_equal(TraceEvent(enabled.logger, &event.header), ERROR_SUCCESS);
	/* [DERIVED] No page says that a callback hears of UnregisterTraceGuids(). */
	end(&enabled);
	assert_int_equal(count_of(&enabled.heard), 2);
	assert_int_equal(record_count, 1);
}

static ULONG WINAPI refuse(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)bytes;
	if (code == WMI_ENABLE_EVENTS)
		*(TRACEHANDLE *)context = GetTraceLoggerHandle(buffer);
	return ERROR_NOT_READY;
}

/* [MSD] RegisterTraceGuids returns what the callback does, of a provider that was enabled before; it is registered. */
static void test_classic__returns_what_the_callback_does(void **state)
{
	const TRACEHANDLE session = start_file("refused.etl", 0);
	struct plain_event event = plain_event(1);
	TRACEHANDLE provider = 0, logger = 0;
	ULONG error = ERROR_SUCCESS;

	(void)state;
	assert_int_equal(RegisterTraceGuidsA(refuse, &logger, &other_control, 0, NULL, NULL, NULL,
					     &provider),
			 ERROR_SUCCESS);
	assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 0, 0, &other_control, session), ERROR_SUCCESS);
	/* A host that is slow to answer is not waited for. */
	for (unsigned i = 0; i < 1000 && !error; i++) {
		error = RegisterTraceGuidsA(refuse, &logger, &other_control, 0, NULL, NULL, NULL,
					    &provider);
		if (!error)
			assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
	}
	assert_int_equal(error, ERROR_NOT_READY);
	assert_int_equal(TraceEvent(logger, &event.header), ERROR_SUCCESS);
	assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	read_file("refused.etl");
	assert_int_equal(record_count, 1);
}

/* [DERIVED] The handle of a classic provider is none for the functions of others, enabled or not. */
static void test_classic__handles_are_not_for_others(void **state)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1};
	static const WCHAR text[] = {'x', 0};
	UCHAR traits[] = {4, 0, 'x', 0};
	struct enabled enabled;
	TRACEHANDLE idle = 0;

	(void)state;
	assert_int_equal(
		RegisterTraceGuidsA(refuse, &idle, &other_control, 0, NULL, NULL, NULL, &idle),
		ERROR_SUCCESS);
	assert_int_equal(EventWrite(idle, &descriptor, 0, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(UnregisterTraceGuids(idle), ERROR_SUCCESS);
	enable(&enabled, "others.etl", 0);
	assert_int_equal(EventWrite(enabled.provider, &descriptor, 0, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(EventWriteTransfer(enabled.provider, &descriptor, NULL, NULL, 0, NULL),
			 ERROR_INVALID_HANDLE);
	assert_int_equal(EventWriteString(enabled.provider, 0, 0, text), ERROR_INVALID_HANDLE);
	assert_int_equal(EventSetInformation(enabled.provider, EventProviderSetTraits, traits,
					     sizeof(traits)),
			 ERROR_INVALID_PARAMETER);
	assert_false(EventProviderEnabled(enabled.provider, 0, 0));
	assert_int_equal(EventUnregister(enabled.provider), ERROR_INVALID_HANDLE);
	end(&enabled);
	assert_int_equal(record_count, 0);
}

/* Classes that are the kernel's are no program's: the host refuses and counts them. */
static void test_classic__kernel_classes_are_refused(void **state)
{
	struct plain_event event = plain_event(1);
	struct enabled enabled;

	(void)state;
	enable(&enabled, "kernel.etl", 0);
	event.header.Guid = EventTraceGuid;
	assert_int_equal(TraceEvent(enabled.logger, &event.header), ERROR_SUCCESS);
	end(&enabled);
	assert_int_equal(record_count, 0);
	assert_int_equal(lost_events, 1);
}

/* A child writes on in its own name, as with EventWrite. */
static void test_classic__forked_child_writes(void **state)
{
	struct plain_event event = plain_event(1);
	struct enabled enabled;
	int status;
	pid_t child;

	(void)state;
	enable(&enabled, "forked.etl", 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(TraceEvent(enabled.logger, &event.header) == ERROR_SUCCESS &&
				      TraceMessage(enabled.logger, 0, NULL, 1, NULL) ==
					      ERROR_SUCCESS
			      ? 0
			      : 1);
	assert_true(waitpid(child, &status, 0) == child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(TraceEvent(enabled.logger, &event.header), ERROR_SUCCESS);
	end(&enabled);
	assert_int_equal(record_count, 1);
	assert_int_equal(lost_events, 0);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic__refusals_of_handles),
		cmocka_unit_test(test_classic__end_to_end),
		cmocka_unit_test(test_classic__instances),
		cmocka_unit_test(test_classic__messages),
		cmocka_unit_test(test_classic__last_session_takes_over),
		cmocka_unit_test(test_classic__private_session_takes_over),
		cmocka_unit_test(test_classic__enabled_before),
		cmocka_unit_test(test_classic__captures_state),
		cmocka_unit_test(test_classic__returns_what_the_callback_does),
		cmocka_unit_test(test_classic__handles_are_not_for_others),
		cmocka_unit_test(test_classic__kernel_classes_are_refused),
		cmocka_unit_test(test_classic__forked_child_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
