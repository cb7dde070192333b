/* SPDX-License-Identifier: MIT */
#include "api/tdh/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "base/table.h"
#include "schema/store/store.h"

/* A GUID whose file was looked for, and why that did not help with every message. */
struct tried_guid {
	GUID guid;
	int result; /* 0: a file was read; -ENOENT: there is none; else what reading failed with */
};

struct etw_symbols {
	struct etw_symbol_paths paths; /* owned strings */
	pthread_mutex_t lock;          /* protects all below */
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_table tried; /* struct tried_guid, owned */
	bool has_read_named;
	int named_result; /* of the PDB and TMF file that the caller names; 0: read, or none is named */
};

/* --- Files */

static int read_tmf(struct etw_symbols *symbols, const char *path)
{
	CLEANUP(freep) char *file = NULL;
	size_t bytes;

	TRY(etw_file_read(path, ETW_SYMBOLS_TMF_BYTES_MAX, &file, &bytes));
	return etw_schema_store_add_tmf(symbols->store, file, bytes, NULL);
}

static int read_pdb(struct etw_symbols *symbols, const char *path)
{
	CLEANUP(freep) char *file = NULL;
	size_t bytes;

	TRY(etw_file_read(path, ETW_SYMBOLS_PDB_BYTES_MAX, &file, &bytes));
	return etw_schema_store_add_pdb(symbols->store, file, bytes, NULL);
}

/* --- Paths */

/* The next folder of a path, owned, and where to go on; NULL at the end, or without memory. */
static char *next_folder(const char **path, int *result)
{
	while (*path && **path) {
		size_t bytes = strcspn(*path, ";");
		char *folder = bytes ? strndup(*path, bytes) : NULL;

		*path += bytes + ((*path)[bytes] == ';');
		if (folder)
			return folder;
		if (bytes) {
			*result = -ENOMEM;
			return NULL;
		}
	}
	return NULL;
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* @name in one folder of a path. Returns 0 with an owned path, -ENOENT or -ENOMEM. */
static int find_in_path(const char *search_path, const char *name, char **ret)
{
	int result = -ENOENT;

	for (;;) {
		CLEANUP(freep) char *folder = next_folder(&search_path, &result);
		CLEANUP(freep) char *resolved = NULL;
		CLEANUP(freep) char *path = NULL;

		if (!folder)
			return result;
		if (etw_path_resolve(folder, &resolved) < 0)
			continue;
		if (asprintf(&path, "%s/%s", resolved, name) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		if (is_file(path)) {
			*ret = TAKE(path);
			return 0;
		}
	}
}

int etw_symbols_find_file(const char *name, const char *search_path, char **ret)
{
	CLEANUP(freep) char *path = NULL;
	int result = etw_path_resolve(name, &path);

	if (result == 0 && is_file(path)) {
		*ret = TAKE(path);
		return 0;
	}
	if (result == -ENOMEM)
		return result;
	if (name[0] == '/' || name[0] == '\\')
		return -ENOENT;
	return find_in_path(search_path, name, ret);
}

int etw_symbols_has_folder(const char *search_path)
{
	int result = 0;

	for (;;) {
		CLEANUP(freep) char *folder = next_folder(&search_path, &result);
		CLEANUP(freep) char *resolved = NULL;
		struct stat status;

		if (!folder)
			return result;
		if (etw_path_resolve(folder, &resolved) == 0 && stat(resolved, &status) == 0 &&
		    S_ISDIR(status.st_mode))
			return 1;
	}
}

/* --- Life */

static int copy_string(const char *from, const char **ret)
{
	*ret = from ? strdup(from) : NULL;
	return from && !*ret ? -ENOMEM : 0;
}

static void free_paths(struct etw_symbol_paths *paths)
{
	free((void *)(uintptr_t)paths->tmf_file);
	free((void *)(uintptr_t)paths->tmf_search_path);
	free((void *)(uintptr_t)paths->pdb_path);
	free((void *)(uintptr_t)paths->environment);
}

static void free_tried(struct etw_table *tried)
{
	for (size_t i = 0; i < tried->room; i++)
		free(tried->slots[i].item);
	etw_table_done(tried);
}

void etw_symbols_free(struct etw_symbols *symbols)
{
	if (!symbols)
		return;
	free_paths(&symbols->paths);
	free_tried(&symbols->tried);
	etw_decoder_free(symbols->decoder);
	etw_schema_store_free(symbols->store);
	(void)pthread_mutex_destroy(&symbols->lock);
	free(symbols);
}

static void free_symbolsp(struct etw_symbols **symbols)
{
	etw_symbols_free(*symbols);
}

int etw_symbols_create(const struct etw_symbol_paths *paths, struct etw_symbols **ret)
{
	CLEANUP(free_symbolsp) struct etw_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	(void)pthread_mutex_init(&symbols->lock, NULL);
	TRY(copy_string(paths->tmf_file, &symbols->paths.tmf_file));
	TRY(copy_string(paths->tmf_search_path, &symbols->paths.tmf_search_path));
	TRY(copy_string(paths->pdb_path, &symbols->paths.pdb_path));
	TRY(copy_string(paths->environment, &symbols->paths.environment));
	TRY(etw_schema_store_create(&symbols->store));
	TRY(etw_decoder_create(symbols->store, &symbols->decoder));
	*ret = TAKE(symbols);
	return 0;
}

const struct etw_symbol_paths *etw_symbols_paths(const struct etw_symbols *symbols)
{
	return &symbols->paths;
}

/* --- Finding, under the lock */

static int read_named_tmf(struct etw_symbols *symbols)
{
	const struct etw_symbol_paths *paths = &symbols->paths;
	CLEANUP(freep) char *path = NULL;
	int result;

	result = etw_symbols_find_file(paths->tmf_file, paths->tmf_search_path, &path);
	if (result == -ENOENT)
		result = etw_symbols_find_file(paths->tmf_file, paths->environment, &path);
	return result < 0 ? result : read_tmf(symbols, path);
}

static int read_named_pdb(struct etw_symbols *symbols)
{
	CLEANUP(freep) char *path = NULL;

	TRY(etw_symbols_find_file(symbols->paths.pdb_path, NULL, &path));
	return read_pdb(symbols, path);
}

/* The TMF file comes last, since the latest file counts where two define the same message. */
static int read_named(struct etw_symbols *symbols)
{
	int result = 0, tmf_result = 0;

	if (symbols->paths.pdb_path)
		result = read_named_pdb(symbols);
	if (symbols->paths.tmf_file)
		tmf_result = read_named_tmf(symbols);
	return tmf_result < 0 ? tmf_result : result;
}

static int read_named_once(struct etw_symbols *symbols)
{
	if (!symbols->has_read_named) {
		int result = read_named(symbols);

		if (result == -ENOMEM)
			return result;
		symbols->has_read_named = true;
		symbols->named_result = result;
	}
	return 0;
}

static int read_guid(struct etw_symbols *symbols, const GUID *guid)
{
	char name[ETW_GUID_BARE_BYTES + sizeof(".tmf")];
	CLEANUP(freep) char *path = NULL;
	int result;

	etw_guid_format(guid, name);
	(void)strcat(name, ".tmf");
	result = find_in_path(symbols->paths.tmf_search_path, name, &path);
	if (result == -ENOENT)
		result = find_in_path(symbols->paths.environment, name, &path);
	if (result == -ENOENT)
		result = find_in_path(".", name, &path);
	return result < 0 ? result : read_tmf(symbols, path);
}

static bool is_tried(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct tried_guid *)item)->guid, key);
}

