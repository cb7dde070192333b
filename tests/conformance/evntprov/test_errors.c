/* SPDX-License-Identifier: MIT */
/*
 * Every pair of a function of providers and an error that Microsoft documents for it (documented_errors.tsv), and every bad
 * input. One thing is out of order in each row. Sources: [MSD] the function's page at Microsoft, or the page that is named;
 * [SDK] evntprov.h; [DERIVED] no page says it; [HERE] docs/refused.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/host.h"
#include "conformance/evntrace/rows.h"
#include "conformance/evntrace/waiting.h"

#define LIMIT_S    1500
#define BUFFER_KIB 16
#define MANY       4096

static const GUID provider = {0x7c1f0c11, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID other = {0x7c1f0c12, 0x1f4b, 0x4d0e, {0x91, 0x5c, 1, 2, 3, 4, 5, 6}};
static const GUID kernel_process = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const EVENT_DESCRIPTOR event = {.Id = 7, .Level = 4, .Keyword = 2};

/* What most rows are about: a provider that a session of small buffers has enabled, all the time. */
static REGHANDLE handle, typed, closed;
static uint16_t large[70000];

/* ---- Registering ---- */

static ULONG register_no_id(void)
{
	REGHANDLE unused;

	return EventRegister(NULL, NULL, NULL, &unused);
}

static ULONG register_no_handle(void)
{
	return EventRegister(&other, NULL, NULL, NULL);
}

static ULONG register_as(const GUID *id)
{
	REGHANDLE unused = 5;
	const ULONG error = EventRegister(id, NULL, NULL, &unused);

	return error && unused ? ERROR_GEN_FAILURE : error;
}

static ULONG register_the_kernel(void)
{
	return register_as(&SystemTraceControlGuid);
}

static ULONG register_a_class_of_the_kernel(void)
{
	return register_as(&kernel_process);
}

static ULONG register_too_many(void)
{
	static REGHANDLE handles[MANY];
	ULONG error = ERROR_SUCCESS;
	unsigned count = 0;

	while (count < MANY && (error = EventRegister(&other, NULL, NULL, &handles[count])) == 0)
		count++;
	for (unsigned i = 0; i < count; i++) {
		if (EventUnregister(handles[i]))
			return ERROR_GEN_FAILURE;
	}
	return count < 1024 ? ERROR_GEN_FAILURE : error;
}

static ULONG unregister_nothing(void)
{
	return EventUnregister(0);
}

static ULONG unregister_a_number(void)
{
	return EventUnregister(0x1234567890ABCDEF);
}

/* ERROR_INVALID_HANDLE when every one of them says so. */
static ULONG unregister_neighbours(void)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		const REGHANDLE near = handle ^ UINT64_C(1) << bit;

		if (near != typed && EventUnregister(near) != ERROR_INVALID_HANDLE)
			return ERROR_GEN_FAILURE;
	}
	return EventUnregister(handle + 1);
}

static ULONG unregister_twice(void)
{
	REGHANDLE once;

	if (EventRegister(&other, NULL, NULL, &once) || EventUnregister(once))
		return ERROR_GEN_FAILURE;
	return EventUnregister(once);
}

static ULONG WINAPI hear_nothing(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)code;
	(void)context;
	(void)bytes;
	(void)buffer;
	return ERROR_SUCCESS;
}

static ULONG unregister_a_classic_one(void)
{
	TRACEHANDLE classic;
	ULONG error;

	if (RegisterTraceGuidsA(hear_nothing, NULL, &other, 0, NULL, NULL, NULL, &classic))
		return ERROR_GEN_FAILURE;
	error = EventUnregister(classic);
	return UnregisterTraceGuids(classic) ? ERROR_GEN_FAILURE : error;
}

/* ---- The three that take pieces ---- */

typedef ULONG write_function(REGHANDLE to, PCEVENT_DESCRIPTOR descriptor, ULONG count,
			     EVENT_DATA_DESCRIPTOR *data);

static ULONG by_ex(REGHANDLE to, PCEVENT_DESCRIPTOR descriptor, ULONG count,
		   EVENT_DATA_DESCRIPTOR *data)
{
	return EventWriteEx(to, descriptor, 0, 0, NULL, NULL, count, data);
}

static ULONG by_transfer(REGHANDLE to, PCEVENT_DESCRIPTOR descriptor, ULONG count,
			 EVENT_DATA_DESCRIPTOR *data)
{
	return EventWriteTransfer(to, descriptor, NULL, &other, count, data);
}

static ULONG by_write(REGHANDLE to, PCEVENT_DESCRIPTOR descriptor, ULONG count,
		      EVENT_DATA_DESCRIPTOR *data)
{
	return EventWrite(to, descriptor, count, data);
}

static ULONG no_descriptor(write_function *write)
{
	return write(handle, NULL, 0, NULL);
}

/* @count pieces of @bytes. */
static ULONG pieces(write_function *write, ULONG count, ULONG bytes)
{
	EVENT_DATA_DESCRIPTOR data[MAX_EVENT_DATA_DESCRIPTORS + 1];

	for (ULONG i = 0; i < count; i++)
		EventDataDescCreate(&data[i], large, bytes);
	return write(handle, &event, count, data);
}

