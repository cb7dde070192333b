/* SPDX-License-Identifier: MIT */
#include "api/tdh/answer.h"

#include <winerror.h>

#include <string.h>

#include "api/tdh/give.h"
#include "base/guid.h"
#include "base/utf.h"
#include "registry/registry.h"

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

static bool is_registered(const struct etw_registry *registry, const GUID *guid)
{
	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_row row = etw_registry_entry(registry, i).row;

		if (row.role == WIRE_REGISTRY_PROVIDER && row.source != DecodingSourceWPP &&
		    etw_guid_equal(&row.guid, guid))
			return true;
	}
	return false;
}

ULONG etw_tdh_provider(struct etw_tdh_state *state, const GUID *guid,
		       const struct etw_provider_schema **ret)
{
	const struct etw_provider_schema *found = etw_schema_store_demand_provider(state->store,
										   guid);

	if (found) {
		*ret = found;
		return ERROR_SUCCESS;
	}
	return is_registered(state->registry, guid) ? ERROR_FILE_NOT_FOUND : ERROR_NOT_FOUND;
}
