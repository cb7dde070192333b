/* SPDX-License-Identifier: MIT */
/*
 * Every pair of a function of classic providers and an error that Microsoft documents for it (documented_errors.tsv), and
 * every cause that the page names. One thing is out of order in each row.
 *
 * Sources: [MSD] the function's page at Microsoft, with the words of the cause; [DERIVED] no page says it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "conformance/evntrace/host.h"
#include "conformance/evntrace/rows.h"
#include "conformance/evntrace/waiting.h"

#define LIMIT_S    1500
#define KERNEL_ID  0xFFFF
#define BUFFER_KIB 16

static const GUID control = {0x7c1f0a11, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID other = {0x7c1f0a12, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID class = {0x7c1f0b11, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};

/* What most rows are about: a provider of one class that a session has enabled, all the time. */
static TRACE_GUID_REGISTRATION classes[] = {{&class, NULL}};
static TRACEHANDLE provider, logger, session, second_session;
static uint8_t large[70000];

static ULONG WINAPI hear(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)bytes;
	if (code == WMI_ENABLE_EVENTS)
		__atomic_store_n((TRACEHANDLE *)context, GetTraceLoggerHandle(buffer),
				 __ATOMIC_RELEASE);
	return ERROR_SUCCESS;
}

/* ---- Registering ---- */

static ULONG register_as(WMIDPREQUEST callback, const GUID *guid, ULONG count,
			 TRACE_GUID_REGISTRATION *of, TRACEHANDLE *ret)
{
	TRACEHANDLE heard = 0;

	return RegisterTraceGuidsA(callback, &heard, guid, count, of, NULL, NULL, ret);
}

static ULONG register_no_callback(void)
{
	TRACEHANDLE handle;

	return register_as(NULL, &other, 0, NULL, &handle);
}

static ULONG register_no_guid(void)
{
	TRACEHANDLE handle;

	return register_as(hear, NULL, 0, NULL, &handle);
}

static ULONG register_no_handle(void)
{
	return register_as(hear, &other, 0, NULL, NULL);
}

static ULONG register_missing_classes(void)
{
	TRACEHANDLE handle;

	return register_as(hear, &other, 1, NULL, &handle);
}

static ULONG register_class_without_guid(void)
{
	TRACE_GUID_REGISTRATION nothing = {NULL, NULL};
	TRACEHANDLE handle;

	return register_as(hear, &other, 1, &nothing, &handle);
}

static ULONG register_the_kernel(void)
{
	TRACEHANDLE handle;

	return register_as(hear, &SystemTraceControlGuid, 0, NULL, &handle);
}

static ULONG unregister_nothing(void)
{
	return UnregisterTraceGuids(0);
}

static ULONG unregister_a_number(void)
{
	return UnregisterTraceGuids(0x1234);
}

static ULONG unregister_twice(void)
{
	TRACEHANDLE handle = 0;

	if (register_as(hear, &other, 0, NULL, &handle) || UnregisterTraceGuids(handle))
		return ERROR_GEN_FAILURE;
	return UnregisterTraceGuids(handle);
}

static ULONG unregister_a_modern_one(void)
{
	REGHANDLE handle;
	ULONG error;

	if (EventRegister(&other, NULL, NULL, &handle))
		return ERROR_GEN_FAILURE;
	error = UnregisterTraceGuids(handle);
	return EventUnregister(handle) ? ERROR_GEN_FAILURE : error;
}

static ULONG create_for_no_class(void)
{
	EVENT_INSTANCE_INFO info;

	return CreateTraceInstanceId(NULL, &info);
}

static ULONG create_into_nothing(void)
{
	return CreateTraceInstanceId(classes[0].RegHandle, NULL);
}

static ULONG create_for_a_wrong_class(void)
{
	EVENT_INSTANCE_INFO info;

	return CreateTraceInstanceId((HANDLE)(uintptr_t)0xFFFFFFFFFFFF, &info);
}

