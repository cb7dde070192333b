/* SPDX-License-Identifier: MIT */
/*
 * Who has registered and enabled what, and the classes of TraceQueryInformation and TraceSetInformation. Sources: [MSD]
 * Microsoft's pages of the function or enumeration, [SDK] the comments of evntrace.h, [CH] Geoff Chappell, [DERIVED]
 * follows from one of these, [HERE] docs/format/security.md or docs/refused.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "host.h"

#define LIMIT_S  1500
#define ROOM     65536
#define PATIENCE 1200 /* steps of 100 ms */

static const GUID provider_guid = {0xe0000001, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID unknown_guid = {0xe0000002, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID waiting_guid = {0xe0000003, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const GUID group_guid = {0xe0000004, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static _Alignas(8) UCHAR room[ROOM];
static ULONG captures; /* atomic */

static void NTAPI count_captures(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any,
				 ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)context;
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		__atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);
}

static REGHANDLE registered(const GUID *guid)
{
	REGHANDLE handle;

	assert_int_equal(EventRegister(guid, count_captures, NULL, &handle), ERROR_SUCCESS);
	return handle;
}

static TRACEHANDLE started(const char *name)
{
	TRACEHANDLE handle;

	assert_int_equal(host_start(name, NULL, 0, &handle), ERROR_SUCCESS);
	return handle;
}

static void enabled(TRACEHANDLE handle, const GUID *guid)
{
	assert_int_equal(EnableTraceEx2(handle, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0x70,
					0x30, 0, NULL),
			 ERROR_SUCCESS);
}

/* Whether a list of GUIDs has one. */
static BOOL has_guid(TRACE_QUERY_INFO_CLASS class_, const GUID *guid)
{
	ULONG bytes = 0;

	assert_int_equal(EnumerateTraceGuidsEx(class_, NULL, 0, room, ROOM, &bytes), ERROR_SUCCESS);
	assert_int_equal(bytes % sizeof(GUID), 0);
	for (ULONG at = 0; at < bytes; at += sizeof(GUID)) {
		if (memcmp(room + at, guid, sizeof(GUID)) == 0)
			return TRUE;
	}
	return FALSE;
}

/* A host hears of the end of a registration a little later than EventUnregister returns. */
static void await_gone(const GUID *guid)
{
	for (unsigned i = 0; i < PATIENCE && has_guid(TraceGuidQueryList, guid); i++)
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	assert_false(has_guid(TraceGuidQueryList, guid));
}

/* [MSD] of the two functions: what is wrong with arguments. */
static void enumerate__arguments(void **state)
{
	TRACE_GUID_PROPERTIES properties, *array[1] = {&properties};
	GUID guid = unknown_guid;
	ULONG bytes = 0;

	(void)state;
	assert_int_equal(EnumerateTraceGuids(NULL, 1, &bytes), ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuids(array, 0, &bytes), ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuids(array, 1, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, room, ROOM, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, NULL, 8, &bytes),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, NULL, 0, room, ROOM, &bytes),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, 15, room, ROOM, &bytes),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EnumerateTraceGuidsEx(TraceGroupQueryInfo, NULL, 16, room, ROOM, &bytes),
			 ERROR_INVALID_PARAMETER);
	/* [MSD] a class that this function does not take is a wrong parameter */
	assert_int_equal(EnumerateTraceGuidsEx(TraceStackTracingInfo, NULL, 0, room, ROOM, &bytes),
			 ERROR_INVALID_PARAMETER);
	/* [DERIVED] the kernel's status for a GUID that it does not know */
	assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, 16, room, ROOM, &bytes),
			 ERROR_WMI_GUID_NOT_FOUND);
	assert_int_equal(EnumerateTraceGuidsEx(TraceGroupQueryInfo, &guid, 16, room, ROOM, &bytes),
			 ERROR_WMI_GUID_NOT_FOUND);
}

