/* SPDX-License-Identifier: MIT */
/* Files that define one provider differently: told of once for each provider, with both files. */
#ifndef ETW_TOOLS_COMMON_CONFLICT_H
#define ETW_TOOLS_COMMON_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/provider_schema.h"

/* A provider as the first file has it. */
struct etw_conflict_provider {
	const struct etw_provider_schema *schema; /* borrowed */
	const char *path;                         /* borrowed */
	bool is_told;
};

struct etw_conflicts {
	struct etw_conflict_provider *at; /* owned */
	size_t count;
};

/* etw_conflicts_done() - takes a zeroed struct. */
void etw_conflicts_done(struct etw_conflicts *conflicts);

/*
 * etw_conflicts_add() - holds what a file defines against the files before it.
 *
 * @path, @definition: borrowed as long as @conflicts
 *
 * Two definitions conflict when they give a provider different names, or an event different fields. Returns 0 or
 * -ENOMEM.
 */
int etw_conflicts_add(struct etw_conflicts *conflicts, const char *path,
		      const struct etw_definition *definition);

/* etw_conflict_tell() - the sentence. @name, @other_name: as the files have them; NULL or equal: the fields differ. */
void etw_conflict_tell(const GUID *guid, const char *path, const char *name, const char *other_path,
		       const char *other_name);

#endif
