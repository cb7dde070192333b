/* SPDX-License-Identifier: MIT */
/*
 * TRACE_EVENT_INFO and EVENT_MAP_INFO blobs as callers get them, made once and kept in what is shared (api/tdh/shared.h).
 *
 * Built-in kernel classes have fields that only the model knows: optional ones at the end and arrays that go
 * on to the end of the payload. TDH has neither, so an event's blob leaves out the fields that the payload
 * does not have, and gives the array the number of elements that it has: whoever walks the properties finds
 * exactly what is there.
 */
#ifndef ETW_API_TDH_BLOB_H
#define ETW_API_TDH_BLOB_H

#include <stdint.h>

#include "api/tdh/shared.h"

#define ETW_TDH_NO_PROPERTY UINT32_MAX

struct etw_tdh_blob {
	const void *of;   /* the schema or map it was made of; borrowed from the store */
	uint32_t dropped; /* optional fields at the end that it leaves out */
	uint32_t open;    /* property whose count is the event's, or ETW_TDH_NO_PROPERTY */
	bool is_variable; /* of an event: the payload decides on shape or count */
	size_t bytes;
	uint8_t *at; /* owned */
};

/* etw_tdh_blobs_done() - frees the table and the blobs. */
void etw_tdh_blobs_done(struct etw_table *blobs);

/*
 * etw_tdh_event_blob() - the blob of an event.
 *
 * @schema: of the event
 * @ret: lives as long as what is shared
 * @ret_count: what the count of property @ret->open is to be
 *
 * Returns 0; -ENOMEM; -EMSGSIZE when the schema has more text than offsets can tell.
 * Context: holding etw_tdh_lock().
 */
int etw_tdh_event_blob(struct etw_tdh_shared *shared, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const struct etw_tdh_blob **ret,
		       uint16_t *ret_count);

/* etw_tdh_schema_blob() - the blob of a schema without an event: every field; returns as etw_tdh_event_blob(). */
int etw_tdh_schema_blob(struct etw_tdh_shared *shared, const struct etw_schema *schema,
			const struct etw_tdh_blob **ret);

/* etw_tdh_map_blob() - the blob of a map; returns as etw_tdh_event_blob(). */
int etw_tdh_map_blob(struct etw_tdh_shared *shared, const struct etw_map *map,
		     const struct etw_tdh_blob **ret);

#endif
