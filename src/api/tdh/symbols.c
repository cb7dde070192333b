/* SPDX-License-Identifier: MIT */
#include "api/tdh/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "schema/store/store.h"

/* A GUID whose file was looked for, and what that came to. */
struct tried_guid {
	GUID guid;
	int result; /* 0: a file was read; -ENOENT: there is none; else what reading failed with */
};

struct etw_symbols {
	struct etw_symbol_paths paths; /* owned */
	pthread_mutex_t lock;          /* protects all below */
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	/*
	 * GUIDs, struct tried_guid, owned. Those whose file was read stay as long as what it said: there are no more
	 * than files. Of the misses, which a trace may make up, those that were asked for lately: when `lately` is
	 * full, `before` goes and `lately` takes its place.
	 */
	struct etw_table read;
	struct etw_table lately, before;
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

/* --- Life */

static void free_guids(struct etw_table *guids)
{
	for (size_t i = 0; i < guids->room; i++)
		free(guids->slots[i].item);
	etw_table_done(guids);
}

void etw_symbols_free(struct etw_symbols *symbols)
{
	if (!symbols)
		return;
	etw_symbol_paths_done(&symbols->paths);
	free_guids(&symbols->read);
	free_guids(&symbols->lately);
	free_guids(&symbols->before);
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
	TRY(etw_symbol_paths_copy(paths, &symbols->paths));
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
	CLEANUP(freep) char *path = NULL;

	TRY(etw_symbol_paths_find_tmf(&symbols->paths, &path));
	return read_tmf(symbols, path);
}

static int read_named_pdb(struct etw_symbols *symbols)
{
	CLEANUP(freep) char *path = NULL;

	TRY(etw_symbol_paths_find_pdb(&symbols->paths, &path));
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

		if (etw_is_shortage(result))
			return result;
		symbols->has_read_named = true;
		symbols->named_result = result;
	}
	return 0;
}

static int read_guid(struct etw_symbols *symbols, const GUID *guid)
{
	CLEANUP(freep) char *path = NULL;

	TRY(etw_symbol_paths_find_guid(&symbols->paths, guid, &path));
	return read_tmf(symbols, path);
}

static bool is_tried(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct tried_guid *)item)->guid, key);
}

static const struct tried_guid *find_guid(const struct etw_table *guids, const GUID *guid)
{
	return etw_table_find(guids, etw_guid_hash(guid), is_tried, guid);
}

static int keep_guid(struct etw_table *guids, const GUID *guid, int result)
{
	struct tried_guid *tried = malloc(sizeof(*tried));

	if (!tried)
		return -ENOMEM;
	*tried = (struct tried_guid){*guid, result};
	if (etw_table_insert(guids, etw_guid_hash(guid), tried) < 0) {
		free(tried);
		return -ENOMEM;
	}
	return 0;
}

static int keep_miss(struct etw_symbols *symbols, const GUID *guid, int result)
{
	if (symbols->lately.count >= ETW_SYMBOLS_MISSES_MAX / 2) {
		free_guids(&symbols->before);
		symbols->before = symbols->lately;
		etw_table_init(&symbols->lately);
	}
	return keep_guid(&symbols->lately, guid, result);
}

/* Looks for the file of a GUID, once. Returns what that came to, see struct tried_guid, or a shortage. */
static int read_guid_once(struct etw_symbols *symbols, const GUID *guid)
{
	const struct tried_guid *tried = find_guid(&symbols->read, guid);
	int result;

	if (!tried)
		tried = find_guid(&symbols->lately, guid);
	if (tried)
		return tried->result;
	tried = find_guid(&symbols->before, guid);
	result = tried ? tried->result : read_guid(symbols, guid);
	if (etw_is_shortage(result))
		return result;
	if (result < 0)
		TRY(keep_miss(symbols, guid, result));
	else
		TRY(keep_guid(&symbols->read, guid, result));
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
	if (etw_is_shortage(result))
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
