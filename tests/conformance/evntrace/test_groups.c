/* SPDX-License-Identifier: MIT */
/*
 * Provider groups in sessions of a real host, $ETW_ETWD: who is in one, what a session that enables one gets, and who may
 * not be enabled with it. Sources: [MSD] Microsoft's pages "Provider Traits" and of the functions, [SDK] the comments of
 * evntrace.h, [DERIVED] what follows from them where the page says nothing, [HERE] docs/format/security.md, docs/refused.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "host.h"
#include "waiting.h"

#define LIMIT_S   1500
#define EVENT_IDS 32
#define ROOM      4096

static const GUID group = {0xa70b0001, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID other_group = {0xa70b0002, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID first = {0xa70b0003, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID second = {0xa70b0004, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static _Alignas(8) UCHAR room[ROOM];

/* What a callback heard last. */
struct heard {
	unsigned count; /* atomic: all else is written before it */
	unsigned captures;
	ULONG code;
	UCHAR level;
	ULONGLONG any, all;
	ULONG filter_type, filter_bytes;
};

static void NTAPI hear(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		       PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct heard *heard = context;

	(void)source;
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		__atomic_add_fetch(&heard->captures, 1, __ATOMIC_RELEASE);
		return;
	}
	heard->code = code;
	heard->level = level;
	heard->any = any;
	heard->all = all;
	heard->filter_type = filter ? filter->Type : 0;
	heard->filter_bytes = filter ? filter->Size : 0;
	__atomic_add_fetch(&heard->count, 1, __ATOMIC_RELEASE);
}

static unsigned count_of(const struct heard *heard)
{
	return __atomic_load_n(&heard->count, __ATOMIC_ACQUIRE);
}

static ULONG join(REGHANDLE handle, const GUID *of)
{
	UCHAR traits[2 + 2 + 3 + sizeof(GUID)] = {
		sizeof(traits), 0, 'p', 0, 3 + sizeof(GUID), 0, EtwProviderTraitTypeGroup};

	memcpy(traits + 7, of, sizeof(*of));
	return EventSetInformation(handle, EventProviderSetTraits, traits, sizeof(traits));
}

static REGHANDLE registered(const GUID *guid, struct heard *heard)
{
	REGHANDLE handle;

	assert_int_equal(EventRegister(guid, hear, heard, &handle), ERROR_SUCCESS);
	return handle;
}

static REGHANDLE member(const GUID *guid, struct heard *heard)
{
	const REGHANDLE handle = registered(guid, heard);

	assert_int_equal(join(handle, &group), ERROR_SUCCESS);
	return handle;
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
static ULONG control_with(TRACEHANDLE session, const GUID *guid, ULONG code, UCHAR level,
			  ULONGLONG any, ULONG property, EVENT_FILTER_DESCRIPTOR *filters,
			  ULONG count)
{
	ENABLE_TRACE_PARAMETERS parameters = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = property,
		.EnableFilterDesc = filters,
		.FilterDescCount = count,
	};

	return EnableTraceEx2(session, guid, code, level, any, 0, 60000, &parameters);
}

static ULONG control(TRACEHANDLE session, const GUID *guid, ULONG code, UCHAR level, ULONGLONG any,
		     ULONG property)
{
	return control_with(session, guid, code, level, any, property, NULL, 0);
}

