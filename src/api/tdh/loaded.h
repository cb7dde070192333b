/* SPDX-License-Identifier: MIT */
/*
 * Manifests and binaries that the process has loaded. Each lives in an arena of its own and is lent to the
 * store, so that unloading gives the memory back.
 */
#ifndef ETW_API_TDH_LOADED_H
#define ETW_API_TDH_LOADED_H

#include "base/arena.h"
#include "base/sha1.h"
#include "schema/store/store_installed.h"
#include "schema/store/store_loans.h"

struct etw_tdh_shared;

struct etw_tdh_loaded {
	struct etw_tdh_loaded *next;
	char *path; /* owned; NULL: from memory */
	char *name; /* owned; NULL, or how the file was called, in its folder's full path */
	uint8_t sha1[ETW_SHA1_BYTES]; /* of what was in memory */
	struct etw_definition *definition;
	struct etw_schema_loan loan;
	struct etw_arena arena;
};

/* etw_tdh_loaded_free() - frees one; takes NULL. */
void etw_tdh_loaded_free(struct etw_tdh_loaded *loaded);

/*
 * etw_tdh_loaded_add() - lends a definition to the store, in the place of one of the same origin.
 *
 * Takes @loaded. Returns 0 or -ENOMEM: then what was loaded stays as it was. Context: holding etw_tdh_lock().
 */
int etw_tdh_loaded_add(struct etw_tdh_shared *shared, struct etw_tdh_loaded *loaded);

/*
 * etw_tdh_loaded_remove() - unloads what has this origin.
 *
 * @path: the file's full path, or its name in the full path of its folder; NULL: from memory, by @sha1
 *
 * Returns 0; -ESRCH when nothing such is loaded; -ENOMEM. Context: holding etw_tdh_lock().
 */
int etw_tdh_loaded_remove(struct etw_tdh_shared *shared, const char *path, const uint8_t *sha1);

/* etw_tdh_loaded_done() - frees all; the store is gone. */
void etw_tdh_loaded_done(struct etw_tdh_loaded *first);

#endif