/* ---- TraceEvent ---- */

struct event {
	EVENT_TRACE_HEADER header;
	MOF_FIELD fields[MAX_MOF_FIELDS + 1];
};

/* With @count fields of 4 bytes. */
static struct event event_of(unsigned count)
{
	struct event event = {
		.header.Size = (USHORT)(sizeof(EVENT_TRACE_HEADER) + count * sizeof(MOF_FIELD)),
		.header.Class = {.Type = 10, .Level = 4},
		.header.Guid = class,
		.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR,
	};

	for (unsigned i = 0; i < count; i++) {
		DEFINE_TRACE_MOF_FIELD(&event.fields[i], large, 4, 0);
	}
	return event;
}

static ULONG write_to(TRACEHANDLE handle)
{
	struct event event = event_of(1);

	return TraceEvent(handle, &event.header);
}

static ULONG write_field(const void *at, ULONG bytes)
{
	struct event event = event_of(1);

	DEFINE_TRACE_MOF_FIELD(&event.fields[0], at, bytes, 0);
	return TraceEvent(logger, &event.header);
}

static ULONG write_without_flag(void)
{
	struct event event = event_of(1);

	event.header.Flags &= ~(ULONG)WNODE_FLAG_TRACED_GUID;
	return TraceEvent(logger, &event.header);
}

static ULONG write_to_a_number(void)
{
	return write_to(0x4321);
}

static ULONG write_to_the_kernel(void)
{
	return write_to(KERNEL_ID);
}

static ULONG write_to_another_session(void)
{
	return write_to(second_session);
}

/* Repeats @write until it fails: nobody empties buffers as fast as they are filled. */
static ULONG repeat(ULONG (*write)(void))
{
	const time_t begin = wait_seconds();
	ULONG error = ERROR_SUCCESS;

	while (!error && wait_seconds() - begin < WAIT_SECONDS)
		error = write();
	return error;
}

static ULONG write_much(void)
{
	return write_field(large, BUFFER_KIB * 1024 / 2);
}

static ULONG write_without_end(void)
{
	return repeat(write_much);
}

static ULONG write_plain(void)
{
	return write_to(logger);
}

static ULONG write_to_nothing(void)
{
	return write_to(0);
}

static ULONG write_nothing(void)
{
	return TraceEvent(logger, NULL);
}

static ULONG write_of_size(USHORT size)
{
	struct event event = event_of(1);

	event.header.Size = size;
	return TraceEvent(logger, &event.header);
}

static ULONG write_a_small_one(void)
{
	return write_of_size(sizeof(EVENT_TRACE_HEADER) - 1);
}

static ULONG write_with_half_a_field(void)
{
	return write_of_size(sizeof(EVENT_TRACE_HEADER) + sizeof(MOF_FIELD) / 2);
}

static ULONG write_with_17_fields(void)
{
	struct event event = event_of(MAX_MOF_FIELDS + 1);

	return TraceEvent(logger, &event.header);
}

static ULONG write_with_a_field_of_nothing(void)
{
	return write_field(NULL, 8);
}

/* As a member of a structure that is not there. */
static ULONG write_with_a_field_near_nothing(void)
{
	return write_field((const void *)(uintptr_t)0x40, 8);
}

static ULONG write_with_a_class_near_nothing(void)
{
	struct event event = event_of(1);

	event.header.Flags |= WNODE_FLAG_USE_GUID_PTR;
	event.header.GuidPtr = 0x40;
	return TraceEvent(logger, &event.header);
}

static ULONG write_with_no_class(void)
{
	struct event event = event_of(1);

	event.header.Flags |= WNODE_FLAG_USE_GUID_PTR;
	event.header.GuidPtr = 0;
	return TraceEvent(logger, &event.header);
}

static ULONG write_more_than_a_buffer(void)
{
	return write_field(large, 60000);
}

static ULONG write_more_than_an_event(void)
{
	return write_field(large, sizeof(large));
}

