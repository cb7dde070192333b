/* SPDX-License-Identifier: MIT */
#include "api/tdh/symbol_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/consumer/wide.h"
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

static bool is_same_string(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

static bool is_same(const struct etw_symbol_paths *left, const struct etw_symbol_paths *right)
{
	return is_same_string(left->tmf_file, right->tmf_file) &&
	       is_same_string(left->tmf_search_path, right->tmf_search_path) &&
	       is_same_string(left->pdb_path, right->pdb_path) &&
	       is_same_string(left->environment, right->environment);
}

/* Under the lock. Those of these paths, or a slot that is free or can be made so; NULL: all are in use. */
static struct kept *find_slot(const struct etw_symbol_paths *paths)
{
	struct kept *oldest = NULL;

	for (size_t i = 0; i < ETW_SYMBOL_CACHE_MAX; i++) {
		struct kept *kept = &cache.kept[i];

		if (kept->symbols && is_same(etw_symbols_paths(kept->symbols), paths))
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

static int to_utf8(const WCHAR *text, char **ret)
{
	return text ? etw_wide_to_utf8(text, ret) : 0;
}

int etw_symbol_cache_borrow(const struct etw_tdh_context *context, struct etw_symbols **ret)
{
	CLEANUP(freep) char *tmf_file = NULL;
	CLEANUP(freep) char *search_path = NULL;
	struct etw_symbol_paths paths;
	int result;

	TRY(to_utf8(context->tmf_file, &tmf_file));
	TRY(to_utf8(context->tmf_search_path, &search_path));
	paths = (struct etw_symbol_paths){
		.tmf_file = tmf_file,
		.tmf_search_path = search_path,
		.environment = getenv("TRACE_FORMAT_SEARCH_PATH"),
	};
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
