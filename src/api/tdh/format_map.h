/* SPDX-License-Identifier: MIT */
/* A value's name in an EVENT_MAP_INFO, which is the caller's and may have been changed by it. */
#ifndef ETW_API_TDH_FORMAT_MAP_H
#define ETW_API_TDH_FORMAT_MAP_H

#include <stdbool.h>

#include <tdh.h>

#include "base/text.h"

/* etw_tdh_map_applies() - whether TDH looks values of this in-type up in this map; takes NULL. */
bool etw_tdh_map_applies(const EVENT_MAP_INFO *map, USHORT in_type);

/*
 * etw_tdh_map_write() - appends the name or names of @value, as decode/format.h writes them.
 *
 * @map:   one that etw_tdh_map_applies() to
 * @names: empty, for use meanwhile
 *
 * Texts are taken as they are, a blank at their end with them: TDH leaves it to the caller to cut it.
 * Returns false, nothing appended, when the map has no name for it, or memory ran out for @names (remembered there).
 * Context: any thread; no lock, and no allocation once both texts are large enough.
 */
bool etw_tdh_map_write(const EVENT_MAP_INFO *map, uint32_t value, struct etw_text *names,
		       struct etw_text *text);

#endif