/* ---- TraceEventInstance ---- */

struct instance_event {
	EVENT_INSTANCE_HEADER header;
	uint8_t payload[BUFFER_KIB * 2048];
};

static ULONG instance_of(const EVENT_INSTANCE_INFO *info, const EVENT_INSTANCE_INFO *parent)
{
	struct instance_event event = {.header.Size = sizeof(event.header) + 4,
				       .header.Flags = WNODE_FLAG_TRACED_GUID};

	return TraceEventInstance(logger, &event.header, (PEVENT_INSTANCE_INFO)(uintptr_t)info,
				  (PEVENT_INSTANCE_INFO)(uintptr_t)parent);
}

static EVENT_INSTANCE_INFO own_instance(void)
{
	EVENT_INSTANCE_INFO info = {0};

	(void)CreateTraceInstanceId(classes[0].RegHandle, &info);
	return info;
}

static ULONG instance_to(TRACEHANDLE handle, ULONG flags, size_t bytes)
{
	struct instance_event event = {.header.Size = (USHORT)bytes, .header.Flags = flags};
	EVENT_INSTANCE_INFO info = own_instance();

	return TraceEventInstance(handle, &event.header, &info, NULL);
}

static ULONG instance_without_flag(void)
{
	return instance_to(logger, 0, sizeof(EVENT_INSTANCE_HEADER));
}

static ULONG instance_plain(void)
{
	return instance_to(logger, WNODE_FLAG_TRACED_GUID, sizeof(EVENT_INSTANCE_HEADER) + 4);
}

static ULONG instance_nothing(void)
{
	EVENT_INSTANCE_INFO info = own_instance();

	return TraceEventInstance(logger, NULL, &info, NULL);
}

static ULONG instance_of_none(void)
{
	return instance_of(NULL, NULL);
}

static ULONG instance_of_no_class(void)
{
	return instance_of(&(EVENT_INSTANCE_INFO){.InstanceId = 1}, NULL);
}

static ULONG instance_zero(void)
{
	return instance_of(&(EVENT_INSTANCE_INFO){.RegHandle = classes[0].RegHandle}, NULL);
}

static ULONG instance_of_a_wrong_parent(void)
{
	const EVENT_INSTANCE_INFO info = own_instance();

	return instance_of(&info, &(EVENT_INSTANCE_INFO){(HANDLE)(uintptr_t)0x1234567, 1});
}

static ULONG instance_to_nothing(void)
{
	return instance_to(0, WNODE_FLAG_TRACED_GUID, sizeof(EVENT_INSTANCE_HEADER));
}

static ULONG instance_a_small_one(void)
{
	return instance_to(logger, WNODE_FLAG_TRACED_GUID, sizeof(EVENT_INSTANCE_HEADER) - 1);
}

static ULONG instance_to_a_number(void)
{
	return instance_to(0x4321, WNODE_FLAG_TRACED_GUID, sizeof(EVENT_INSTANCE_HEADER));
}

static ULONG instance_to_the_kernel(void)
{
	return instance_to(KERNEL_ID, WNODE_FLAG_TRACED_GUID, sizeof(EVENT_INSTANCE_HEADER));
}

static ULONG instance_much(void)
{
	return instance_to(logger, WNODE_FLAG_TRACED_GUID, BUFFER_KIB * 1024 / 2);
}

static ULONG instance_without_end(void)
{
	return repeat(instance_much);
}

static ULONG instance_more_than_a_buffer(void)
{
	return instance_to(logger, WNODE_FLAG_TRACED_GUID, BUFFER_KIB * 1024);
}

/* ---- TraceMessage, TraceMessageVa ---- */

static ULONG message_to(TRACEHANDLE handle, size_t bytes)
{
	return TraceMessage(handle, 0, NULL, 1, large, bytes, NULL);
}

static ULONG message_to_nothing(void)
{
	return message_to(0, 1);
}

