/* SPDX-License-Identifier: MIT */
/*
 * Symbols of TDH_CONTEXT lists, which programs pass with every call: the process keeps those that were used
 * lately, by what the list names. A file that changes behind that is not read again.
 */
#ifndef ETW_API_TDH_SYMBOL_CACHE_H
#define ETW_API_TDH_SYMBOL_CACHE_H

#include "api/tdh/context.h"
#include "api/tdh/symbols.h"

/* Lists that name different things; beyond them the one that was not used for longest gives way. */
#define ETW_SYMBOL_CACHE_MAX 32

/*
 * etw_symbol_cache_borrow() - the symbols that a list means.
 *
 * @ret: give it back to etw_symbol_cache_return()
 *
 * Returns 0 or -ENOMEM. Context: any thread.
 */
int etw_symbol_cache_borrow(const struct etw_tdh_context *context, struct etw_symbols **ret);

/* etw_symbol_cache_return() - ends what etw_symbol_cache_borrow() began. Context: any thread. */
void etw_symbol_cache_return(struct etw_symbols *symbols);

#endif
