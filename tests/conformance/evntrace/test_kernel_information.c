/* SPDX-License-Identifier: MIT */
/*
 * What of the kernel's events a session wants, by every way to say it: EnableFlags and what they lead to, information
 * classes, system providers. What is wanted is asked for again; none of it takes the rights to record the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/host.h"

#define LIMIT_S   1500
#define ROOM      8192
#define EX_OFFSET offsetof(struct extended, words)

static uint8_t room[ROOM];

static const GUID thread_class = {
	0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID perf_info_class = {
	0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
static const GUID image_class = {
	0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};

/* Properties with room for what flags may lead to. */
struct extended {
	EVENT_TRACE_PROPERTIES properties;
	char logger[64];
	uint32_t words[300];
};

static struct extended block;

static void init(uint32_t flags)
{
	memset(&block, 0, sizeof(block));
	block.properties.Wnode.BufferSize = sizeof(block);
	block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block.properties.LoggerNameOffset = offsetof(struct extended, logger);
	block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_SYSTEM_LOGGER_MODE;
	block.properties.BufferSize = 4;
	block.properties.EnableFlags = flags;
}

static TRACEHANDLE start(uint32_t flags)
{
	TRACEHANDLE handle = 0;

	init(flags);
	assert_int_equal(StartTraceA(&handle, "kernel", &block.properties), ERROR_SUCCESS);
	return handle;
}

static void assert_masks(TRACEHANDLE handle, uint32_t first, uint32_t second, uint32_t fifth)
{
	uint32_t masks[8];
	ULONG bytes = 0;

	assert_int_equal(TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo, masks,
					       sizeof(masks), &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, sizeof(masks));
	assert_int_equal(masks[0], first);
	assert_int_equal(masks[1], second);
	assert_int_equal(masks[4], fifth);
}

/* [CH] 1 to 8 words; EnableFlags show what of them flags can say. */
static void kernel__masks_are_set_as_a_whole(void **state)
{
	TRACEHANDLE handle = start(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH);
	uint32_t masks[8] = {EVENT_TRACE_FLAG_THREAD, 0x2, 0, 0, 0x8000, 0, 0, 0};
	struct host_block query;

	(void)state;
	assert_masks(handle, EVENT_TRACE_FLAG_PROCESS, 0x4, 0);
	assert_int_equal(
		TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof(masks)),
		ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_THREAD, 0x2, 0x8000);
	host_block_init(&query, NULL);
	assert_int_equal(ControlTraceA(handle, NULL, &query.properties, EVENT_TRACE_CONTROL_QUERY),
			 ERROR_SUCCESS);
	assert_int_equal(query.properties.EnableFlags,
			 EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_PROFILE);
	/* [HERE] an update that leaves the flags as they are leaves what they cannot say */
	assert_int_equal(ControlTraceA(handle, NULL, &query.properties, EVENT_TRACE_CONTROL_UPDATE),
			 ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_THREAD, 0x2, 0x8000);
	query.properties.EnableFlags = EVENT_TRACE_FLAG_PROCESS;
	assert_int_equal(ControlTraceA(handle, NULL, &query.properties, EVENT_TRACE_CONTROL_UPDATE),
			 ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_PROCESS, 0, 0);
	assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 4),
			 ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_THREAD, 0, 0);
	assert_int_equal(
		TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 31, NULL),
		ERROR_BAD_LENGTH);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* [SDK] CLASSIC_EVENT_ID; at most 256, by class and type; the last list counts. */
