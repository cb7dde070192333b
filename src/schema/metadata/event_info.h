/* SPDX-License-Identifier: MIT */
/*
 * Event metadata that the merge step adds to a trace: TRACE_EVENT_INFO and EVENT_MAP_INFO blobs of the
 * recording machine. Layout: wire/event_info.h.
 */
#ifndef ETW_SCHEMA_EVENT_INFO_H
#define ETW_SCHEMA_EVENT_INFO_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "schema/model.h"

/* The PROPERTY_FLAGS that a field keeps, and that are shown of it again. */
#define ETW_EVENT_INFO_FLAGS                                                                   \
	(PropertyStruct | PropertyParamLength | PropertyParamCount | PropertyWBEMXmlFragment | \
	 PropertyParamFixedLength | PropertyParamFixedCount | PropertyHasTags |                \
	 PropertyHasCustomSchema)

/*
 * etw_event_info_parse() - builds a schema from a TRACE_EVENT_INFO.
 *
 * @ret: lives in @arena; index and the `map` of its fields are left to the caller. The fields may be
 *       written until the schema is handed out.
 *
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_event_info_parse(struct etw_arena *arena, struct etw_bytes blob, struct etw_schema **ret,
			 struct etw_fault *reterr);

/*
 * etw_event_map_parse() - builds a map from a provider GUID followed by an EVENT_MAP_INFO.
 *
 * Pattern maps and maps with string values, which no integer field can use, are refused.
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_event_map_parse(struct etw_arena *arena, struct etw_bytes blob, GUID *ret_provider,
			struct etw_map **ret, struct etw_fault *reterr);

#endif
