/* SPDX-License-Identifier: MIT */
/*
 * What the functions of tdh.h share in a process: one schema store, the programs compiled of its schemas and
 * the blobs that were made of them. Made by the first call or the first schema that passes through a trace,
 * freed when the library goes.
 *
 * One lock covers all of it. It is held to look a schema up (a warm one is in the store's cache, its blob in
 * the table) and to copy the blob or the property's bytes out. The first question for a provider, and one behind
 * a change of the registry, reads and parses its registered definition under the lock; traces, and the files
 * that a program loads, are read without it. No value is formatted and no callback runs under it. What the
 * lock gave out is not used behind it: a schema of a loaded manifest goes with the manifest, all go with the
 * process.
 */
#ifndef ETW_API_TDH_SHARED_H
#define ETW_API_TDH_SHARED_H

#include <evntcons.h>

#include "base/table.h"
#include "decode/decode.h"
#include "registry/registry.h"
#include "schema/known/known.h"
#include "schema/store/store.h"

struct etw_tdh_shared {
	struct etw_schema_store *store; /* owned */
	struct etw_decoder *decoder;    /* owned; knows the programs */
	struct etw_table blobs;         /* struct etw_tdh_blob, owned; see blob.h */
	struct etw_registry *registry;  /* the store's */
	struct etw_tdh_loaded *loaded;  /* owned list; see loaded.h */
	uint64_t looked_ns;             /* monotonic: when an unknown event last looked for news */
	struct etw_known *known;        /* the store's; NULL: there is none */
	bool lists_known;               /* enumerations have known providers too */
};

/*
 * etw_tdh_lock() - the process's shared, made when there is none; the caller holds the lock then.
 *
 * Returns 0, or -ENOMEM without the lock. Context: any thread.
 */
int etw_tdh_lock(struct etw_tdh_shared **ret);

/* etw_tdh_unlock() - gives the lock back. */
void etw_tdh_unlock(void);

/*
 * etw_tdh_look_again() - a trace is opened: what was registered before that counts for its events.
 *
 * Context: any thread that does not hold the lock.
 */
void etw_tdh_look_again(void);

/*
 * etw_tdh_note_build() - which Windows wrote the events that this thread is given from now on.
 *
 * Questions of this thread are about them; those of a thread that is given none are about the trace that was opened
 * last. Context: any thread.
 */
void etw_tdh_note_build(uint32_t build);

/*
 * etw_tdh_use_known() - how the process uses the table of known providers from now on.
 *
 * @use: LIBETW_TDH_KNOWN_EVENTS, _LISTED, _OFF (etw/schemas.h)
 *
 * Returns 0 or -ENOMEM. Context: any thread.
 */
int etw_tdh_use_known(uint32_t use);

/*
 * etw_tdh_learn() - takes in a schema that an event carries (etw_schema_store_is_metadata()).
 *
 * @record: borrowed for the call
 *
 * Returns 0 or -ENOMEM. Context: any thread that does not hold the lock.
 */
int etw_tdh_learn(const EVENT_RECORD *record);

/*
 * etw_tdh_lock_for_event() - the shared, locked, and the schema of an event.
 *
 * @record: borrowed for the call
 * @ret_schema: valid while the lock is held
 *
 * When nothing is known of the event, or only what is installed or in the table of known providers, the files that
 * this process has opened are searched for schemas, each once (trace_files.h), before that is the answer. Of several
 * layouts, it is the one that uses up the payload (etw_decoder_choose()).
 * Returns 0 with the lock; without it -ESRCH when the event has no schema, which is also what events of one
 * plain string have; -ENOMEM; what kept a file from being searched, -ENOMEM, -EMFILE or -ENFILE. Context: any thread.
 */
int etw_tdh_lock_for_event(const EVENT_RECORD *record, struct etw_tdh_shared **ret,
			   const struct etw_schema **ret_schema);

#endif
