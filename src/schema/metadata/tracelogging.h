/* SPDX-License-Identifier: MIT */
/*
 * TraceLogging: the schema is in the event. Extended item 11 holds the event's metadata, item 12 the
 * provider's traits. Layout: docs/format/tracelogging.md.
 */
#ifndef ETW_SCHEMA_TRACELOGGING_H
#define ETW_SCHEMA_TRACELOGGING_H

#include <evntprov.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "schema/model.h"

/*
 * etw_tracelogging_parse() - builds the schema of a TraceLogging event.
 *
 * @descriptor: of the event; goes into the schema
 * @metadata:   contents of extended item 11
 * @ret:        provider, provider_name and index are left to the caller; lives in @arena
 * @reterr:     also filled, with 0 returned, when the metadata was damaged behind fields that could be
 *              read; structure is NULL when it was in order
 *
 * A variable array becomes a UINT16 `<name>.Count` and an array that refers to it; binary data a
 * UINT16 `<name>.Length` and a field that refers to it. Names are UTF-8, whatever the metadata holds.
 * Returns 0; -EBADMSG when not even the event's name can be read; -ENOMEM.
 */
int etw_tracelogging_parse(struct etw_arena *arena, const EVENT_DESCRIPTOR *descriptor,
			   struct etw_bytes metadata, struct etw_schema **ret,
			   struct etw_fault *reterr);

/*
 * etw_tracelogging_provider_name() - the provider's name in the contents of extended item 12.
 *
 * Returns the length without NUL and sets *ret to text inside @traits, which may be no UTF-8 (see
 * etw_tracelogging_copy_name()); 0 when there is none.
 */
size_t etw_tracelogging_provider_name(struct etw_bytes traits, const char **ret);

/*
 * etw_tracelogging_copy_name() - a name of metadata or traits as UTF-8.
 *
 * @name: NUL-terminated; what is not valid UTF-8 is read as Windows-1252
 *
 * Returns a copy in @arena, or NULL when memory ran out.
 */
const char *etw_tracelogging_copy_name(struct etw_arena *arena, const char *name);

#endif
