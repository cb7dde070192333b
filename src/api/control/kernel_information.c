/* SPDX-License-Identifier: MIT */
#include "api/control/kernel_information.h"

#include <winerror.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/control/hosts.h"
#include "api/win32_error.h"
#include "base/bytes.h"
#include "base/macros.h"
#include "base/profile_source.h"
#include "wire/hook.h"

#define SOURCE_TIMER ETW_PROFILE_SOURCE_TIMER /* its place is its number */
#define SOURCE_ALIGN 8u
#define SOURCE_UNITS (ETW_PROFILE_SOURCE_NAME_MAX + 1)
#define SOURCE_BYTES (offsetof(PROFILE_SOURCE_INFO, Description) + 2 * SOURCE_UNITS)

typedef ULONG information_function(const struct etw_kernel_information *call);

static ULONG give(const struct etw_kernel_information *call, const void *at, size_t bytes)
{
	*call->ret_bytes = (ULONG)bytes;
	if (call->room < bytes)
		return ERROR_BAD_LENGTH;
	if (bytes)
		memcpy(call->to, at, bytes);
	return ERROR_SUCCESS;
}

/* What a session wants, of a system logger. */
static ULONG get_wanted(const struct etw_kernel_information *call, struct wire_kernel_request *ret)
{
	CLEANUP(freep) struct wire_control *control = calloc(1, sizeof(*control));
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	int result;

	if (!call->handle)
		return ERROR_INVALID_PARAMETER;
	if (!control || !info)
		return ERROR_NOT_ENOUGH_MEMORY;
	control->code = WIRE_CONTROL_QUERY;
	control->handle = call->handle;
	result = etw_hosts_control(control, info);
	if (result)
		return etw_hosts_error(result);
	*ret = info->config.kernel;
	return info->is_kernel ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

static ULONG change(const struct etw_kernel_information *call,
		    const struct wire_kernel_request *wanted)
{
	CLEANUP(freep) struct wire_control *control = calloc(1, sizeof(*control));
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));

	if (!call->handle)
		return ERROR_INVALID_PARAMETER;
	if (!control || !info)
		return ERROR_NOT_ENOUGH_MEMORY;
	control->code = WIRE_CONTROL_KERNEL;
	control->handle = call->handle;
	control->config.kernel = *wanted;
	return etw_hosts_error(etw_hosts_control(control, info));
}

static ULONG query_masks(const struct etw_kernel_information *call)
{
	struct wire_kernel_request now;
	ULONG error = get_wanted(call, &now);

	return error ? error : give(call, now.group_masks, sizeof(now.group_masks));
}

/* Words that are not there are 0. */
static ULONG set_masks(const struct etw_kernel_information *call)
{
	struct wire_kernel_request wanted = {.parts = WIRE_KERNEL_MASKS};

	if (!call->from_bytes || call->from_bytes > sizeof(wanted.group_masks) ||
	    call->from_bytes % sizeof(ULONG))
		return ERROR_BAD_LENGTH;
	memcpy(wanted.group_masks, call->from, call->from_bytes);
	return change(call, &wanted);
}

static ULONG query_stacks(const struct etw_kernel_information *call)
{
	CLEANUP(freep) CLASSIC_EVENT_ID *events = NULL;
	struct wire_kernel_request now;
	ULONG error = get_wanted(call, &now);

	if (error)
		return error;
	events = calloc(now.stack_hook_count + 1, sizeof(*events));
	if (!events)
		return ERROR_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < now.stack_hook_count; i++) {
		uint16_t hook = now.stack_hooks[i];

		events[i].Type = (UCHAR)hook;
		events[i].EventGuid = *etw_hook_class((uint8_t)(hook >> 8), events[i].Type);
	}
	return give(call, events, now.stack_hook_count * sizeof(*events));
}