static ULONG n_129_pieces(write_function *write)
{
	return pieces(write, MAX_EVENT_DATA_DESCRIPTORS + 1, 1);
}

static ULONG pieces_missing(write_function *write)
{
	return write(handle, &event, 1, NULL);
}

static ULONG of_type(write_function *write, UCHAR type)
{
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, large, 8);
	data.Type = type;
	return write(typed, &event, 1, &data);
}

static ULONG a_type_that_is_none(write_function *write)
{
	return of_type(write, EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE + 1);
}

static ULONG a_timestamp(write_function *write)
{
	return of_type(write, EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE);
}

static ULONG to_nothing(write_function *write)
{
	return write(0, &event, 0, NULL);
}

static ULONG to_a_number(write_function *write)
{
	return write(UINT64_MAX, &event, 0, NULL);
}

static ULONG after_the_end(write_function *write)
{
	return write(closed, &event, 0, NULL);
}

static ULONG null_with_bytes(write_function *write)
{
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, NULL, 8);
	return write(handle, &event, 1, &data);
}

static ULONG null_among_others(write_function *write)
{
	EVENT_DATA_DESCRIPTOR data[3];

	EventDataDescCreate(&data[0], large, 8);
	EventDataDescCreate(&data[1], NULL, 0); /* nothing of it is read */
	if (write(handle, &event, 2, data) != ERROR_SUCCESS)
		return ERROR_GEN_FAILURE;
	EventDataDescCreate(&data[2], (const void *)(uintptr_t)0x10, 1);
	return write(handle, &event, 3, data);
}

static ULONG more_than_an_event(write_function *write)
{
	return pieces(write, 1, 65536);
}

static ULONG n_128_large_pieces(write_function *write)
{
	return pieces(write, MAX_EVENT_DATA_DESCRIPTORS, UINT32_MAX);
}

static ULONG more_than_a_buffer(write_function *write)
{
	return pieces(write, 1, BUFFER_KIB * 1024);
}

/* Repeats a write until it fails: nobody empties buffers as fast as they are filled. */
static ULONG without_end(write_function *write)
{
	const time_t begin = wait_seconds();
	ULONG error = ERROR_SUCCESS;

	while (!error && wait_seconds() - begin < WAIT_SECONDS)
		error = pieces(write, 1, BUFFER_KIB * 1024 / 2);
	return error;
}

static ULONG one(write_function *write)
{
	return pieces(write, 1, 8);
}

#define EACH(name, what)                   \
	static ULONG write_##name(void)    \
	{                                  \
		return what(by_write);     \
	}                                  \
	static ULONG ex_##name(void)       \
	{                                  \
		return what(by_ex);        \
	}                                  \
	static ULONG transfer_##name(void) \
	{                                  \
		return what(by_transfer);  \
	}

EACH(no_descriptor, no_descriptor)
EACH(129_pieces, n_129_pieces)
EACH(pieces_missing, pieces_missing)
EACH(a_type_that_is_none, a_type_that_is_none)
EACH(a_timestamp, a_timestamp)
EACH(to_nothing, to_nothing)
EACH(to_a_number, to_a_number)
EACH(after_the_end, after_the_end)
EACH(null_with_bytes, null_with_bytes)
EACH(null_among_others, null_among_others)
EACH(more_than_an_event, more_than_an_event)
EACH(128_large_pieces, n_128_large_pieces)
EACH(more_than_a_buffer, more_than_a_buffer)
EACH(without_end, without_end)
EACH(one, one)

static ULONG ex_flags_that_are_none(void)
{
	return EventWriteEx(handle, &event, 0, 4, NULL, NULL, 0, NULL);
}

/* ---- Strings ---- */

/* Of @units characters, and the NUL. */
static ULONG string_of(REGHANDLE to, size_t units)
{
	uint16_t *text = malloc((units + 1) * sizeof(*text));
	ULONG error;

	if (!text)
		return ERROR_GEN_FAILURE;
	for (size_t i = 0; i < units; i++)
		text[i] = 'x';
	text[units] = 0;
	error = EventWriteString(to, 4, 2, (PCWSTR)text);
	free(text);
	return error;
}

static ULONG string_missing(void)
{
	return EventWriteString(handle, 4, 2, NULL);
}

static ULONG string_to_nothing(void)
{
	return string_of(0, 1);
}

static ULONG string_after_the_end(void)
{
	return string_of(closed, 1);
}

static ULONG string_more_than_an_event(void)
{
	return string_of(handle, 32768);
}

static ULONG string_without_end_in_sight(void)
{
	static uint16_t text[65536]; /* all of it is read at most, and nothing behind it */

	for (size_t i = 0; i < 65536; i++)
		text[i] = 'x';
	return EventWriteString(handle, 4, 2, (PCWSTR)text);
}

static ULONG string_more_than_a_buffer(void)
{
	return string_of(handle, BUFFER_KIB * 512);
}

