/* SPDX-License-Identifier: MIT */
/*
 * evntrace.h: TraceQueryInformation, TraceSetInformation and TraceConfigureLastBranchRecord. Each class is a row that says
 * who answers it. What needs the processor's counters or branch records is refused; what is about the kernel's events is
 * in kernel_information.c.
 */
#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/control/hosts.h"
#include "api/control/kernel_information.h"
#include "api/win32_error.h"
#include "base/macros.h"

#define PROCESSING_VERSION 1  /* of the code that processes traces; ours has one */
#define LOGGERS_DEFAULT    64 /* of a host that nobody has told otherwise */

/* What a class is told of the caller's memory. */
struct request {
	TRACEHANDLE handle;
	ULONG class_;
	void *to;
	ULONG room;
	ULONG *bytes; /* what was written, or what it takes */
};

typedef ULONG answer_function(const struct request *request);

static ULONG give(const struct request *request, const void *at, size_t bytes)
{
	*request->bytes = (ULONG)bytes;
	if (request->room < bytes)
		return ERROR_BAD_LENGTH;
	if (bytes)
		memcpy(request->to, at, bytes);
	return ERROR_SUCCESS;
}

static ULONG inform_error(int result)
{
	return result == -EMSGSIZE ? ERROR_BAD_LENGTH : etw_hosts_error(result);
}

/* What a host knows of a session, or of itself: records of @record_bytes each, of a number one alone. */
static ULONG ask_host(const struct request *request, size_t record_bytes, bool is_number)
{
	CLEANUP(freep) struct etw_control_answer *answer = malloc(sizeof(*answer));
	const struct wire_inform inform = {.class_ = request->class_, .handle = request->handle};
	int result;

	if (!answer)
		return ERROR_NOT_ENOUGH_MEMORY;
	result = etw_hosts_inform(&inform, answer);
	if (result == 0 && (answer->byte_count % record_bytes ||
			    (is_number && answer->byte_count != record_bytes)))
		result = -EPROTO;
	return result ? inform_error(result) : give(request, answer->bytes, answer->byte_count);
}

static ULONG ask_number(const struct request *request)
{
	return ask_host(request, sizeof(ULONG), /* is_number= */ true);
}

static ULONG ask_guids(const struct request *request)
{
	return ask_host(request, sizeof(GUID), /* is_number= */ false);
}

static ULONG give_max_loggers(const struct request *request)
{
	const ULONG by_default = LOGGERS_DEFAULT;
	struct request global = *request;
	ULONG error;

	global.handle = 0; /* Microsoft: TraceId is not used */
	error = ask_number(&global);
	return error == ERROR_WMI_INSTANCE_NOT_FOUND
		       ? give(request, &by_default, sizeof(by_default))
		       : error;
}

static ULONG give_version(const struct request *request)
{
	const TRACE_VERSION_INFO info = {.EtwTraceProcessingVersion = PROCESSING_VERSION};

	return give(request, &info, sizeof(info));
}

static ULONG give_capture_limits(const struct request *request)
{
	const TRACE_PERIODIC_CAPTURE_STATE_INFO info = {
		.CaptureStateFrequencyInSeconds = WIRE_CAPTURE_SECONDS_MIN,
		.ProviderCount = WIRE_CAPTURE_PROVIDERS_MAX,
	};

	return give(request, &info, sizeof(info));
}

/* No counter of the processor's can be recorded. */
static ULONG give_counter_count(const struct request *request)
{
	const ULONG none = 0;

	return give(request, &none, sizeof(none));
}

enum handle_rule {
	HANDLE_NONE,    /* must be 0: the class is about the system */
	HANDLE_IGNORED, /* likewise, but nobody looks */
	HANDLE_SESSION,
};

/* Those that can be asked for; all others are refused. */
static const struct query {
	ULONG class_;
	enum handle_rule rule;
	answer_function *answer;
} queries[] = {
	{TraceVersionInfo, HANDLE_NONE, give_version},
	{TraceDisallowListQuery, HANDLE_SESSION, ask_guids},
	{TracePeriodicCaptureStateInfo, HANDLE_IGNORED, give_capture_limits},
	{TraceMaxLoggersQuery, HANDLE_IGNORED, give_max_loggers},
	{TraceMaxPmcCounterQuery, HANDLE_IGNORED, give_counter_count},
	{TraceStreamCount, HANDLE_SESSION, ask_number},
};

