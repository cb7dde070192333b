/* SPDX-License-Identifier: MIT */
/*
 * A hash table of pointers: open addressing, linear probing, no removal. The table owns its slots,
 * not the items. Hashes are the caller's; etw_hash_mix() makes good ones from words.
 *
 * Context: one owner thread per table.
 */
#ifndef ETW_BASE_TABLE_H
#define ETW_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etw_table_slot {
	uint64_t hash;
	void *item; /* NULL: free */
};

struct etw_table {
	struct etw_table_slot *slots; /* owned; `room` of them, a power of two or 0 */
	size_t room;
	size_t count;
};

/* Whether @item is the one that @key describes; called only when the hashes are equal. */
typedef bool (*etw_table_equal)(const void *item, const void *key);

/* etw_table_init() - an empty table; owns nothing yet. */
static inline void etw_table_init(struct etw_table *table)
{
	*table = (struct etw_table){0};
}

/* etw_table_done() - frees the slots, not the items. The table is empty again. */
void etw_table_done(struct etw_table *table);

/* etw_table_find() - the item of this key, or NULL. */
void *etw_table_find(const struct etw_table *table, uint64_t hash, etw_table_equal equal,
		     const void *key);

/*
 * etw_table_insert() - adds an item whose key is not in the table yet.
 *
 * @item: not NULL; borrowed as long as the table uses it
 *
 * Returns 0 or -ENOMEM.
 */
int etw_table_insert(struct etw_table *table, uint64_t hash, void *item);

/* etw_table_reserve() - makes room, so that the next @count insertions succeed. Returns 0 or -ENOMEM. */
int etw_table_reserve(struct etw_table *table, size_t count);

/*
 * etw_hash_seed() - what the hashes of this process start from: random, so that nobody who writes a file can
 * choose keys that collide.
 *
 * Context: any thread; draws once.
 */
uint64_t etw_hash_seed(void);

/* etw_hash_seed_set() - for tests that want the same hashes again; 0: draws anew. Tables do not survive it. */
void etw_hash_seed_set(uint64_t seed);

/* etw_hash_mix() - folds one more word into a hash: every bit of it reaches every bit of the result. */
static inline uint64_t etw_hash_mix(uint64_t hash, uint64_t word)
{
	__extension__ const unsigned __int128 product =
		(unsigned __int128)(hash ^ word ^ UINT64_C(0x8bb84b93962eacc9)) *
		UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* etw_hash_bytes() - hash of a run of bytes, eight at a time. */
uint64_t etw_hash_bytes(uint64_t hash, const void *at, size_t bytes);

#endif