static void kernel__stacks_by_event(void **state)
{
	static CLASSIC_EVENT_ID events[257];
	TRACEHANDLE handle = start(EVENT_TRACE_FLAG_CSWITCH);
	ULONG bytes = 1;

	(void)state;
	for (size_t i = 0; i < 257; i++)
		events[i] = (CLASSIC_EVENT_ID){thread_class, (UCHAR)i, {0}};
	assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, events, sizeof(events)),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(
		TraceSetInformation(handle, TraceStackTracingInfo, events, 256 * sizeof(events[0])),
		ERROR_SUCCESS);
	events[0] = (CLASSIC_EVENT_ID){thread_class, 36, {0}};
	events[1] = (CLASSIC_EVENT_ID){perf_info_class, 46, {0}};
	events[2] = (CLASSIC_EVENT_ID){image_class, 10, {0}};
	assert_int_equal(
		TraceSetInformation(handle, TraceStackTracingInfo, events, 3 * sizeof(events[0])),
		ERROR_SUCCESS);
	assert_int_equal(TraceQueryInformation(handle, TraceStackTracingInfo, room, ROOM, &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, 3 * sizeof(events[0]));
	assert_memory_equal(room, events, bytes);
	/* A class that is none of the kernel's: nothing changes. */
	events[1].EventGuid.Data1++;
	assert_int_equal(
		TraceSetInformation(handle, TraceStackTracingInfo, events, 3 * sizeof(events[0])),
		ERROR_INVALID_PARAMETER);
	assert_int_equal(TraceQueryInformation(handle, TraceStackTracingInfo, room, 1, &bytes),
			 ERROR_BAD_LENGTH);
	assert_int_equal(bytes, 3 * sizeof(events[0]));
	assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, NULL, 0),
			 ERROR_SUCCESS);
	assert_int_equal(TraceQueryInformation(handle, TraceStackTracingInfo, NULL, 0, &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static ULONG set_interval(TRACEHANDLE handle, ULONG source, ULONG interval)
{
	TRACE_PROFILE_INTERVAL info = {source, interval};

	return TraceSetInformation(handle, TraceSampledProfileIntervalInfo, &info, sizeof(info));
}

static void assert_source_interval(TRACEHANDLE handle, ULONG source, ULONG interval)
{
	TRACE_PROFILE_INTERVAL info = {source, 0};

	assert_int_equal(TraceQueryInformation(handle, TraceSampledProfileIntervalInfo, &info,
					       sizeof(info), NULL),
			 ERROR_SUCCESS);
	assert_int_equal(info.Interval, interval);
}

static void assert_interval(TRACEHANDLE handle, ULONG interval)
{
	assert_source_interval(handle, 0, interval);
}

/* [MSD] tracelog -SetProfInt: 122.1 us to 1 s; by default 1 ms. [HERE] without a session: of all that have none. */
static void kernel__interval_of_samples(void **state)
{
	TRACE_PROFILE_INTERVAL info = {3, 0};
	TRACEHANDLE handle = start(EVENT_TRACE_FLAG_PROFILE);

	(void)state;
	assert_interval(0, 10000);
	assert_interval(handle, 10000);
	assert_int_equal(set_interval(0, 0, 20000), ERROR_SUCCESS);
	assert_interval(0, 20000);
	assert_interval(handle, 20000);
	assert_int_equal(set_interval(handle, 0, 1221), ERROR_SUCCESS);
	assert_interval(handle, 1221);
	assert_interval(0, 20000);
	assert_int_equal(set_interval(handle, 0, 10000000), ERROR_SUCCESS);
	assert_int_equal(set_interval(handle, 0, 1220), ERROR_INVALID_PARAMETER);
	assert_int_equal(set_interval(0, 0, 10000001), ERROR_INVALID_PARAMETER);
	/* [HERE] 3 is known to no Linux, and of counters a session has the interval */
	assert_int_equal(set_interval(handle, 3, 10000), ERROR_NOT_SUPPORTED);
	assert_int_equal(set_interval(0, 2, 10000), ERROR_NOT_SUPPORTED);
	assert_int_equal(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &info,
					       sizeof(info), NULL),
			 ERROR_NOT_SUPPORTED);
	assert_interval(handle, 10000000);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
	/* It was of that session alone, and that of all stays. */
	handle = start(EVENT_TRACE_FLAG_PROFILE);
	assert_interval(handle, 20000);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static ULONG set_interval_of_all(void *context)
{
	(void)context;
	return set_interval(0, 0, 30000);
}

static void kernel__interval_is_not_for_strangers(void **state)
{
	TRACEHANDLE handle;

	(void)state;
	if (!host_is_root())
		skip();
	handle = start(0);
	assert_int_equal(host_as_stranger(set_interval_of_all, NULL), ERROR_ACCESS_DENIED);
	assert_interval(0, 20000);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* Which of the list has a number; NULL: none. */
static const PROFILE_SOURCE_INFO *listed(ULONG source)
{
	const uint8_t *at = room;

	for (;;) {
		const PROFILE_SOURCE_INFO *info = (const PROFILE_SOURCE_INFO *)(const void *)at;

		if (info->Source == source)
			return info;
		if (!info->NextEntryOffset)
			return NULL;
		at += info->NextEntryOffset;
	}
}

#define PAGE_FAULTS 0x1002 /* of Linux' own */
#define LLC_MISSES  29

/* [SDK] PROFILE_SOURCE_INFO: the clock, which all machines have, and what this one can be sampled by. */
static void kernel__sources_of_samples(void **state)
{
	const PROFILE_SOURCE_INFO *info = (const PROFILE_SOURCE_INFO *)(const void *)room;
	ULONG bytes = 0;

	(void)state;
	assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, room, 0, &bytes),
			 ERROR_BAD_LENGTH);
	assert_true(bytes >= 36);
	assert_int_equal(
		TraceQueryInformation(0, TraceProfileSourceListInfo, room, bytes - 1, NULL),
		ERROR_BAD_LENGTH);
	assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, room, ROOM, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(info->Source, 0);
	assert_int_equal(info->MinInterval, 1221);
	assert_int_equal(info->MaxInterval, 10000000);
	assert_memory_equal(info->Description, u"Timer", 12);
	assert_int_equal(info->NextEntryOffset % 8, 0);
	/* Page faults are counted by every kernel, which may forbid to look. */
	info = listed(PAGE_FAULTS);
	if (!info && !host_is_root())
		skip();
	assert_non_null(info);
	assert_int_equal(info->MinInterval, 1);
	assert_int_equal(info->MaxInterval, 0x7FFFFFFF);
	assert_memory_equal(info->Description, u"PageFaults", 22);
}

/* [SDK] TraceProfileSourceConfigInfo; [DERIVED] a source that is not listed is refused. */
static void kernel__sources_are_chosen(void **state)
{
	ULONG sources[] = {0, PAGE_FAULTS}, unknown = 3;
	TRACEHANDLE handle;

	(void)state;
	assert_int_equal(TraceSetInformation(0, TraceProfileSourceConfigInfo, sources, 4),
			 ERROR_SUCCESS);
	assert_int_equal(TraceSetInformation(0, TraceProfileSourceConfigInfo, sources, 8),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TraceSetInformation(0, TraceProfileSourceConfigInfo, sources, 6),
			 ERROR_INCORRECT_SIZE);
	assert_int_equal(TraceSetInformation(0, TraceProfileSourceConfigInfo, &unknown, 4),
			 ERROR_NOT_SUPPORTED);
	if (!host_is_root())
		skip();
	handle = start(0);
	assert_int_equal(TraceSetInformation(handle, TraceProfileSourceConfigInfo, sources, 8),
			 ERROR_SUCCESS);
	assert_int_equal(set_interval(handle, PAGE_FAULTS, 0), ERROR_INVALID_PARAMETER);
	assert_int_equal(set_interval(handle, PAGE_FAULTS, 0x80000000), ERROR_INVALID_PARAMETER);
	assert_int_equal(set_interval(handle, PAGE_FAULTS, 7), ERROR_SUCCESS);
	assert_int_equal(set_interval(handle, 3, 5000), ERROR_NOT_SUPPORTED);
	assert_int_equal(set_interval(0, PAGE_FAULTS, 7), ERROR_NOT_SUPPORTED);
	assert_source_interval(handle, PAGE_FAULTS, 7);
	assert_source_interval(handle, 0x1003, 100);
	assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, room, ROOM, NULL),
			 ERROR_SUCCESS);
	sources[1] = LLC_MISSES;
	assert_int_equal(TraceSetInformation(handle, TraceProfileSourceConfigInfo, sources, 8),
			 listed(LLC_MISSES) ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED);
	assert_int_equal(set_interval(handle, LLC_MISSES, 4095), ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static uint32_t extension(uint32_t length)
{
	return UINT32_C(0x80000000) | length << 16 | (uint32_t)EX_OFFSET;
}

/* [CH] TRACE_ENABLE_FLAG_EXTENSION: words of masks behind the structure. */
static void kernel__flags_that_lead_to_masks(void **state)
{
	TRACEHANDLE handle = 0;

	(void)state;
	init(extension(5));
	block.words[0] = EVENT_TRACE_FLAG_THREAD;
	block.words[1] = 0x6;
	block.words[4] = 0x8000;
	assert_int_equal(StartTraceA(&handle, "kernel", &block.properties), ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_THREAD, 0x6, 0x8000);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* [CH] TRACE_ENABLE_FLAG_EXT_HEADER: items of masks and of hooks. */
static void kernel__flags_that_lead_to_items(void **state)
{
	TRACEHANDLE handle = 0;
	CLASSIC_EVENT_ID *events = (CLASSIC_EVENT_ID *)(void *)room;
	ULONG bytes = 0;

	(void)state;
	init(extension(0xFF));
	block.words[0] = 7 | 2 << 16;
	block.words[1] = 3 | 1 << 16;
	block.words[2] = EVENT_TRACE_FLAG_PROCESS;
	block.words[3] = 0x4;
	block.words[4] = 3 | 3 << 16;
	block.words[5] = 0x0524;
	block.words[6] = 0x0F2E;
	assert_int_equal(StartTraceA(&handle, "kernel", &block.properties), ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_PROCESS, 0x4, 0);
	assert_int_equal(TraceQueryInformation(handle, TraceStackTracingInfo, room, ROOM, &bytes),
			 ERROR_SUCCESS);
	assert_int_equal(bytes, 2 * sizeof(*events));
	assert_memory_equal(&events[0].EventGuid, &thread_class, sizeof(GUID));
	assert_int_equal(events[1].Type, 46);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

/* Whatever lies there, it is refused before anything is made. */
static void kernel__flags_that_lead_astray(void **state)
{
	static const struct {
		uint32_t flags, head, item;
		ULONG error;
	} rows[] = {
		{0x80000000, 0, 0, ERROR_INVALID_PARAMETER},
		{0xFFFFFFFF, 0, 0, ERROR_INVALID_PARAMETER},
		{0x8001FFFF, 0, 0, ERROR_INVALID_PARAMETER},
		{0x80010000 + sizeof(struct extended), 0, 0, ERROR_INVALID_PARAMETER},
		{0x80020000 + sizeof(struct extended) - 4, 0, 0, ERROR_INVALID_PARAMETER},
		{0x80010000 + sizeof(EVENT_TRACE_PROPERTIES) - 4, 0, 0, ERROR_INVALID_PARAMETER},
		{0x80000000 | EX_OFFSET, 0, 0, ERROR_INVALID_PARAMETER},
		{0x80090000 | EX_OFFSET, 0, 0, ERROR_INVALID_PARAMETER},
		/* items: no length, beyond the block, an item without a length, beyond the items */
		{0x80FF0000 | EX_OFFSET, 0, 0, ERROR_INVALID_PARAMETER},
		{0x80FF0000 | EX_OFFSET, 302 | 1 << 16, 1 | 1 << 16, ERROR_INVALID_PARAMETER},
		{0x80FF0000 | EX_OFFSET, 2 | 1 << 16, 0 | 1 << 16, ERROR_INVALID_PARAMETER},
		{0x80FF0000 | EX_OFFSET, 2 | 1 << 16, 3 | 1 << 16, ERROR_INVALID_PARAMETER},
		{0x80FF0000 | EX_OFFSET, 2 | 2 << 16, 1 | 3 << 16, ERROR_INVALID_PARAMETER},
		{0x80FF0000 | EX_OFFSET, 300 | 1 << 16, 258 | 3u << 16, ERROR_INVALID_PARAMETER},
		{0x80FF0000 | EX_OFFSET, 300 | 1 << 16, 10 | 1u << 16, ERROR_INVALID_PARAMETER},
		/* KNOWN_GAP: of processes, tags of pools, caches of stacks */
		{0x80FF0000 | EX_OFFSET, 3 | 1 << 16, 2 | 2 << 16, ERROR_NOT_SUPPORTED},
		{0x80FF0000 | EX_OFFSET, 3 | 1 << 16, 2 | 4 << 16, ERROR_NOT_SUPPORTED},
		{0x80FF0000 | EX_OFFSET, 4 | 1 << 16, 3 | 5 << 16, ERROR_NOT_SUPPORTED},
		{0x80FF0000 | EX_OFFSET, 2 | 1 << 16, 1 | 99 << 16, ERROR_NOT_SUPPORTED},
	};
	TRACEHANDLE handle = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ULONG error;

		init(rows[i].flags);
		block.words[0] = rows[i].head;
		block.words[1] = rows[i].item;
		error = StartTraceA(&handle, "kernel", &block.properties);
		if (error != rows[i].error)
			fail_msg("row %zu: %u, not %u", i, error, rows[i].error);
	}
}

static ULONG enable(TRACEHANDLE handle, const GUID *provider, ULONGLONG keywords)
{
	return EnableTraceEx2(handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, keywords, 0,
			      1000, NULL);
}

static ULONG disable(TRACEHANDLE handle, const GUID *provider)
{
	return EnableTraceEx2(handle, provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0,
			      NULL);
}

/* [MSD] System Providers: each keyword is a kind of events of a session that is a system logger. */
static void kernel__system_providers(void **state)
{
	TRACEHANDLE handle = start(EVENT_TRACE_FLAG_REGISTRY);

	(void)state;
	assert_int_equal(enable(handle, &SystemProcessProviderGuid,
				SYSTEM_PROCESS_KW_GENERAL | SYSTEM_PROCESS_KW_LOADER),
			 ERROR_SUCCESS);
	assert_masks(handle,
		     EVENT_TRACE_FLAG_REGISTRY | EVENT_TRACE_FLAG_PROCESS |
			     EVENT_TRACE_FLAG_IMAGE_LOAD,
		     0, 0);
	assert_int_equal(
		enable(handle, &SystemSchedulerProviderGuid,
		       SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH | SYSTEM_SCHEDULER_KW_DISPATCHER),
		ERROR_SUCCESS);
	assert_int_equal(enable(handle, &SystemProfileProviderGuid, SYSTEM_PROFILE_KW_GENERAL),
			 ERROR_SUCCESS);
	/* Other keywords take the place of those before. */
	assert_int_equal(enable(handle, &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_THREAD),
			 ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_REGISTRY | EVENT_TRACE_FLAG_THREAD, 0x206, 0);
	assert_int_equal(disable(handle, &SystemSchedulerProviderGuid), ERROR_SUCCESS);
	assert_int_equal(disable(handle, &SystemProcessProviderGuid), ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_REGISTRY, 0x2, 0);
	/* [DERIVED] keywords 0 are all */
	assert_int_equal(enable(handle, &SystemObjectProviderGuid, 0), ERROR_SUCCESS);
	assert_masks(handle, EVENT_TRACE_FLAG_REGISTRY, 0x2, 0xC0);
	/* [HERE] keywords whose events nobody has placed are taken, and told */
	assert_int_equal(
		enable(handle, &SystemSchedulerProviderGuid, SYSTEM_SCHEDULER_KW_AUTOBOOST),
		ERROR_SUCCESS);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static void kernel__system_providers_are_of_system_loggers(void **state)
{
	ENABLE_TRACE_PARAMETERS parameters = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE,
	};
	TRACEHANDLE plain, handle = start(0);

	(void)state;
	assert_int_equal(host_start("plain", NULL, 0, &plain), ERROR_SUCCESS);
	assert_int_equal(enable(plain, &SystemProcessProviderGuid, 1), ERROR_INVALID_PARAMETER);
	assert_int_equal(host_stop(plain), ERROR_SUCCESS);
	/* [HERE] stacks are asked for by event, and there is no rundown on demand */
	assert_int_equal(EnableTraceEx2(handle, &SystemProcessProviderGuid,
					EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 1, 0, 0,
					&parameters),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(EnableTraceEx2(handle, &SystemProcessProviderGuid,
					EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 1, 0, 0, NULL),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(host_stop(handle), ERROR_SUCCESS);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel__masks_are_set_as_a_whole),
		cmocka_unit_test(kernel__stacks_by_event),
		cmocka_unit_test(kernel__interval_of_samples),
		cmocka_unit_test(kernel__interval_is_not_for_strangers),
		cmocka_unit_test(kernel__sources_of_samples),
		cmocka_unit_test(kernel__sources_are_chosen),
		cmocka_unit_test(kernel__flags_that_lead_to_masks),
		cmocka_unit_test(kernel__flags_that_lead_to_items),
		cmocka_unit_test(kernel__flags_that_lead_astray),
		cmocka_unit_test(kernel__system_providers),
		cmocka_unit_test(kernel__system_providers_are_of_system_loggers),
	};

	return cmocka_run_group_tests_name("kernel information", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
