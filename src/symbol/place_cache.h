/* SPDX-License-Identifier: MIT */
/*
 * Frames of addresses that were asked for before, for answers that take long: those with lines and inlined functions. When
 * it is full it begins anew.
 */
#ifndef ETW_SYMBOL_PLACE_CACHE_H
#define ETW_SYMBOL_PLACE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "symbol/model.h"

#define ETW_SYMBOL_CACHE_BYTES_MAX ((size_t)128 << 20)

struct etw_symbol_place_cache {
	struct etw_arena arena;
	struct etw_table table;
};

/* etw_symbol_place_cache_done() - frees all. It is empty again. */
void etw_symbol_place_cache_done(struct etw_symbol_place_cache *cache);

/*
 * etw_symbol_place_cache_find() - the frames that were kept for an address of a module.
 *
 * Returns how many, at most @room; 0: none were kept.
 */
size_t etw_symbol_place_cache_find(const struct etw_symbol_place_cache *cache, const void *module,
				   uint64_t address, struct etw_symbol_frame *frames, size_t room);

/* etw_symbol_place_cache_keep() - keeps frames of an address that has none yet. Without memory it does nothing. */
void etw_symbol_place_cache_keep(struct etw_symbol_place_cache *cache, const void *module,
				 uint64_t address, const struct etw_symbol_frame *frames,
				 size_t count);

#endif
