/* SPDX-License-Identifier: MIT */
/* Schemas in compiled form for a store (schema/store/store.h): PE files and WEVT_TEMPLATE resources. */
#ifndef ETW_SCHEMA_STORE_BINARY_H
#define ETW_SCHEMA_STORE_BINARY_H

#include "schema/compiled/binary.h"
#include "schema/store/store.h"

/*
 * etw_schema_store_add_binary_bytes() - reads the schemas of a file in memory, as etw_binary_parse() does.
 *
 * What they say counts like a manifest that the user named (etw_schema_store_add_manifest()).
 * Returns 0; -ENODATA when a PE file has no schemas; -EBADMSG with @reterr (offset in the file); -ENOMEM. On
 * failure no answer of the store changes.
 */
int etw_schema_store_add_binary_bytes(struct etw_schema_store *store, struct etw_bytes file,
				      struct etw_bytes messages, const char *const *languages,
				      struct etw_fault *reterr);

#endif
