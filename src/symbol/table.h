/* SPDX-License-Identifier: MIT */
/*
 * Symbols of one module, sorted by address: where each begins, how far it reaches, its name. Of several at one address
 * one is kept, by a rule that does not depend on the order in which they came.
 */
#ifndef ETW_SYMBOL_TABLE_H
#define ETW_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Which of two symbols at one address is the better one: the lower value. */
enum etw_symbol_rank {
	ETW_SYMBOL_GLOBAL = 0,
	ETW_SYMBOL_WEAK = 1,
	ETW_SYMBOL_LOCAL = 2,
	ETW_SYMBOL_UNTYPED = 4, /* added: nothing says that it is a function */
};

struct etw_symbol_entry {
	uint64_t start, bytes; /* of 0 bytes: up to the next symbol, once it is sorted */
	uint64_t open_end;     /* of 0 bytes: no further than this; 0: nothing else ends it */
	const char *name;
	const char *shown;  /* demangled, kept by who asked for it; NULL: not yet */
	const char *module; /* of kernel symbols; NULL: no module of their own */
	uint32_t rank;      /* of several at one address the lowest is kept */
};

struct etw_symbol_table {
	struct etw_arena names;
	struct etw_symbol_entry *at; /* owned */
	uint64_t *reach;             /* owned; by entry, how far it and those before it reach */
	size_t count, room;
	size_t *left; /* entries that may still be added to this and other tables; NULL: any number */
	uint64_t end; /* how far the last symbol of 0 bytes reaches; 0: to the end of its page */
	bool is_sorted;
};

/* etw_symbol_table_init() - empty. @left: as above; borrowed as long as the table is used */
static inline void etw_symbol_table_init(struct etw_symbol_table *table, size_t *left)
{
	*table = (struct etw_symbol_table){.left = left};
}

/* etw_symbol_table_done() - frees all. */
void etw_symbol_table_done(struct etw_symbol_table *table);

/*
 * etw_symbol_table_add() - a symbol; its name is copied.
 *
 * @module: kept as it is; compared as a pointer
 *
 * Symbols without a name are ignored. Returns 0; -E2BIG beyond the limit; -ENOMEM.
 */
int etw_symbol_table_add(struct etw_symbol_table *table, const struct etw_symbol_entry *entry,
			 size_t name_bytes);

/*
 * etw_symbol_table_merge() - moves what another table has to this one; the other one is empty then.
 *
 * Returns 0; what adding fails with: the rest is lost.
 */
int etw_symbol_table_merge(struct etw_symbol_table *table, struct etw_symbol_table *from);

/*
 * etw_symbol_table_find() - the symbol that covers an address: the one that begins nearest to it; NULL when none does.
 *
 * Sorts first where something was added. Of one that would fail for want of memory, the answer is NULL.
 */
struct etw_symbol_entry *etw_symbol_table_find(struct etw_symbol_table *table, uint64_t address);

#endif