static void enumerate__list(void **state)
{
	TRACEHANDLE session = started("list");
	REGHANDLE handle = registered(&provider_guid);
	ULONG needed = 0, bytes = 0;

	(void)state;
	enabled(session, &waiting_guid);
	/* [SDK] an array of GUIDs: of providers that are registered; not of what only a session knows */
	assert_true(has_guid(TraceGuidQueryList, &provider_guid));
	assert_false(has_guid(TraceGuidQueryList, &waiting_guid));
	/* [MSD] size 0, and too small: ERROR_INSUFFICIENT_BUFFER and the size that it takes */
	assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, NULL, 0, &needed),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_true(needed >= sizeof(GUID));
	assert_int_equal(
		EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, room, needed - 1, &bytes),
		ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(bytes, needed);
	/* [SDK] those that this process has registered */
	assert_true(has_guid(TraceGuidQueryProcess, &provider_guid));
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	assert_false(has_guid(TraceGuidQueryProcess, &provider_guid));
	await_gone(&provider_guid);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

static const TRACE_GUID_INFO *info_of(const GUID *guid)
{
	GUID copy = *guid;
	ULONG bytes = 0;

	assert_int_equal(
		EnumerateTraceGuidsEx(TraceGuidQueryInfo, &copy, sizeof(copy), room, ROOM, &bytes),
		ERROR_SUCCESS);
	return (const TRACE_GUID_INFO *)(const void *)room;
}

/* [SDK] TRACE_GUID_INFO, then each registration with the sessions that enabled it; [MSD] the fields and flags. */
static void enumerate__info(void **state)
{
	TRACEHANDLE one = started("one"), two = started("two");
	REGHANDLE first = registered(&provider_guid), second = registered(&provider_guid);
	const TRACE_PROVIDER_INSTANCE_INFO *instance;
	const TRACE_ENABLE_INFO *enable;
	const TRACE_GUID_INFO *info;

	(void)state;
	enabled(one, &provider_guid);
	enabled(two, &provider_guid);
	info = info_of(&provider_guid);
	assert_int_equal(info->InstanceCount, 2);
	instance = (const void *)(info + 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(instance->Pid, getpid());
		assert_int_equal(instance->Flags, 0);
		assert_int_equal(instance->EnableCount, 2);
		enable = (const void *)(instance + 1);
		assert_int_equal(enable->IsEnabled, 1);
		assert_int_equal(enable->Level, 4);
		assert_true(enable->MatchAnyKeyword == 0x70 && enable->MatchAllKeyword == 0x30);
		assert_int_equal(enable[0].LoggerId + enable[1].LoggerId,
				 (USHORT)one + (USHORT)two);
		if (i == 1)
			assert_int_equal(instance->NextOffset, 0);
		instance = (const void *)((const UCHAR *)instance + instance->NextOffset);
	}
	assert_int_equal(EventUnregister(first), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(second), ERROR_SUCCESS);
	await_gone(&provider_guid);
	/* [MSD] PRE_ENABLE: not registered, and sessions have enabled it */
	info = info_of(&provider_guid);
	assert_int_equal(info->InstanceCount, 1);
	instance = (const void *)(info + 1);
	assert_int_equal(instance->Flags, TRACE_PROVIDER_FLAG_PRE_ENABLE);
	assert_int_equal(instance->EnableCount, 2);
	assert_int_equal(instance->NextOffset, 0);
	assert_int_equal(host_stop(one), ERROR_SUCCESS);
	assert_int_equal(host_stop(two), ERROR_SUCCESS);
}