/* The last list counts; without one no event has stacks. */
static ULONG set_stacks(const struct etw_kernel_information *call)
{
	struct wire_kernel_request wanted = {.parts = WIRE_KERNEL_STACKS};
	size_t count = call->from_bytes / sizeof(CLASSIC_EVENT_ID);

	if (call->from_bytes % sizeof(CLASSIC_EVENT_ID))
		return ERROR_INCORRECT_SIZE;
	if (count > WIRE_STACK_HOOKS_MAX)
		return ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = (const uint8_t *)call->from + i * sizeof(CLASSIC_EVENT_ID);
		CLASSIC_EVENT_ID event;

		memcpy(&event, at, sizeof(event));
		if (!etw_hook_find(&event.EventGuid, event.Type, &wanted.stack_hooks[i]))
			return ERROR_INVALID_PARAMETER;
	}
	wanted.stack_hook_count = (uint32_t)count;
	return change(call, &wanted);
}

static ULONG ask_machine(const struct wire_inform *inform, struct etw_control_answer *answer)
{
	int result = inform->is_set ? etw_hosts_inform_machine(inform, answer)
				    : etw_hosts_inform(inform, answer);

	return result == -EMSGSIZE ? ERROR_BAD_LENGTH : etw_hosts_error(result);
}

/* That of the sessions that have none of their own. */
static ULONG query_machine_interval(TRACE_PROFILE_INTERVAL *ret)
{
	CLEANUP(freep) struct etw_control_answer *answer = malloc(sizeof(*answer));
	const struct wire_inform inform = {.class_ = TraceSampledProfileIntervalInfo};
	ULONG error;

	if (!answer)
		return ERROR_NOT_ENOUGH_MEMORY;
	error = ask_machine(&inform, answer);
	/* Nobody records anything: it is as it will be, unless somebody had set it. */
	if (error == ERROR_WMI_INSTANCE_NOT_FOUND) {
		ret->Interval = etw_profile_source(SOURCE_TIMER)->interval;
		return ERROR_SUCCESS;
	}
	if (!error && answer->byte_count != sizeof(*ret))
		return ERROR_INVALID_DATA;
	if (!error)
		memcpy(ret, answer->bytes, sizeof(*ret));
	return error;
}

static ULONG query_interval(const struct etw_kernel_information *call)
{
	TRACE_PROFILE_INTERVAL interval;
	struct wire_kernel_request now = {0};
	ULONG error = ERROR_SUCCESS;
	uint32_t place;

	*call->ret_bytes = sizeof(interval);
	if (call->room < sizeof(interval))
		return ERROR_BAD_LENGTH;
	memcpy(&interval, call->to, sizeof(interval));
	if (!etw_profile_source_find(interval.Source, &place))
		return ERROR_NOT_SUPPORTED;
	if (call->handle)
		error = get_wanted(call, &now);
	if (place == SOURCE_TIMER)
		interval.Interval = now.profile_interval_ft;
	else if (now.source_intervals[place])
		interval.Interval = now.source_intervals[place];
	else
		interval.Interval = etw_profile_source(place)->interval;
	if (!error && !interval.Interval)
		error = query_machine_interval(&interval);
	return error ? error : give(call, &interval, sizeof(interval));
}

static ULONG set_machine_interval(const struct etw_kernel_information *call)
{
	CLEANUP(freep) struct etw_control_answer *answer = malloc(sizeof(*answer));
	const struct wire_inform inform = {
		.is_set = 1, .class_ = call->class_, .bytes = {call->from, call->from_bytes}};

	return answer ? ask_machine(&inform, answer) : ERROR_NOT_ENOUGH_MEMORY;
}

/* Of the timer for a session or all of them, of others for a session. */
static ULONG set_interval(const struct etw_kernel_information *call)
{
	struct wire_kernel_request wanted = {.parts = WIRE_KERNEL_INTERVAL};
	TRACE_PROFILE_INTERVAL interval;
	uint32_t place;

	if (call->from_bytes != sizeof(interval))
		return ERROR_BAD_LENGTH;
	memcpy(&interval, call->from, sizeof(interval));
	if (!etw_profile_source_find(interval.Source, &place))
		return ERROR_NOT_SUPPORTED;
	if (!etw_profile_source_allows(place, interval.Interval))
		return ERROR_INVALID_PARAMETER;
	if (!call->handle)
		return place == SOURCE_TIMER ? set_machine_interval(call) : ERROR_NOT_SUPPORTED;
	if (place == SOURCE_TIMER) {
		wanted.profile_interval_ft = interval.Interval;
	} else {
		wanted.parts = WIRE_KERNEL_SOURCE_INTERVALS;
		wanted.source_intervals[place] = interval.Interval;
	}
	return change(call, &wanted);
}

