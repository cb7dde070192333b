/* SPDX-License-Identifier: MIT */
/* Schemas in compiled form for a store (schema/store/store.h): PE files and WEVT_TEMPLATE resources. */
#ifndef ETW_SCHEMA_STORE_BINARY_H
#define ETW_SCHEMA_STORE_BINARY_H

#include "schema/compiled/binary.h"
#include "schema/store/store.h"

/*
 * etw_schema_store_add_binary() - reads the schemas of a file on disk, as etw_binary_read() does.
 *
 * What they say counts like a manifest that the user named (etw_schema_store_add_manifest()).
 * Returns 0; -ENODATA when the file is a PE file without schemas; -EBADMSG with @reterr (offset in the
 * file); -ENOMEM; -EFBIG; what opening and reading fail with. On failure no answer of the store changes.
 */
int etw_schema_store_add_binary(struct etw_schema_store *store, const char *path,
				const char *message_path, const char *const *languages,
				struct etw_fault *reterr);

/*
 * etw_schema_store_add_binary_bytes() - the same from memory, as etw_binary_parse() does.
 *
 * Returns 0; -ENODATA; -EBADMSG with @reterr; -ENOMEM. On failure no answer of the store changes.
 */
int etw_schema_store_add_binary_bytes(struct etw_schema_store *store, struct etw_bytes file,
				      struct etw_bytes messages, const char *const *languages,
				      struct etw_fault *reterr);

#endif
