/* SPDX-License-Identifier: MIT */
/*
 * Where the messages of WPP events are found, and those that were found. Each file is read once, when the first
 * event needs it, and what it says is kept until the symbols are freed. That a GUID has no file is kept as well,
 * for the ETW_SYMBOLS_MISSES_MAX GUIDs that were asked for last.
 *
 * The order: the PDB and the TMF file that the caller names, then `<message-guid>.tmf` (symbol_paths.h).
 * Context: any thread; calls on the same symbols take turns.
 */
#ifndef ETW_API_TDH_SYMBOLS_H
#define ETW_API_TDH_SYMBOLS_H

#include <evntcons.h>

#include "api/tdh/symbol_paths.h"
#include "decode/decode.h"

/* Files larger than this are no symbols. */
#define ETW_SYMBOLS_TMF_BYTES_MAX ((size_t)256 << 20)
#define ETW_SYMBOLS_PDB_BYTES_MAX ((size_t)1 << 30)

/* GUIDs without a file that are remembered; beyond them those that were not asked for lately are forgotten. */
#define ETW_SYMBOLS_MISSES_MAX 65536

struct etw_symbols;

/* etw_symbols_create() - symbols of these paths, which are copied; owned. Returns 0 or -ENOMEM. */
int etw_symbols_create(const struct etw_symbol_paths *paths, struct etw_symbols **ret);

/* etw_symbols_free() - takes NULL; nobody may hold the lock. */
void etw_symbols_free(struct etw_symbols *symbols);

/* etw_symbols_paths() - what they were created with; lives as long as they. */
const struct etw_symbol_paths *etw_symbols_paths(const struct etw_symbols *symbols);

/*
 * etw_symbols_lock() - decodes a WPP event with them; the caller holds their lock then.
 *
 * @record: borrowed as long as @ret is used
 * @ret: has a schema with a WPP message; valid until etw_symbols_unlock()
 *
 * Returns 0 with the lock; without it -ESRCH when the event is no WPP event or no file has its message; what
 * reading the file that it should be in failed with, -EBADMSG if it is damaged; -ENOMEM. What memory or descriptors
 * did not suffice for is tried again by the next call.
 */
int etw_symbols_lock(struct etw_symbols *symbols, const EVENT_RECORD *record,
		     struct etw_decoding *ret);

/* etw_symbols_unlock() - gives the lock back. */
void etw_symbols_unlock(struct etw_symbols *symbols);

#endif