/* Looks for the file of a GUID, once. Returns what that came to, see struct tried_guid, or -ENOMEM. */
static int read_guid_once(struct etw_symbols *symbols, const GUID *guid)
{
	struct tried_guid *tried = etw_table_find(&symbols->tried, etw_guid_hash(guid), is_tried,
						  guid);
	int result;

	if (tried)
		return tried->result;
	result = read_guid(symbols, guid);
	if (result == -ENOMEM)
		return result;
	if (symbols->tried.count >= ETW_SYMBOLS_MISSES_MAX)
		free_tried(&symbols->tried);
	tried = malloc(sizeof(*tried));
	if (!tried)
		return -ENOMEM;
	*tried = (struct tried_guid){*guid, result};
	if (etw_table_insert(&symbols->tried, etw_guid_hash(guid), tried) < 0) {
		free(tried);
		return -ENOMEM;
	}
	return result;
}

static bool is_found(const struct etw_decoding *decoding)
{
	return decoding->schema && decoding->schema->wpp;
}

static int decode(struct etw_symbols *symbols, const EVENT_RECORD *record, struct etw_decoding *ret)
{
	int result;

	TRY(etw_decoder_run(symbols->decoder, record, ret));
	if (is_found(ret))
		return 0;
	TRY(read_named_once(symbols));
	TRY(etw_decoder_run(symbols->decoder, record, ret));
	if (is_found(ret))
		return 0;
	result = read_guid_once(symbols, &record->EventHeader.ProviderId);
	if (result == -ENOMEM)
		return result;
	TRY(etw_decoder_run(symbols->decoder, record, ret));
	if (is_found(ret))
		return 0;
	if (result < 0 && result != -ENOENT)
		return result;
	return symbols->named_result < 0 ? symbols->named_result : -ESRCH;
}

int etw_symbols_lock(struct etw_symbols *symbols, const EVENT_RECORD *record,
		     struct etw_decoding *ret)
{
	int result;

	if (!(record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE))
		return -ESRCH;
	(void)pthread_mutex_lock(&symbols->lock);
	result = decode(symbols, record, ret);
	if (result < 0)
		(void)pthread_mutex_unlock(&symbols->lock);
	return result;
}

void etw_symbols_unlock(struct etw_symbols *symbols)
{
	(void)pthread_mutex_unlock(&symbols->lock);
}
