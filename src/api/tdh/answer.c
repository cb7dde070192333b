/* SPDX-License-Identifier: MIT */
#include "api/tdh/answer.h"

#include <winerror.h>

#include <errno.h>
#include <string.h>

#include "api/tdh/give.h"
#include "api/win32_error.h"
#include "base/utf.h"

static void put_wide(struct etw_text *answer, const char *string)
{
	size_t bytes = strlen(string);
	size_t units = etw_utf8_put_utf16(string, bytes, NULL);
	char *to = etw_text_begin(answer, 2 * units);

	if (!to)
		return;
	(void)etw_utf8_put_utf16(string, bytes, (uint8_t *)to);
	etw_text_end(answer, to + 2 * units);
}

ULONG etw_tdh_answer_string(struct etw_text *answer, size_t base, const char *string,
			    const char *tail)
{
	size_t offset = answer->bytes - base;

	if (!string)
		return 0;
	put_wide(answer, string);
	put_wide(answer, tail);
	etw_text_append(answer, "\0", 2);
	return (ULONG)offset;
}

ULONG etw_tdh_answer_give(const struct etw_text *answer, void *buffer, ULONG room, ULONG *size)
{
	if (etw_text_error(answer))
		return ERROR_NOT_ENOUGH_MEMORY;
	return etw_tdh_give(answer->at, answer->bytes, buffer, room, size);
}

static ULONG map_provider(int result)
{
	if (result == -ESRCH)
		return ERROR_NOT_FOUND;
	return result == -EBADMSG ? ERROR_FILE_NOT_FOUND : etw_win32_from_result(result);
}

ULONG etw_tdh_provider_of_event(struct etw_tdh_shared *shared, const GUID *guid,
				const struct etw_provider_schema **ret)
{
	(void)etw_schema_store_look_again(shared->store);
	return map_provider(etw_schema_store_demand_provider(shared->store, guid, ret));
}

ULONG etw_tdh_provider(struct etw_tdh_shared *shared, const GUID *guid,
		       const struct etw_provider_schema **ret)
{
	ULONG error = etw_tdh_provider_of_event(shared, guid, ret);

	if (error != ERROR_NOT_FOUND)
		return error;
	return map_provider(etw_tracepoint_machine_find(shared->tracepoints, guid, ret));
}
