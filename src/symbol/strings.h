/* SPDX-License-Identifier: MIT */
/* Names, each kept once, so that equal ones are the same pointer. */
#ifndef ETW_SYMBOL_STRINGS_H
#define ETW_SYMBOL_STRINGS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/table.h"

/* Of a longer name the rest is cut. */
#define ETW_SYMBOL_NAME_BYTES_MAX 4096

struct etw_symbol_strings {
	struct etw_arena arena;
	struct etw_table table;
};

/* etw_symbol_strings_init() - empty; owns nothing yet. */
static inline void etw_symbol_strings_init(struct etw_symbol_strings *strings)
{
	*strings = (struct etw_symbol_strings){0};
}

/* etw_symbol_strings_done() - frees all names. It is empty again. */
void etw_symbol_strings_done(struct etw_symbol_strings *strings);

/*
 * etw_symbol_strings_keep() - the name as it is kept.
 *
 * @bytes: without a NUL; a NUL ends the name earlier
 *
 * Returns NULL when memory ran out.
 */
const char *etw_symbol_strings_keep(struct etw_symbol_strings *strings, const char *at,
				    size_t bytes);

#endif
