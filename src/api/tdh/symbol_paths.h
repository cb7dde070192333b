/* SPDX-License-Identifier: MIT */
/*
 * What callers name as the files of WPP messages, and where those files are. Folders of a search path are separated
 * by semicolons, empty ones are none; each may be a Windows path (base/path.h).
 */
#ifndef ETW_API_TDH_SYMBOL_PATHS_H
#define ETW_API_TDH_SYMBOL_PATHS_H

#include <stdbool.h>

#include <etw/wintypes.h>
#include <guiddef.h>

/* UTF-8; NULL: not named. */
struct etw_symbol_paths {
	char *tmf_file;
	char *tmf_search_path;
	char *pdb_path;
	char *environment; /* TRACE_FORMAT_SEARCH_PATH */
};

/*
 * etw_symbol_paths_read() - takes over what a caller names, NULL for nothing, and the environment.
 *
 * @ret: owned strings; etw_symbol_paths_done() frees them
 *
 * Returns 0 or -ENOMEM. Context: any thread, while none changes the environment.
 */
int etw_symbol_paths_read(const WCHAR *tmf_file, const WCHAR *tmf_search_path,
			  const WCHAR *pdb_path, struct etw_symbol_paths *ret);

/* etw_symbol_paths_copy() - the same names again; as etw_symbol_paths_read(). */
int etw_symbol_paths_copy(const struct etw_symbol_paths *paths, struct etw_symbol_paths *ret);

/* etw_symbol_paths_done() - frees the strings. */
void etw_symbol_paths_done(struct etw_symbol_paths *paths);

/* etw_symbol_paths_equal() - whether both name the same, letter by letter. */
bool etw_symbol_paths_equal(const struct etw_symbol_paths *left,
			    const struct etw_symbol_paths *right);

/*
 * etw_symbol_paths_find_tmf() - where the TMF file is that they name.
 *
 * @ret: an owned path
 *
 * A relative name that is not in the current folder is looked for in the search path and the environment's.
 * Returns 0; -ENOENT, also when none is named; -ENOMEM.
 */
int etw_symbol_paths_find_tmf(const struct etw_symbol_paths *paths, char **ret);

/* etw_symbol_paths_find_pdb() - the same for the PDB, which no path is searched for. */
int etw_symbol_paths_find_pdb(const struct etw_symbol_paths *paths, char **ret);

/* etw_symbol_paths_find_guid() - the same for `<guid>.tmf`, the current folder being the last to look in. */
int etw_symbol_paths_find_guid(const struct etw_symbol_paths *paths, const GUID *guid, char **ret);

/* etw_symbol_paths_has_folder() - whether any part of the search path is a folder; 1, 0 or -ENOMEM. */
int etw_symbol_paths_has_folder(const struct etw_symbol_paths *paths);

#endif
