/* SPDX-License-Identifier: MIT */
/* Names, each once. See strings.h. */
#include "symbol/strings.h"

#include <string.h>

struct run {
	const char *at;
	size_t bytes;
};

static bool is_run(const void *item, const void *key)
{
	const struct run *run = key;
	const char *name = item;

	return strncmp(name, run->at, run->bytes) == 0 && name[run->bytes] == '\0';
}

void etw_symbol_strings_done(struct etw_symbol_strings *strings)
{
	etw_table_done(&strings->table);
	etw_arena_done(&strings->arena);
}

const char *etw_symbol_strings_keep(struct etw_symbol_strings *strings, const char *at,
				    size_t bytes)
{
	struct run run = {
		at,
		strnlen(at, bytes < ETW_SYMBOL_NAME_BYTES_MAX ? bytes : ETW_SYMBOL_NAME_BYTES_MAX)};
	uint64_t hash = etw_hash_bytes(etw_hash_seed(), run.at, run.bytes);
	char *name = etw_table_find(&strings->table, hash, is_run, &run);

	if (name)
		return name;
	name = etw_arena_strndup(&strings->arena, run.at, run.bytes);
	if (!name || etw_table_insert(&strings->table, hash, name))
		return NULL;
	return name;
}
