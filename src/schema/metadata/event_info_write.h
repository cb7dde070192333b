/* SPDX-License-Identifier: MIT */
/*
 * Schemas, filters and maps as TDH shows them: TRACE_EVENT_INFO, PROVIDER_FILTER_INFO and EVENT_MAP_INFO, byte for
 * byte where Windows 8's TDH puts things. The mirror image of schema/metadata/event_info.h. Layout: wire/event_info.h.
 */
#ifndef ETW_SCHEMA_EVENT_INFO_WRITE_H
#define ETW_SCHEMA_EVENT_INFO_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "schema/provider_schema.h"

/*
 * etw_event_info_write() - a schema as TRACE_EVENT_INFO.
 *
 * @ret: owned memory of malloc()
 *
 * Strings lie without gaps: of each property its name and its map's name, then those of provider, level,
 * channel, keywords, task, opcode, message, provider message, event name and attributes. Messages of
 * manifests get the blank that TDH leaves of their line's end. Flags that only the model knows are left out,
 * and so is the binary XML, which the model does not keep.
 * Returns 0; -EMSGSIZE when an offset would not fit 32 bits; -ENOMEM.
 * Source: tests/conformance/tdh, from the blobs of merged traces.
 */
int etw_event_info_write(const struct etw_schema *schema, uint8_t **ret, size_t *ret_bytes);

/*
 * etw_filter_info_write() - a filter as PROVIDER_FILTER_INFO.
 *
 * @ret: owned memory of malloc()
 *
 * Properties are written as those of events are, members of structs behind the top-level ones; then the strings
 * of each, then the message. Filters of manifests are the only ones. Returns as etw_event_info_write().
 * Source: PROVIDER_FILTER_INFO.
 */
int etw_filter_info_write(const struct etw_filter_schema *filter, uint8_t **ret, size_t *ret_bytes);

/*
 * etw_event_map_write() - a map as EVENT_MAP_INFO.
 *
 * @ret: owned memory of malloc()
 *
 * One unused entry lies between the entries and the strings. Texts of a manifest's map get a blank at the
 * end. Returns as etw_event_info_write().
 */
int etw_event_map_write(const struct etw_map *map, uint8_t **ret, size_t *ret_bytes);

#endif
