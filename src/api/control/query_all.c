/* SPDX-License-Identifier: MIT */
/* evntrace.h: QueryAllTraces. */
#include <evntrace.h>
#include <winerror.h>

#include <stdlib.h>

#include "api/control/hosts.h"

#define ARRAY_COUNT_MAX 256 /* Windows' largest limit of sessions */

typedef ULONG (*query_function)(TRACEHANDLE handle, PEVENT_TRACE_PROPERTIES properties);

static ULONG query_wide(TRACEHANDLE handle, PEVENT_TRACE_PROPERTIES properties)
{
	return QueryTraceW(handle, NULL, properties);
}

static ULONG query_narrow(TRACEHANDLE handle, PEVENT_TRACE_PROPERTIES properties)
{
	return QueryTraceA(handle, NULL, properties);
}

/*
 * Fills one block for each session. One that ended since the list was made leaves no hole. @count: of the
 * sessions that are there, also of those without a block.
 */
static ULONG query_each(const uint64_t *handles, size_t count, PEVENT_TRACE_PROPERTIES *blocks,
			size_t block_count, query_function query, PULONG ret_count)
{
	size_t filled = 0, gone = 0;

	for (size_t i = 0; i < count && filled < block_count; i++) {
		ULONG error = query(handles[i], blocks[filled]);

		if (error == ERROR_WMI_INSTANCE_NOT_FOUND) {
			gone++;
			continue;
		}
		/* A name that is too long for its place is the caller's loss alone. */
		if (error && error != ERROR_MORE_DATA)
			return error;
		filled++;
	}
	*ret_count = (ULONG)(count - gone);
	return count - gone > block_count ? ERROR_MORE_DATA : ERROR_SUCCESS;
}

static ULONG query_all(PEVENT_TRACE_PROPERTIES *blocks, ULONG block_count, PULONG ret_count,
		       query_function query)
{
	uint64_t handles[ARRAY_COUNT_MAX];
	size_t count;
	int result;

	if (!blocks || !ret_count || !block_count || block_count > ARRAY_COUNT_MAX)
		return ERROR_INVALID_PARAMETER;
	for (ULONG i = 0; i < block_count; i++) {
		if (!blocks[i])
			return ERROR_INVALID_PARAMETER;
	}
	result = etw_hosts_list(handles, ARRAY_COUNT_MAX, &count);
	if (result)
		return etw_hosts_error(result);
	if (count > ARRAY_COUNT_MAX)
		count = ARRAY_COUNT_MAX;
	return query_each(handles, count, blocks, block_count, query, ret_count);
}

ULONG QueryAllTracesW(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount,
		      PULONG LoggerCount)
{
	return query_all(PropertyArray, PropertyArrayCount, LoggerCount, query_wide);
}

ULONG QueryAllTracesA(PEVENT_TRACE_PROPERTIES *PropertyArray, ULONG PropertyArrayCount,
		      PULONG LoggerCount)
{
	return query_all(PropertyArray, PropertyArrayCount, LoggerCount, query_narrow);
}