static ULONG by_string(REGHANDLE to, PCEVENT_DESCRIPTOR descriptor, ULONG count,
		       EVENT_DATA_DESCRIPTOR *data)
{
	(void)descriptor;
	(void)count;
	return string_of(to, data->Size / 2);
}

static ULONG string_without_end(void)
{
	return without_end(by_string);
}

static ULONG string_one(void)
{
	return one(by_string);
}

/* ---- EventSetInformation ---- */

static ULONG set_of(REGHANDLE of, EVENT_INFO_CLASS class, const void *information, ULONG bytes)
{
	return EventSetInformation(of, class, (PVOID)(uintptr_t)information, bytes);
}

static const UCHAR traits[] = {8, 0, 'P', 0, 4, 0, 200, 1};

static ULONG set_nothing(void)
{
	return set_of(0, EventProviderSetTraits, traits, sizeof(traits));
}

static ULONG set_a_number(void)
{
	const BOOLEAN yes = TRUE;

	return set_of(0x777, EventProviderUseDescriptorType, &yes, sizeof(yes));
}

static ULONG set_after_the_end(void)
{
	return set_of(closed, EventProviderBinaryTrackInfo, NULL, 0);
}

static ULONG set_no_traits(void)
{
	return set_of(handle, EventProviderSetTraits, NULL, sizeof(traits));
}

static ULONG set_short_traits(void)
{
	return set_of(handle, EventProviderSetTraits, traits, sizeof(traits) - 1);
}

static ULONG set_traits_without_name(void)
{
	static const UCHAR nameless[] = {4, 0, 'P', 'Q'};

	return set_of(handle, EventProviderSetTraits, nameless, sizeof(nameless));
}

static ULONG set_a_trait_too_large(void)
{
	static const UCHAR wrong[] = {8, 0, 'P', 0, 5, 0, 200, 1};

	return set_of(handle, EventProviderSetTraits, wrong, sizeof(wrong));
}

static ULONG set_no_type(void)
{
	return set_of(handle, EventProviderUseDescriptorType, NULL, 1);
}

static ULONG set_a_long_type(void)
{
	const ULONG yes = TRUE;

	return set_of(handle, EventProviderUseDescriptorType, &yes, sizeof(yes));
}

static ULONG set_traits_twice(void)
{
	REGHANDLE once;
	ULONG error;

	if (EventRegister(&other, NULL, NULL, &once) ||
	    set_of(once, EventProviderSetTraits, traits, sizeof(traits)))
		return ERROR_GEN_FAILURE;
	error = set_of(once, EventProviderSetTraits, traits, sizeof(traits));
	return EventUnregister(once) ? ERROR_GEN_FAILURE : error;
}

static ULONG set_reserved(void)
{
	return set_of(handle, EventProviderSetReserved1, NULL, 0);
}

static ULONG set_no_class(void)
{
	return set_of(handle, MaxEventInfo, NULL, 0);
}

/* ---- EventActivityIdControl ---- */

static ULONG activity_no_id(void)
{
	for (ULONG code = EVENT_ACTIVITY_CTRL_GET_ID; code < EVENT_ACTIVITY_CTRL_CREATE_SET_ID;
	     code++) {
		if (EventActivityIdControl(code, NULL) != ERROR_INVALID_PARAMETER)
			return ERROR_GEN_FAILURE;
	}
	return EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, NULL);
}

static ULONG activity_code_0(void)
{
	GUID id = other;

	return EventActivityIdControl(0, &id);
}

static ULONG activity_code_6(void)
{
	GUID id = other;

	return EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID + 1, &id);
}

/* ---- All of them ---- */

static const struct row rows[] = {
#include "documented_rows.inc"
};

static REGHANDLE registered(const GUID *id)
{
	REGHANDLE ret = 0;

	assert_int_equal(EventRegister(id, NULL, NULL, &ret), ERROR_SUCCESS);
	assert_true(ret != 0);
	return ret;
}

static void evntprov__documented_errors(void **state)
{
	const BOOLEAN yes = TRUE;
	struct host_block block;
	TRACEHANDLE session = 0;

	(void)state;
	host_block_init(&block, host_path("errors.etl"));
	block.properties.BufferSize = BUFFER_KIB;
	assert_int_equal(StartTraceA(&session, "errors", &block.properties), ERROR_SUCCESS);
	assert_int_equal(EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5,
					0, 0, 60000, NULL),
			 ERROR_SUCCESS);
	closed = registered(&provider);
	assert_int_equal(EventUnregister(closed), ERROR_SUCCESS);
	handle = registered(&provider);
	typed = registered(&provider);
	assert_int_equal(set_of(typed, EventProviderUseDescriptorType, &yes, sizeof(yes)),
			 ERROR_SUCCESS);
	WAIT_UNTIL(EventProviderEnabled(handle, 4, 2) && EventProviderEnabled(typed, 4, 2));
	rows_check(rows, sizeof(rows) / sizeof(rows[0]));
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(typed), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evntprov__documented_errors),
	};

	return cmocka_run_group_tests_name("documented errors of providers", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