static ULONG check_handle(enum handle_rule rule, TRACEHANDLE handle)
{
	if ((rule == HANDLE_NONE && handle) || (rule == HANDLE_SESSION && !handle))
		return ERROR_INVALID_PARAMETER;
	return ERROR_SUCCESS;
}

ULONG TraceQueryInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass,
			    PVOID TraceInformation, ULONG InformationLength, PULONG ReturnLength)
{
	ULONG bytes = 0, error;
	const struct request request = {
		.handle = SessionHandle,
		.class_ = InformationClass,
		.to = TraceInformation,
		.room = InformationLength,
		.bytes = ReturnLength ? ReturnLength : &bytes,
	};

	if (etw_kernel_information_is(request.class_, /* is_set= */ false)) {
		if (InformationLength && !TraceInformation)
			return ERROR_INVALID_PARAMETER;
		return etw_kernel_information_query(&(const struct etw_kernel_information){
			.handle = SessionHandle,
			.class_ = request.class_,
			.to = TraceInformation,
			.room = InformationLength,
			.ret_bytes = request.bytes,
		});
	}
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		if (queries[i].class_ != request.class_)
			continue;
		if (InformationLength && !TraceInformation)
			return ERROR_INVALID_PARAMETER;
		error = check_handle(queries[i].rule, SessionHandle);
		return error ? error : queries[i].answer(&request);
	}
	return ERROR_NOT_SUPPORTED;
}

/* A list of GUIDs that does not come out even is an array of a wrong size. */
static ULONG check_setting(ULONG class_, const void *information, ULONG bytes)
{
	if (bytes && !information)
		return ERROR_INVALID_PARAMETER;
	if (class_ == TraceSetDisallowList && bytes % sizeof(GUID))
		return ERROR_INCORRECT_SIZE;
	return bytes > WIRE_RUN_BYTES_MAX ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}

ULONG TraceSetInformation(TRACEHANDLE SessionHandle, TRACE_INFO_CLASS InformationClass,
			  PVOID TraceInformation, ULONG InformationLength)
{
	CLEANUP(freep) struct etw_control_answer *answer = NULL;
	const struct wire_inform inform = {
		.is_set = 1,
		.class_ = InformationClass,
		.handle = SessionHandle,
		.bytes = {TraceInformation, InformationLength},
	};
	ULONG error;

	if (etw_kernel_information_is(InformationClass, /* is_set= */ true)) {
		if (InformationLength && !TraceInformation)
			return ERROR_INVALID_PARAMETER;
		return etw_kernel_information_set(&(const struct etw_kernel_information){
			.handle = SessionHandle,
			.class_ = InformationClass,
			.from = TraceInformation,
			.from_bytes = InformationLength,
		});
	}
	if (InformationClass != TraceSetDisallowList &&
	    InformationClass != TracePeriodicCaptureStateListInfo)
		return ERROR_NOT_SUPPORTED;
	error = check_handle(HANDLE_SESSION, SessionHandle);
	if (!error)
		error = check_setting(InformationClass, TraceInformation, InformationLength);
	if (error)
		return error;
	answer = malloc(sizeof(*answer));
	if (!answer)
		return ERROR_NOT_ENOUGH_MEMORY;
	return inform_error(etw_hosts_inform(&inform, answer));
}

/* As on a processor without branch records. */
ULONG TraceConfigureLastBranchRecord(TRACEHANDLE TraceHandle,
				     TRACE_LBR_CONFIGURATION LbrConfiguration,
				     const CLASSIC_EVENT_ID *Events, ULONG EventCount)
{
	(void)LbrConfiguration;
	if (!TraceHandle || EventCount > TRACE_LBR_MAXIMUM_EVENTS || (EventCount && !Events))
		return ERROR_INVALID_PARAMETER;
	return ERROR_NOT_SUPPORTED;
}