static ULONG message_to_the_kernel(void)
{
	return message_to(KERNEL_ID, 1);
}

static ULONG message_to_a_number(void)
{
	return message_to(0x4321, 1);
}

static ULONG message_much(void)
{
	return message_to(logger, BUFFER_KIB * 1024 / 2);
}

static ULONG message_without_end(void)
{
	return repeat(message_much);
}

static ULONG message_plain(void)
{
	return message_to(logger, 4);
}

static ULONG message_with_a_wrong_flag(void)
{
	return TraceMessage(logger, ~(ULONG)TRACE_MESSAGE_FLAG_MASK, NULL, 1, NULL);
}

static ULONG message_of_no_guid(void)
{
	return TraceMessage(logger, TRACE_MESSAGE_GUID, NULL, 1, NULL);
}

static ULONG message_of_a_guid_near_nothing(void)
{
	return TraceMessage(logger, TRACE_MESSAGE_GUID, (LPCGUID)(uintptr_t)0x40, 1, NULL);
}

static ULONG message_with_an_argument_near_nothing(void)
{
	return TraceMessage(logger, 0, NULL, 1, (const void *)(uintptr_t)0x40, (SIZE_T)4, NULL);
}

static ULONG message_more_than_a_buffer(void)
{
	return message_to(logger, BUFFER_KIB * 1024);
}

static ULONG message_more_than_an_event(void)
{
	return message_to(logger, sizeof(large));
}

/* Not ULONG: a type that grows when it is handed over cannot stand before the other arguments. */
static ULONG write_list(TRACEHANDLE handle, unsigned flags, ...)
{
	va_list arguments;
	ULONG error;

	va_start(arguments, flags);
	error = TraceMessageVa(handle, flags, NULL, 1, arguments);
	va_end(arguments);
	return error;
}

static ULONG list_to_nothing(void)
{
	return write_list(0, 0, NULL);
}

static ULONG list_to_the_kernel(void)
{
	return write_list(KERNEL_ID, 0, NULL);
}

static ULONG list_much(void)
{
	return write_list(logger, 0, large, (size_t)(BUFFER_KIB * 1024 / 2), NULL);
}

static ULONG list_without_end(void)
{
	return repeat(list_much);
}

static ULONG list_plain(void)
{
	return write_list(logger, 0, large, (size_t)4, NULL);
}

static ULONG list_with_a_wrong_flag(void)
{
	return write_list(logger, ~(unsigned)TRACE_MESSAGE_FLAG_MASK, NULL);
}

static ULONG list_more_than_a_buffer(void)
{
	return write_list(logger, 0, large, (size_t)(BUFFER_KIB * 1024), NULL);
}

/* ---- All of them ---- */

static const struct row rows[] = {
#include "classic_rows.inc"
};

static TRACEHANDLE start_file(const char *name)
{
	struct host_block block;
	TRACEHANDLE handle = 0;

	host_block_init(&block, host_path(name));
	block.properties.BufferSize = BUFFER_KIB;
	assert_int_equal(StartTraceA(&handle, name, &block.properties), ERROR_SUCCESS);
	return handle;
}

static void classic__documented_errors(void **state)
{
	(void)state;
	session = start_file("first.etl");
	second_session = start_file("second.etl");
	assert_int_equal(
		RegisterTraceGuidsA(hear, &logger, &control, 1, classes, NULL, NULL, &provider),
		ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 1, 5, &control, session), ERROR_SUCCESS);
	WAIT_UNTIL(__atomic_load_n(&logger, __ATOMIC_ACQUIRE));
	rows_check(rows, sizeof(rows) / sizeof(rows[0]));
	assert_int_equal(UnregisterTraceGuids(provider), ERROR_SUCCESS);
	assert_int_equal(host_stop(second_session), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classic__documented_errors),
	};

	return cmocka_run_group_tests_name("documented errors of classic providers", tests, NULL,
					   NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
