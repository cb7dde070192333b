/* SPDX-License-Identifier: MIT */
/*
 * WEVT_TEMPLATE resources, the compiled form of instrumentation manifests, as the model of providers.
 * Layout: wire/wevt.h. Rules, and what a resource does not say: docs/design/schema-store.md.
 */
#ifndef ETW_SCHEMA_WEVT_H
#define ETW_SCHEMA_WEVT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "schema/compiled/message_table.h"
#include "schema/provider_schema.h"

/*
 * etw_wevt_parse() - reads a resource.
 *
 * @blob:   borrowed for the call
 * @tables: @table_count message tables; a text is taken from the first that has it; borrowed for the call
 * @ret:    lives in @arena; the `index` of the schemas is left to the caller
 *
 * Time and memory stay in proportion to the bytes of the resource and the tables.
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_wevt_parse(struct etw_arena *arena, struct etw_bytes blob,
		   const struct etw_message_table *tables, size_t table_count,
		   struct etw_definition **ret, struct etw_fault *reterr);

#endif
