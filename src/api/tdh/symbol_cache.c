/* SPDX-License-Identifier: MIT */
#include "api/tdh/symbol_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/macros.h"

struct kept {
	struct etw_symbols *symbols; /* owned; NULL: free */
	unsigned users;
	uint64_t used; /* when it was borrowed last, by `cache.clock` */
};

static struct {
	pthread_mutex_t lock; /* protects all below */
	struct kept kept[ETW_SYMBOL_CACHE_MAX];
	uint64_t clock;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock. Those of these paths, or a slot that is free or can be made so; NULL: all are in use. */
static struct kept *find_slot(const struct etw_symbol_paths *paths)
{
	struct kept *oldest = NULL;

	for (size_t i = 0; i < ETW_SYMBOL_CACHE_MAX; i++) {
		struct kept *kept = &cache.kept[i];

		if (kept->symbols &&
		    etw_symbol_paths_equal(etw_symbols_paths(kept->symbols), paths))
			return kept;
		if (!kept->users && (!oldest || kept->used < oldest->used))
			oldest = kept;
	}
	if (oldest) {
		etw_symbols_free(oldest->symbols);
		*oldest = (struct kept){0};
	}
	return oldest;
}

/* Under the lock. Without a slot the symbols live for one call. */
static int borrow(const struct etw_symbol_paths *paths, struct etw_symbols **ret)
{
	struct kept *kept = find_slot(paths);
	struct etw_symbols *made;

	if (!kept)
		return etw_symbols_create(paths, ret);
	if (!kept->symbols) {
		TRY(etw_symbols_create(paths, &made));
		kept->symbols = made;
	}
	kept->users++;
	kept->used = ++cache.clock;
	*ret = kept->symbols;
	return 0;
}

int etw_symbol_cache_borrow(const struct etw_tdh_context *context, struct etw_symbols **ret)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};
	int result;

	TRY(etw_symbol_paths_read(context->tmf_file, context->tmf_search_path, NULL, &paths));
	(void)pthread_mutex_lock(&cache.lock);
	result = borrow(&paths, ret);
	(void)pthread_mutex_unlock(&cache.lock);
	return result;
}

void etw_symbol_cache_return(struct etw_symbols *symbols)
{
	(void)pthread_mutex_lock(&cache.lock);
	for (size_t i = 0; i < ETW_SYMBOL_CACHE_MAX; i++) {
		if (cache.kept[i].symbols == symbols) {
			cache.kept[i].users--;
			symbols = NULL;
			break;
		}
	}
	(void)pthread_mutex_unlock(&cache.lock);
	etw_symbols_free(symbols);
}

__attribute__((destructor)) static void forget_symbols(void)
{
	(void)pthread_mutex_lock(&cache.lock);
	for (size_t i = 0; i < ETW_SYMBOL_CACHE_MAX; i++) {
		if (cache.kept[i].users)
			continue;
		etw_symbols_free(cache.kept[i].symbols);
		cache.kept[i] = (struct kept){0};
	}
	(void)pthread_mutex_unlock(&cache.lock);
}
