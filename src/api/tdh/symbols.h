/* SPDX-License-Identifier: MIT */
/*
 * Where the messages of WPP events are found, and those that were found. Each file is read once, when the first
 * event needs it, and what it says is kept until the symbols are freed; so is the answer that a GUID has no
 * file.
 *
 * The order: the PDB and the TMF file that the caller names, `<message-guid>.tmf` in the folders of the search
 * path, in those of TRACE_FORMAT_SEARCH_PATH, in the current folder.
 * Context: any thread; calls on the same symbols take turns.
 */
#ifndef ETW_API_TDH_SYMBOLS_H
#define ETW_API_TDH_SYMBOLS_H

#include <evntcons.h>

#include "decode/decode.h"

/* Files larger than this are no symbols. */
#define ETW_SYMBOLS_TMF_BYTES_MAX ((size_t)256 << 20)
#define ETW_SYMBOLS_PDB_BYTES_MAX ((size_t)1 << 30)

/* GUIDs without a message that are remembered; beyond them all are looked for anew. */
#define ETW_SYMBOLS_MISSES_MAX 65536

/* What the caller names; NULL: nothing. Folders of a path are separated by semicolons. UTF-8. */
struct etw_symbol_paths {
	const char *tmf_file;
	const char *tmf_search_path;
	const char *pdb_path;
	const char *environment; /* TRACE_FORMAT_SEARCH_PATH */
};

struct etw_symbols;

/* etw_symbols_create() - @paths are copied. Returns 0 or -ENOMEM. */
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
 * reading the file that it should be in failed with, -EBADMSG if it is damaged; -ENOMEM.
 */
int etw_symbols_lock(struct etw_symbols *symbols, const EVENT_RECORD *record,
		     struct etw_decoding *ret);

/* etw_symbols_unlock() - gives the lock back. */
void etw_symbols_unlock(struct etw_symbols *symbols);

/*
 * etw_symbols_find_file() - where a TMF file or PDB is that a caller names.
 *
 * @search_path: tried for relative names that are not in the current folder; may be NULL
 * @ret: an owned path
 *
 * Returns 0; -ENOENT; -ENOMEM.
 */
int etw_symbols_find_file(const char *name, const char *search_path, char **ret);

/* etw_symbols_has_folder() - whether any part of a search path is a folder; -ENOMEM, 0 or 1. */
int etw_symbols_has_folder(const char *search_path);

#endif