/* Returns how many bytes, a multiple of SOURCE_ALIGN unless it @is_last. */
static size_t put_source(uint8_t *at, uint32_t place, bool is_last)
{
	const struct etw_profile_source *source = etw_profile_source(place);
	const size_t units = strlen(source->name) + 1;
	size_t bytes = offsetof(PROFILE_SOURCE_INFO, Description) + 2 * units;
	PROFILE_SOURCE_INFO info = {
		.Source = source->id,
		.MinInterval = source->interval_min,
		.MaxInterval = source->interval_max,
	};

	if (!is_last) {
		bytes = (bytes + SOURCE_ALIGN - 1) / SOURCE_ALIGN * SOURCE_ALIGN;
		info.NextEntryOffset = (ULONG)bytes;
	}
	memcpy(at, &info, offsetof(PROFILE_SOURCE_INFO, Description));
	for (size_t i = 0; i < units; i++)
		etw_store16(at + offsetof(PROFILE_SOURCE_INFO, Description) + 2 * i,
			    (uint16_t)source->name[i]);
	return bytes;
}

/* The timer, which every machine has, and what else this process can open. */
static ULONG query_sources(const struct etw_kernel_information *call)
{
	uint8_t room[ETW_PROFILE_SOURCES * (SOURCE_BYTES + SOURCE_ALIGN)] = {0};
	uint32_t left = etw_profile_sources_probe(etw_perf_open) | UINT32_C(1) << SOURCE_TIMER;
	size_t bytes = 0;

	for (uint32_t i = 0; left; i++) {
		if (!(left >> i & 1))
			continue;
		left &= ~(UINT32_C(1) << i);
		bytes += put_source(room + bytes, i, left == 0);
	}
	return give(call, room, bytes);
}

/* What is sampled by the clock is so anyway, by every session that wants samples. */
static ULONG set_sources(const struct etw_kernel_information *call)
{
	struct wire_kernel_request wanted = {.parts = WIRE_KERNEL_SOURCES};

	if (!call->from_bytes || call->from_bytes % sizeof(ULONG))
		return ERROR_INCORRECT_SIZE;
	for (ULONG i = 0; i < call->from_bytes; i += sizeof(ULONG)) {
		uint32_t place;

		if (!etw_profile_source_find(etw_load32((const uint8_t *)call->from + i), &place))
			return ERROR_NOT_SUPPORTED;
		if (place != SOURCE_TIMER)
			wanted.profile_sources |= UINT32_C(1) << place;
	}
	if (!call->handle)
		return wanted.profile_sources ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
	return change(call, &wanted);
}

static const struct {
	ULONG class_;
	information_function *query, *set; /* NULL: it cannot be */
} classes[] = {
	{TraceStackTracingInfo, query_stacks, set_stacks},
	{TraceSystemTraceEnableFlagsInfo, query_masks, set_masks},
	{TraceSampledProfileIntervalInfo, query_interval, set_interval},
	{TraceProfileSourceListInfo, query_sources, NULL},
	{TraceProfileSourceConfigInfo, NULL, set_sources},
};

static information_function *find(ULONG class_, bool is_set)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (classes[i].class_ == class_)
			return is_set ? classes[i].set : classes[i].query;
	}
	return NULL;
}

bool etw_kernel_information_is(ULONG class_, bool is_set)
{
	return find(class_, is_set) != NULL;
}

ULONG etw_kernel_information_query(const struct etw_kernel_information *call)
{
	return find(call->class_, /* is_set= */ false)(call);
}

ULONG etw_kernel_information_set(const struct etw_kernel_information *call)
{
	return find(call->class_, /* is_set= */ true)(call);
}