/* [MSD] the older function: LoggerId is that of the session that enabled the provider last. */
static void enumerate__guids(void **state)
{
	static TRACE_GUID_PROPERTIES properties[64];
	TRACE_GUID_PROPERTIES *array[64];
	TRACEHANDLE session = started("guids");
	REGHANDLE one = registered(&provider_guid), two = registered(&waiting_guid);
	ULONG count = 0, found = 0;

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		array[i] = &properties[i];
	enabled(session, &provider_guid);
	assert_int_equal(EnumerateTraceGuids(array, 64, &count), ERROR_SUCCESS);
	assert_in_range(count, 2, 64);
	for (unsigned i = 0; i < count; i++) {
		if (memcmp(&properties[i].Guid, &provider_guid, sizeof(GUID)) == 0) {
			assert_true(properties[i].IsEnable);
			assert_int_equal(properties[i].LoggerId, session);
			assert_int_equal(properties[i].EnableLevel, 4);
			assert_int_equal(properties[i].EnableFlags, 0x70);
			found++;
		}
		if (memcmp(&properties[i].Guid, &waiting_guid, sizeof(GUID)) == 0) {
			assert_false(properties[i].IsEnable);
			found++;
		}
	}
	assert_int_equal(found, 2);
	/* [MSD] ERROR_MORE_DATA, with as many as fit */
	assert_int_equal(EnumerateTraceGuids(array, 1, &count), ERROR_MORE_DATA);
	assert_true(count >= 2);
	assert_int_equal(EventUnregister(one), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(two), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

/* [SDK] groups that providers have joined by their traits, and who is in one. */
static void enumerate__groups(void **state)
{
	TRACEHANDLE session = started("groups");
	REGHANDLE handle = registered(&provider_guid);
	UCHAR traits[2 + 2 + 3 + sizeof(GUID)] = {sizeof(traits),   0, 'p', 0,
						  3 + sizeof(GUID), 0, 1};
	GUID guid = group_guid;
	ULONG bytes = 0, count;

	(void)state;
	assert_false(has_guid(TraceGroupQueryList, &group_guid));
	memcpy(traits + 7, &group_guid, sizeof(GUID));
	assert_int_equal(
		EventSetInformation(handle, EventProviderSetTraits, traits, sizeof(traits)),
		ERROR_SUCCESS);
	for (unsigned i = 0; i < PATIENCE && !has_guid(TraceGroupQueryList, &group_guid); i++)
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	assert_true(has_guid(TraceGroupQueryList, &group_guid));
	assert_int_equal(
		EnumerateTraceGuidsEx(TraceGroupQueryInfo, &guid, sizeof(guid), room, ROOM, &bytes),
		ERROR_SUCCESS);
	assert_int_equal(bytes, 4 + 4 + sizeof(GUID));
	memcpy(&count, room + 4, sizeof(count));
	assert_int_equal(count, 1);
	assert_memory_equal(room + 8, &provider_guid, sizeof(GUID));
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

/* [HERE] another user sees its own processes' registrations, and what WMIGUID_QUERY grants. */
static ULONG try_info(void *context)
{
	GUID guid = provider_guid;
	ULONG bytes = 0;

	(void)context;
	return EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof(guid), room, ROOM, &bytes);
}

/* ERROR_SUCCESS: the list has the provider. */
static ULONG try_list(void *context)
{
	ULONG bytes = 0, error;

	(void)context;
	error = EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, room, ROOM, &bytes);
	for (ULONG at = 0; !error && at < bytes; at += sizeof(GUID)) {
		if (memcmp(room + at, &provider_guid, sizeof(GUID)) == 0)
			return ERROR_SUCCESS;
	}
	return error ? error : ERROR_NOT_FOUND;
}

static ULONG try_own(void *context)
{
	REGHANDLE handle;
	ULONG error = EventRegister(&provider_guid, NULL, NULL, &handle);

	return error ? error : try_info(context);
}

static void enumerate__what_others_see(void **state)
{
	struct {
		UCHAR head[8];
		ULONG subs[2];
	} sid = {{1, 2, 0, 0, 0, 0, 0, 22}, {1, HOST_STRANGER}};
	GUID guid = provider_guid;
	TRACEHANDLE session;
	REGHANDLE handle;

	(void)state;
	if (!host_is_root())
		return;
	session = started("seen");
	handle = registered(&provider_guid);
	enabled(session, &provider_guid);
	assert_true(has_guid(TraceGuidQueryList, &provider_guid));
	/* A forked child has its parent's registrations as its own: it sees these without a host. */
	assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
	await_gone(&provider_guid);
	assert_int_equal(host_as_stranger(try_info, NULL), ERROR_WMI_GUID_NOT_FOUND);
	assert_int_equal(host_as_stranger(try_list, NULL), ERROR_NOT_FOUND);
	assert_int_equal(host_as_stranger(try_own, NULL), ERROR_SUCCESS);
	assert_int_equal(EventAccessControl(&guid, EventSecurityAddDACL, &sid, WMIGUID_QUERY, TRUE),
			 ERROR_SUCCESS);
	assert_int_equal(host_as_stranger(try_info, NULL), ERROR_SUCCESS);
	assert_int_equal(EventAccessRemove(&guid), ERROR_SUCCESS);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

enum who {
	NOBODY,
	SESSION,
	GHOST
};

/* TraceQueryInformation: class, whose handle, room, result, bytes. */
static void information__queries(void **state)
{
	static const struct {
		TRACE_INFO_CLASS class_;
		enum who who;
		ULONG room, error, bytes;
	} rows[] = {
		/* [SDK] TRACE_VERSION_INFO; expects 0 for the handle. [CH] another: INVALID_PARAMETER */
		{TraceVersionInfo, NOBODY, 8, ERROR_SUCCESS, 8},
		{TraceVersionInfo, SESSION, 8, ERROR_INVALID_PARAMETER, 0},
		/* [MSD] BAD_LENGTH: less than the least size */
		{TraceVersionInfo, NOBODY, 7, ERROR_BAD_LENGTH, 8},
		/* [SDK] a ULONG; the handle is not used */
		{TraceMaxLoggersQuery, NOBODY, 4, ERROR_SUCCESS, 4},
		{TraceMaxLoggersQuery, SESSION, 4, ERROR_SUCCESS, 4},
		{TraceMaxLoggersQuery, NOBODY, 3, ERROR_BAD_LENGTH, 4},
		{TracePeriodicCaptureStateInfo, GHOST, 8, ERROR_SUCCESS, 8},
		{TracePeriodicCaptureStateInfo, NOBODY, 4, ERROR_BAD_LENGTH, 8},
		/* [DERIVED] no counters: none at a time */
		{TraceMaxPmcCounterQuery, NOBODY, 4, ERROR_SUCCESS, 4},
		/* [SDK] a ULONG; of a session */
		{TraceStreamCount, SESSION, 4, ERROR_SUCCESS, 4},
		{TraceStreamCount, SESSION, 3, ERROR_BAD_LENGTH, 4},
		{TraceStreamCount, NOBODY, 4, ERROR_INVALID_PARAMETER, 0},
		{TraceStreamCount, GHOST, 4, ERROR_WMI_INSTANCE_NOT_FOUND, 0},
		{TraceDisallowListQuery, SESSION, 16, ERROR_SUCCESS, 0},
		{TraceDisallowListQuery, GHOST, 16, ERROR_WMI_INSTANCE_NOT_FOUND, 0},
		/* [DERIVED] of system loggers; test_kernel_information.c has the rest */
		{TraceStackTracingInfo, SESSION, 24, ERROR_INVALID_PARAMETER, 0},
		{TraceStackTracingInfo, NOBODY, 24, ERROR_INVALID_PARAMETER, 0},
		{TraceSystemTraceEnableFlagsInfo, SESSION, 32, ERROR_INVALID_PARAMETER, 0},
		{TraceSystemTraceEnableFlagsInfo, GHOST, 32, ERROR_WMI_INSTANCE_NOT_FOUND, 0},
		{TraceSampledProfileIntervalInfo, NOBODY, 8, ERROR_SUCCESS, 8},
		{TraceSampledProfileIntervalInfo, NOBODY, 7, ERROR_BAD_LENGTH, 8},
		{TraceProfileSourceConfigInfo, NOBODY, 4, ERROR_NOT_SUPPORTED, 0},
		/* [DERIVED] of counters that the machine lacks */
		{TracePmcCounterOwners, NOBODY, ROOM, ERROR_NOT_SUPPORTED, 0},
		{TracePmcSessionInformation, NOBODY, ROOM, ERROR_NOT_SUPPORTED, 0},
		/* [CH] what can only be set, or is none */
		{TraceSetDisallowList, SESSION, 16, ERROR_NOT_SUPPORTED, 0},
		{TraceInfoReserved15, SESSION, 16, ERROR_NOT_SUPPORTED, 0},
		{MaxTraceSetInfoClass, SESSION, 16, ERROR_NOT_SUPPORTED, 0},
	};
	TRACEHANDLE handles[] = {0, started("queries"), 0xFFF0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ULONG bytes = 0;

		memset(room, 0, 64);
		assert_int_equal(TraceQueryInformation(handles[rows[i].who], rows[i].class_, room,
						       rows[i].room, &bytes),
				 rows[i].error);
		assert_int_equal(bytes, rows[i].bytes);
	}
	/* [MSD] ReturnLength is optional */
	assert_int_equal(TraceQueryInformation(0, TraceMaxLoggersQuery, room, 4, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(*(ULONG *)(void *)room, 64);
	assert_int_equal(TraceQueryInformation(0, TraceVersionInfo, NULL, 8, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(handles[SESSION]), ERROR_SUCCESS);
}

static void information__streams(void **state)
{
	TRACEHANDLE handle;

	(void)state;
	/* [SDK] 1 without buffers for each processor */
	assert_int_equal(
		host_start("streams", NULL, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, &handle),
		ERROR_SUCCESS);
	assert_int_equal(TraceQueryInformation(handle, TraceStreamCount, room, 4, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(*(ULONG *)(void *)room, 1);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* TraceSetInformation: class, whose handle, bytes, result. The bytes are zero. */
static void information__settings(void **state)
{
	static const struct {
		TRACE_INFO_CLASS class_;
		enum who who;
		ULONG bytes, error;
	} rows[] = {
		/* [SDK] an array of GUIDs; [CH] INCORRECT_SIZE of arrays */
		{TraceSetDisallowList, SESSION, 16, ERROR_SUCCESS},
		{TraceSetDisallowList, SESSION, 0, ERROR_SUCCESS},
		{TraceSetDisallowList, SESSION, 17, ERROR_INCORRECT_SIZE},
		{TraceSetDisallowList, NOBODY, 16, ERROR_INVALID_PARAMETER},
		{TraceSetDisallowList, GHOST, 0, ERROR_WMI_INSTANCE_NOT_FOUND},
		/* [MSD] below the least frequency it fails; without bytes nothing is captured any more */
		{TracePeriodicCaptureStateListInfo, SESSION, 8, ERROR_INVALID_PARAMETER},
		{TracePeriodicCaptureStateListInfo, SESSION, 7, ERROR_BAD_LENGTH},
		{TracePeriodicCaptureStateListInfo, SESSION, 24, ERROR_BAD_LENGTH},
		{TracePeriodicCaptureStateListInfo, SESSION, 0, ERROR_SUCCESS},
		/* [DERIVED] of system loggers; test_kernel_information.c has the rest */
		{TraceStackTracingInfo, SESSION, 0, ERROR_INVALID_PARAMETER},
		{TraceStackTracingInfo, SESSION, 24, ERROR_INVALID_PARAMETER},
		{TraceStackTracingInfo, SESSION, 23, ERROR_INCORRECT_SIZE},
		{TraceSystemTraceEnableFlagsInfo, SESSION, 32, ERROR_INVALID_PARAMETER},
		{TraceSystemTraceEnableFlagsInfo, SESSION, 36, ERROR_BAD_LENGTH},
		{TraceSystemTraceEnableFlagsInfo, SESSION, 0, ERROR_BAD_LENGTH},
		{TraceSystemTraceEnableFlagsInfo, GHOST, 4, ERROR_WMI_INSTANCE_NOT_FOUND},
		{TraceSampledProfileIntervalInfo, NOBODY, 8, ERROR_INVALID_PARAMETER},
		{TraceSampledProfileIntervalInfo, NOBODY, 4, ERROR_BAD_LENGTH},
		{TraceProfileSourceConfigInfo, NOBODY, 4, ERROR_SUCCESS},
		{TraceProfileSourceConfigInfo, NOBODY, 3, ERROR_INCORRECT_SIZE},
		{TraceProfileSourceListInfo, NOBODY, 4, ERROR_NOT_SUPPORTED},
		/* [HERE] of hardware, and the layout of whose events is unknown */
		{TracePmcEventListInfo, SESSION, 24, ERROR_NOT_SUPPORTED},
		{TracePmcCounterListInfo, SESSION, 4, ERROR_NOT_SUPPORTED},
		{TraceProviderBinaryTracking, SESSION, 1, ERROR_NOT_SUPPORTED},
		{TraceLbrConfigurationInfo, SESSION, 4, ERROR_NOT_SUPPORTED},
		{TraceLbrEventListInfo, SESSION, 4, ERROR_NOT_SUPPORTED},
		{TraceStackCachingInfo, SESSION, 12, ERROR_NOT_SUPPORTED},
		{TraceUnifiedStackCachingInfo, SESSION, 12, ERROR_NOT_SUPPORTED},
		{TraceContextRegisterInfo, SESSION, 8, ERROR_NOT_SUPPORTED},
		/* [CH] what can only be asked for */
		{TraceVersionInfo, NOBODY, 8, ERROR_NOT_SUPPORTED},
		{MaxTraceSetInfoClass, SESSION, 8, ERROR_NOT_SUPPORTED},
	};
	TRACEHANDLE handles[] = {0, started("settings"), 0xFFF0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(room, 0, 64);
		assert_int_equal(TraceSetInformation(handles[rows[i].who], rows[i].class_, room,
						     rows[i].bytes),
				 rows[i].error);
	}
	assert_int_equal(TraceSetInformation(handles[SESSION], TraceSetDisallowList, NULL, 16),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(handles[SESSION]), ERROR_SUCCESS);
}

/* [SDK] An array of GUIDs, which is asked for as it was set; test_groups.c shows what it does. */
static void information__disallow_list(void **state)
{
	GUID guids[2] = {provider_guid, waiting_guid};
	TRACEHANDLE handle = started("disallow");
	ULONG bytes = 1;

	(void)state;
	assert_int_equal(TraceSetInformation(handle, TraceSetDisallowList, guids, sizeof(guids)),
			 ERROR_SUCCESS);
	assert_int_equal(
		TraceQueryInformation(handle, TraceDisallowListQuery, room, sizeof(GUID), &bytes),
		ERROR_BAD_LENGTH);
	assert_int_equal(bytes, sizeof(guids));
	assert_int_equal(TraceQueryInformation(handle, TraceDisallowListQuery, room, ROOM, &bytes),
			 ERROR_SUCCESS);
	assert_memory_equal(room, guids, sizeof(guids));
	assert_int_equal(TraceSetInformation(handle, TraceSetDisallowList, NULL, 0), ERROR_SUCCESS);
	assert_int_equal(TraceQueryInformation(handle, TraceDisallowListQuery, room, ROOM, &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static ULONG captured(void)
{
	return __atomic_load_n(&captures, __ATOMIC_RELAXED);
}

/* [MSD] providers that the session has enabled get CAPTURE_STATE again and again. */
static void information__periodic_capture(void **state)
{
	struct {
		TRACE_PERIODIC_CAPTURE_STATE_INFO info;
		GUID guids[2];
	} list = {{0, 2, 0}, {provider_guid, waiting_guid}};
	TRACE_PERIODIC_CAPTURE_STATE_INFO limits;
	TRACEHANDLE handle = started("capture");
	REGHANDLE provider = registered(&provider_guid), other = registered(&waiting_guid);

	(void)state;
	assert_int_equal(TraceQueryInformation(handle, TracePeriodicCaptureStateInfo, &limits,
					       sizeof(limits), NULL),
			 ERROR_SUCCESS);
	assert_true(limits.ProviderCount >= 2);
	list.info.CaptureStateFrequencyInSeconds = limits.CaptureStateFrequencyInSeconds;
	enabled(handle, &provider_guid); /* and not the other one */
	assert_int_equal(
		TraceSetInformation(handle, TracePeriodicCaptureStateListInfo, &list, sizeof(list)),
		ERROR_SUCCESS);
	for (unsigned i = 0; i < PATIENCE && captured() < 2; i++)
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	assert_true(captured() >= 2);
	assert_int_equal(TraceSetInformation(handle, TracePeriodicCaptureStateListInfo, NULL, 0),
			 ERROR_SUCCESS);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
	assert_int_equal(EventUnregister(other), ERROR_SUCCESS);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* [DERIVED] a processor without branch records */
static void information__branch_records(void **state)
{
	CLASSIC_EVENT_ID event = {0};

	(void)state;
	assert_int_equal(TraceConfigureLastBranchRecord(1, 0, &event, 1), ERROR_NOT_SUPPORTED);
	assert_int_equal(TraceConfigureLastBranchRecord(0, 0, &event, 1), ERROR_INVALID_PARAMETER);
	assert_int_equal(TraceConfigureLastBranchRecord(1, 0, NULL, 1), ERROR_INVALID_PARAMETER);
	assert_int_equal(TraceConfigureLastBranchRecord(1, 0, &event, TRACE_LBR_MAXIMUM_EVENTS + 1),
			 ERROR_INVALID_PARAMETER);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enumerate__arguments),
		cmocka_unit_test(enumerate__list),
		cmocka_unit_test(enumerate__info),
		cmocka_unit_test(enumerate__guids),
		cmocka_unit_test(enumerate__groups),
		cmocka_unit_test(enumerate__what_others_see),
		cmocka_unit_test(information__queries),
		cmocka_unit_test(information__streams),
		cmocka_unit_test(information__settings),
		cmocka_unit_test(information__disallow_list),
		cmocka_unit_test(information__periodic_capture),
		cmocka_unit_test(information__branch_records),
	};

	return cmocka_run_group_tests_name("evntrace.h enumerations", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
