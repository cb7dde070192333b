/* SPDX-License-Identifier: MIT */
/* Taking in schemas in compiled form. */
#include "schema/store/store_binary.h"

#include "base/macros.h"
#include "schema/store/store_internal.h"

int etw_schema_store_add_binary_bytes(struct etw_schema_store *store, struct etw_bytes file,
				      struct etw_bytes messages, const char *const *languages,
				      struct etw_fault *reterr)
{
	struct etw_definition *definition;

	TRY(etw_binary_parse(&store->arena, file, messages, languages, &definition, reterr));
	return etw_store_keep_definition(store, definition, ETW_SCHEMA_ORIGIN_USER);
}
