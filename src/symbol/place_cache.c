/* SPDX-License-Identifier: MIT */
/* Frames that were asked for before. See place_cache.h. */
#include "symbol/place_cache.h"

#include <string.h>

struct cached {
	const void *module;
	uint64_t address;
	size_t count;
	struct etw_symbol_frame frames[];
};

struct key {
	const void *module;
	uint64_t address;
};

static bool is_key(const void *item, const void *key_item)
{
	const struct cached *cached = item;
	const struct key *key = key_item;

	return cached->module == key->module && cached->address == key->address;
}

static uint64_t hash_of(const void *module, uint64_t address)
{
	return etw_hash_mix(etw_hash_mix(etw_hash_seed(), (uintptr_t)module), address);
}

void etw_symbol_place_cache_done(struct etw_symbol_place_cache *cache)
{
	etw_table_done(&cache->table);
	etw_arena_done(&cache->arena);
}

size_t etw_symbol_place_cache_find(const struct etw_symbol_place_cache *cache, const void *module,
				   uint64_t address, struct etw_symbol_frame *frames, size_t room)
{
	const struct key key = {module, address};
	const struct cached *cached = etw_table_find(&cache->table, hash_of(module, address),
						     is_key, &key);
	size_t count = cached ? cached->count : 0;

	if (count > room)
		count = room;
	/* The outermost, where there is not room for all. */
	if (count)
		memcpy(frames, cached->frames + (cached->count - count), count * sizeof(*frames));
	return count;
}

void etw_symbol_place_cache_keep(struct etw_symbol_place_cache *cache, const void *module,
				 uint64_t address, const struct etw_symbol_frame *frames,
				 size_t count)
{
	struct cached *cached;

	if (etw_arena_bytes(&cache->arena) + cache->table.room * sizeof(cache->table.slots[0]) >
	    ETW_SYMBOL_CACHE_BYTES_MAX)
		etw_symbol_place_cache_done(cache);
	cached = etw_arena_alloc(&cache->arena, sizeof(*cached) + count * sizeof(*frames));
	if (!cached)
		return;
	cached->module = module;
	cached->address = address;
	cached->count = count;
	memcpy(cached->frames, frames, count * sizeof(*frames));
	(void)etw_table_insert(&cache->table, hash_of(module, address), cached);
}
