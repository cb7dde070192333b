/* SPDX-License-Identifier: MIT */
/*
 * What the functions of tdh.h share in a process: one schema store, the programs compiled of its schemas and
 * the blobs that were made of them. Made by the first call or the first schema that passes through a trace,
 * freed when the library goes.
 *
 * One lock covers all of it (api/tdh/lock.h). It is held to look a schema up (a warm one is in the store's cache, its blob in
 * the table) and to copy the blob or the property's bytes out. The first question for a provider, and one behind
 * a change of the registry, reads and parses its registered definition under the lock; traces, and the files
 * that a program loads, are read without it. No value is formatted and no callback runs under it. What the
 * lock gave out is not used behind it: a schema of a loaded manifest goes with the manifest, all go with the
 * process.
 */
#ifndef ETW_API_TDH_SHARED_H
#define ETW_API_TDH_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "decode/decode.h"
#include "registry/registry.h"
#include "schema/known/known.h"
#include "schema/store/store.h"
#include "schema/tracepoint/machine.h"

struct etw_tdh_shared {
	struct etw_schema_store *store; /* owned */
	struct etw_decoder *decoder;    /* owned; knows the programs */
	struct etw_table blobs;         /* struct etw_tdh_blob, owned; see blob.h */
	struct etw_registry *registry;  /* the store's */
	struct etw_tdh_loaded *loaded;  /* owned list; see loaded.h */
	uint64_t looked_ns;             /* monotonic: when an unknown event last looked for news */
	struct etw_known *known;        /* the store's; NULL: there is none */
	bool lists_known;               /* enumerations have known providers too */
	struct etw_tracepoint_machine *tracepoints; /* owned */
};

#endif