static ULONG enable_group(TRACEHANDLE session, UCHAR level, ULONGLONG any)
{
	return control(session, &group, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, any,
		       EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
}

static ULONG disable_group(TRACEHANDLE session)
{
	return control(session, &group, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0,
		       EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
}

static void write_event(REGHANDLE handle, USHORT id, UCHAR level, ULONGLONG keyword)
{
	const EVENT_DESCRIPTOR event = {.Id = id, .Level = level, .Keyword = keyword};

	assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
}

/* How often a file has the event of each id. */
static unsigned found[EVENT_IDS];

static void WINAPI count_event(PEVENT_RECORD event)
{
	const GUID *provider = &event->EventHeader.ProviderId;
	const USHORT id = event->EventHeader.EventDescriptor.Id;

	if ((memcmp(provider, &first, sizeof(GUID)) == 0 ||
	     memcmp(provider, &second, sizeof(GUID)) == 0) &&
	    id < EVENT_IDS)
		found[id]++;
}

static void read_file(const char *name)
{
	EVENT_TRACE_LOGFILEA file = {
		.LogFileName = (LPSTR)(uintptr_t)host_path(name),
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = count_event,
	};
	TRACEHANDLE handle = OpenTraceA(&file);

	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	memset(found, 0, sizeof(found));
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(file.LogfileHeader.EventsLost, 0);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/*
 * [MSD] To enable a group enables all members. [DERIVED] Now and later: a registration hears of it before the
 * EventSetInformation() that makes it a member returns.
 */
static void groups__members_are_enabled(void **state)
{
	const TRACEHANDLE session = start_file("members.etl");
	struct heard early = {0}, late = {0}, outside = {0};
	REGHANDLE handles[3];

	(void)state;
	handles[0] = member(&first, &early);
	handles[2] = registered(&second, &outside);
	assert_int_equal(count_of(&early), 0);
	assert_int_equal(enable_group(session, 3, 0x10), ERROR_SUCCESS);
	assert_int_equal(count_of(&early), 1);
	assert_int_equal(early.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(early.level, 3);
	assert_true(early.any == 0x10 && early.all == 0);
	handles[1] = member(&second, &late);
	WAIT_UNTIL(count_of(&late) == 1); /* at once, unless the host is slow */
	assert_int_equal(late.level, 3);
	assert_true(late.any == 0x10);
	for (USHORT i = 0; i < 3; i++) {
		assert_int_equal(EventProviderEnabled(handles[i], 3, 0x10), i != 2);
		assert_false(EventProviderEnabled(handles[i], 4, 0x10));
		assert_false(EventProviderEnabled(handles[i], 3, 0x20));
		write_event(handles[i], (USHORT)(i * 4), 3, 0x10);
		write_event(handles[i], (USHORT)(i * 4 + 1), 4, 0x10);
		write_event(handles[i], (USHORT)(i * 4 + 2), 3, 0x20);
	}
	/* [DERIVED] A group's GUID is no provider's, and no provider's is a group's. */
	assert_int_equal(count_of(&outside), 0);
	assert_int_equal(control(session, &first, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0,
				 EVENT_ENABLE_PROPERTY_PROVIDER_GROUP),
			 ERROR_SUCCESS);
	assert_int_equal(count_of(&early), 1);
	assert_int_equal(disable_group(session), ERROR_SUCCESS);
	assert_int_equal(early.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(late.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_false(EventProviderEnabled(handles[0], 1, 0));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(EventUnregister(handles[i]), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	read_file("members.etl");
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(found[i], i == 0 || i == 4);
}

/* [DERIVED] A provider that is enabled both ways writes what either wants, once; each is taken back by itself. */
static void groups__both_ways_add_up(void **state)
{
	const TRACEHANDLE session = start_file("both.etl");
	struct heard heard = {0};
	const REGHANDLE handle = member(&first, &heard);

	(void)state;
	assert_int_equal(enable_group(session, 2, 0x1), ERROR_SUCCESS);
	assert_int_equal(control(session, &first, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0x2, 0),
			 ERROR_SUCCESS);
	assert_int_equal(heard.level, 5);
	assert_true(heard.any == 0x3);
	write_event(handle, 0, 2, 0x1);
	write_event(handle, 1, 5, 0x2);
	write_event(handle, 2, 2, 0x3); /* both want it */
	assert_false(EventProviderEnabled(handle, 5, 0x1));
	write_event(handle, 3, 5, 0x1); /* neither does */
	assert_int_equal(control(session, &first, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0),
			 ERROR_SUCCESS);
	assert_int_equal(heard.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(heard.level, 2);
	assert_true(heard.any == 0x1);
	write_event(handle, 4, 2, 0x1);
	write_event(handle, 5, 5, 0x2);
	assert_int_equal(control(session, &first, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0x2, 0),
			 ERROR_SUCCESS);
	assert_int_equal(disable_group(session), ERROR_SUCCESS);
	assert_int_equal(heard.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(heard.level, 5);
	write_event(handle, 6, 2, 0x1);
	write_event(handle, 7, 5, 0x2);
	/* The session's end takes both back. */
	assert_int_equal(enable_group(session, 2, 0x1), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	WAIT_UNTIL(heard.code == EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	read_file("both.etl");
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(found[i], i != 3 && i != 5 && i != 6);
}

static EVENT_FILTER_DESCRIPTOR filter_of(ULONG type, const void *data, size_t bytes)
{
	return (EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(ULONG_PTR)data, (ULONG)bytes, type};
}

static ULONG enable_filtered(TRACEHANDLE session, const GUID *guid, ULONG property,
			     EVENT_FILTER_DESCRIPTOR *filters, ULONG count)
{
	return control_with(session, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, property,
			    filters, count);
}

/*
 * [DERIVED] Filters of a group are those of each of its members: Microsoft's page of ENABLE_TRACE_PARAMETERS has no
 * exception for groups. A provider that is enabled by itself, too, writes what either way lets pass.
 */
static void groups__filters_are_the_members(void **state)
{
	static const USHORT in_1_2[] = {TRUE, 2, 1, 2}, in_3[] = {TRUE, 1, 3};
	const ULONG stranger = 1; /* init registers nothing */
	const TRACEHANDLE session = start_file("filters.etl");
	EVENT_FILTER_DESCRIPTOR filters[2] = {
		filter_of(EVENT_FILTER_TYPE_EVENT_ID, in_1_2, sizeof(in_1_2)),
		filter_of(EVENT_FILTER_TYPE_SCHEMATIZED, "data", 4),
	};
	struct heard one = {0}, two = {0};
	REGHANDLE handles[2] = {member(&first, &one), member(&second, &two)};

	(void)state;
	assert_int_equal(
		enable_filtered(session, &group, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, filters, 2),
		ERROR_SUCCESS);
	assert_int_equal(count_of(&two), 1);
	assert_int_equal(two.filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
	assert_int_equal(two.filter_bytes, 4);
	filters[0] = filter_of(EVENT_FILTER_TYPE_EVENT_ID, in_3, sizeof(in_3));
	assert_int_equal(enable_filtered(session, &first, 0, filters, 1), ERROR_SUCCESS);
	for (USHORT id = 1; id < 5; id++) {
		write_event(handles[0], id, 1, 1);
		write_event(handles[1], (USHORT)(id + 8), 1,
			    1); /* 9 and on: none of the filter's */
		write_event(handles[1], id, 1, 1);
	}
	/* Which processes are meant: none of the group's any more, but the one that is enabled by itself. */
	filters[0] = filter_of(EVENT_FILTER_TYPE_PID, &stranger, sizeof(stranger));
	assert_int_equal(
		enable_filtered(session, &group, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, filters, 1),
		ERROR_SUCCESS);
	assert_int_equal(two.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_false(EventProviderEnabled(handles[1], 1, 1));
	assert_true(EventProviderEnabled(handles[0], 1, 1));
	write_event(handles[0], 1, 1, 1);
	write_event(handles[0], 3, 1, 1);
	/* A filter that is not sound is refused of a group as of a provider. */
	filters[0] = filter_of(EVENT_FILTER_TYPE_PID, &stranger, 3);
	assert_int_equal(
		enable_filtered(session, &group, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, filters, 1),
		ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(EventUnregister(handles[i]), ERROR_SUCCESS);
	read_file("filters.etl");
	assert_int_equal(found[1], 2);
	assert_int_equal(found[2], 2);
	assert_int_equal(found[3], 2);
	assert_int_equal(found[4], 0);
	for (unsigned i = 9; i < 13; i++)
		assert_int_equal(found[i], 0);
}

/* [MSD] A disallow list keeps providers from being enabled with a group, in one session, and can be changed. */
static void groups__disallowed_providers(void **state)
{
	const TRACEHANDLE session = start_file("disallowed.etl");
	GUID list[2] = {second, other_group};
	struct heard one = {0}, two = {0};
	REGHANDLE handles[2] = {member(&first, &one), member(&second, &two)};
	ULONG bytes = 0;

	(void)state;
	assert_int_equal(TraceSetInformation(session, TraceSetDisallowList, list, sizeof(list)),
			 ERROR_SUCCESS);
	assert_int_equal(TraceQueryInformation(session, TraceDisallowListQuery, room, ROOM, &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, sizeof(list));
	assert_memory_equal(room, list, sizeof(list));
	assert_int_equal(enable_group(session, 5, 0), ERROR_SUCCESS);
	assert_int_equal(count_of(&one), 1);
	assert_int_equal(count_of(&two), 0);
	write_event(handles[1], 0, 1, 1);
	/* It keeps nobody from enabling the provider itself. */
	assert_int_equal(control(session, &second, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 1, 1, 0),
			 ERROR_SUCCESS);
	assert_int_equal(two.level, 1);
	write_event(handles[1], 1, 1, 1);
	write_event(handles[1], 2, 2, 1);
	assert_int_equal(control(session, &second, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0),
			 ERROR_SUCCESS);
	/* Changed: the other one is left out from now on. */
	list[0] = first;
	assert_int_equal(TraceSetInformation(session, TraceSetDisallowList, list, sizeof(list)),
			 ERROR_SUCCESS);
	WAIT_UNTIL(one.code == EVENT_CONTROL_CODE_DISABLE_PROVIDER && two.level == 5);
	write_event(handles[0], 3, 1, 1);
	write_event(handles[1], 4, 5, 1);
	assert_int_equal(control(session, &group, EVENT_CONTROL_CODE_CAPTURE_STATE, 5, 0,
				 EVENT_ENABLE_PROPERTY_PROVIDER_GROUP),
			 ERROR_SUCCESS);
	assert_int_equal(one.captures, 0);
	assert_int_equal(two.captures, 1);
	/* Without providers nobody is. */
	assert_int_equal(TraceSetInformation(session, TraceSetDisallowList, NULL, 0),
			 ERROR_SUCCESS);
	WAIT_UNTIL(one.code == EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	write_event(handles[0], 5, 1, 1);
	assert_int_equal(TraceSetInformation(session, TraceSetDisallowList, list, sizeof(list) - 1),
			 ERROR_INCORRECT_SIZE);
	assert_int_equal(EventUnregister(handles[0]), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(handles[1]), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	read_file("disallowed.etl");
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(found[i], i == 1 || i == 4 || i == 5);
}

/* How much there is to tell of the group. */
static ULONG group_bytes(void)
{
	GUID guid = group;
	ULONG bytes = 0;

	assert_int_equal(
		EnumerateTraceGuidsEx(TraceGroupQueryInfo, &guid, sizeof(guid), room, ROOM, &bytes),
		ERROR_SUCCESS);
	return bytes;
}

/* [SDK] TraceGroupQueryInfo: sessions and members; [DERIVED] TraceGuidQueryInfo has the group's sessions, too. */
static void groups__are_enumerated(void **state)
{
	const TRACEHANDLE session = start_file("listed.etl");
	struct heard heard = {0};
	const REGHANDLE handle = member(&first, &heard);
	GUID guid = group;
	TRACE_ENABLE_INFO info;
	ULONG bytes = 0, count = 0;
	const TRACE_PROVIDER_INSTANCE_INFO *instance;

	(void)state;
	assert_int_equal(enable_group(session, 4, 0x30), ERROR_SUCCESS);
	assert_int_equal(group_bytes(), 4 + sizeof(info) + 4 + sizeof(GUID));
	memcpy(&count, room, sizeof(count));
	assert_int_equal(count, 1);
	memcpy(&info, room + 4, sizeof(info));
	assert_int_equal(info.IsEnabled, TRUE);
	assert_int_equal(info.LoggerId, session);
	assert_int_equal(info.Level, 4);
	assert_true(info.MatchAnyKeyword == 0x30);
	assert_int_equal(info.EnableProperty, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
	memcpy(&count, room + 4 + sizeof(info), sizeof(count));
	assert_int_equal(count, 1);
	assert_memory_equal(room + 8 + sizeof(info), &first, sizeof(GUID));
	guid = first;
	assert_int_equal(
		EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof(guid), room, ROOM, &bytes),
		ERROR_SUCCESS);
	instance = (const void *)(room + sizeof(TRACE_GUID_INFO));
	assert_int_equal(instance->EnableCount, 1);
	memcpy(&info, instance + 1, sizeof(info));
	assert_int_equal(info.LoggerId, session);
	assert_int_equal(info.EnableProperty, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	/* Without members, its sessions are known. The host hears of the provider and of questions over two sockets. */
	guid = group;
	WAIT_UNTIL(group_bytes() == 4 + sizeof(info) + 4);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
	assert_int_equal(
		EnumerateTraceGuidsEx(TraceGroupQueryInfo, &guid, sizeof(guid), room, ROOM, &bytes),
		ERROR_WMI_GUID_NOT_FOUND);
}

/* As another user: 0 where the registration may be a member. */
static ULONG try_join(void *context)
{
	REGHANDLE handle;
	ULONG error;

	(void)context;
	if (EventRegister(&second, NULL, NULL, &handle) != ERROR_SUCCESS)
		return ERROR_GEN_FAILURE;
	error = join(handle, &group);
	if (error == ERROR_ACCESS_DENIED && EventProviderEnabled(handle, 1, 1))
		return ERROR_INVALID_FUNCTION;
	/* It is told before the function returns, unless the host is slow. */
	if (error == ERROR_SUCCESS)
		WAIT_UNTIL(EventProviderEnabled(handle, 1, 1));
	return error;
}

/* [MSD] Who lacks the permission to join is not a member. [HERE] TRACELOG_JOIN_GROUP of the group's GUID. */
static void groups__joining_takes_a_right(void **state)
{
	TRACEHANDLE session;
	GUID guid = group;
	struct {
		UCHAR revision, count, authority[6];
		ULONG parts[1];
	} nobody = {1, 1, {0, 0, 0, 0, 0, 5}, {18}}; /* LocalSystem alone */

	(void)state;
	if (!host_is_root())
		return;
	session = start_file("joined.etl");
	assert_int_equal(enable_group(session, 5, 0), ERROR_SUCCESS);
	assert_int_equal(host_as_stranger(try_join, NULL), ERROR_SUCCESS);
	assert_int_equal(
		EventAccessControl(&guid, EventSecuritySetDACL, &nobody, TRACELOG_JOIN_GROUP, TRUE),
		ERROR_SUCCESS);
	assert_int_equal(host_as_stranger(try_join, NULL), ERROR_ACCESS_DENIED);
	assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
	assert_int_equal(host_as_stranger(try_join, NULL), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

/* [MSD] Traits can be set once for a registration. [DERIVED] The group's sessions leave and stay as it does. */
static void groups__traits_are_set_once(void **state)
{
	const TRACEHANDLE session = start_file("once.etl");
	struct heard heard = {0}, other = {0};
	const REGHANDLE handle = member(&first, &heard);
	const REGHANDLE same_guid = registered(&first, &other);

	(void)state;
	assert_int_equal(join(handle, &group), ERROR_ALREADY_EXISTS);
	assert_int_equal(join(handle, &other_group), ERROR_ALREADY_EXISTS);
	/* Membership is of the registration, not of its GUID. */
	assert_int_equal(join(same_guid, &other_group), ERROR_SUCCESS);
	assert_int_equal(enable_group(session, 5, 0), ERROR_SUCCESS);
	assert_int_equal(count_of(&heard), 1);
	assert_int_equal(count_of(&other), 0);
	assert_true(EventProviderEnabled(handle, 1, 1));
	assert_false(EventProviderEnabled(same_guid, 1, 1));
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(same_guid), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups__members_are_enabled),
		cmocka_unit_test(groups__both_ways_add_up),
		cmocka_unit_test(groups__filters_are_the_members),
		cmocka_unit_test(groups__disallowed_providers),
		cmocka_unit_test(groups__are_enumerated),
		cmocka_unit_test(groups__joining_takes_a_right),
		cmocka_unit_test(groups__traits_are_set_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
