/* SPDX-License-Identifier: MIT */
/* tdh.h: the names of a property's values. */
#include <tdh.h>
#include <winerror.h>

#include "api/record.h"
#include "api/tdh/blob.h"
#include "api/tdh/find.h"
#include "api/tdh/give.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/tdh/wide_name.h"
#include "api/win32_error.h"
#include "schema/provider_schema.h"

/* The event's own properties first: a name of another provider's map is none of this event. */
static const struct etw_map *find_map(const struct etw_schema *schema, const WCHAR *name)
{
	const struct etw_provider_schema *owner = schema->owner;

	for (uint16_t i = 0; i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];

		if (field->map && etw_wide_is(name, field->map->name))
			return field->map;
	}
	for (size_t i = 0; owner && i < owner->map_count; i++) {
		if (etw_wide_is(name, owner->maps[i].name))
			return &owner->maps[i];
	}
	return NULL;
}

/* Holding the lock. */
static ULONG give_map(struct etw_tdh_shared *shared, const struct etw_map *map,
		      EVENT_MAP_INFO *buffer, ULONG *size)
{
	const struct etw_tdh_blob *blob;

	TRY_WIN32(etw_tdh_map_blob(shared, map, &blob));
	return etw_tdh_give(blob->at, blob->bytes, buffer, *size, size);
}

TDHSTATUS TdhGetEventMapInformation(PEVENT_RECORD pEvent, LPWSTR pMapName, PEVENT_MAP_INFO pBuffer,
				    PULONG pBufferSize)
{
	const struct etw_schema *schema;
	struct etw_tdh_shared *shared;
	const struct etw_map *map;
	ULONG error = ERROR_NOT_FOUND;

	if (!etw_api_has_record(pEvent) || !pMapName || !pBufferSize || (*pBufferSize && !pBuffer))
		return ERROR_INVALID_PARAMETER;
	TRY_WIN32(etw_tdh_lock_for_event(pEvent, &shared, &schema));
	map = find_map(schema, pMapName);
	if (map)
		error = give_map(shared, map, pBuffer, pBufferSize);
	etw_tdh_unlock();
	return error;
}
