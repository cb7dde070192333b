/* SPDX-License-Identifier: MIT */
/* The event schemas that a user names with --manifest, and whether they were of any use. */
#ifndef ETW_TOOLS_COMMON_MANIFEST_H
#define ETW_TOOLS_COMMON_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "schema/store/store.h"
#include "tools/common/conflict.h"

/* What came of one --manifest. */
struct etw_manifest {
	const char *argument; /* borrowed */
	uint32_t from, to;    /* the indices of its schemas in the store */
	bool is_used;
};

struct etw_manifests {
	struct etw_manifest *at; /* owned */
	size_t count;
	struct etw_conflicts conflicts;
	const struct etw_schema_store *store; /* borrowed: that they are in; NULL: none */
};

/* etw_manifests_done() - takes a zeroed struct. */
void etw_manifests_done(struct etw_manifests *manifests);

/*
 * etw_manifests_load() - reads what one --manifest names: an instrumentation manifest, a PE file with compiled event
 * schemas, or a WEVT_TEMPLATE resource by itself, a MOF file, or the WPP messages of a TMF file or a PDB; of a folder
 * all such files below it, by the rule of `wevtutil im`.
 *
 * @argument: borrowed as long as @manifests
 *
 * Tells what is wrong on standard error: a file that cannot be read is an error when it was named, and
 * a warning in a folder, where files without schemas are passed over. Returns 0 or -1.
 */
int etw_manifests_load(struct etw_manifests *manifests, struct etw_schema_store *store,
		       const char *argument);

/* etw_manifests_mark() - for etw_manifests_note(). */
void etw_manifests_mark(struct etw_manifests *manifests, const struct etw_schema *schema);

/* etw_manifests_note() - that an event has this schema; NULL: none. */
static inline void etw_manifests_note(struct etw_manifests *manifests,
				      const struct etw_schema *schema)
{
	if (UNLIKELY(manifests->count && schema))
		etw_manifests_mark(manifests, schema);
}

/*
 * etw_manifests_tell() - after all events: tells on standard error of what was named for nothing, and of damage in the
 * table of known providers.
 */
void etw_manifests_tell(const struct etw_manifests *manifests);

#endif
