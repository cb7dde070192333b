/* SPDX-License-Identifier: MIT */
/* The table grows when it is three quarters full, so that probing always finds a free slot. */
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/macros.h"

#define FIRST_ROOM ((size_t)16)

static uint64_t hash_seed; /* 0: not drawn yet */

void etw_table_done(struct etw_table *table)
{
	free(table->slots);
	etw_table_init(table);
}

void *etw_table_find(const struct etw_table *table, uint64_t hash, etw_table_equal equal,
		     const void *key)
{
	if (!table->room)
		return NULL;
	for (size_t i = (size_t)hash & (table->room - 1);; i = (i + 1) & (table->room - 1)) {
		const struct etw_table_slot *slot = &table->slots[i];

		if (!slot->item)
			return NULL;
		if (slot->hash == hash && equal(slot->item, key))
			return slot->item;
	}
}

static void place(struct etw_table_slot *slots, size_t room, uint64_t hash, void *item)
{
	size_t i = (size_t)hash & (room - 1);

	while (slots[i].item)
		i = (i + 1) & (room - 1);
	slots[i] = (struct etw_table_slot){hash, item};
}

static int move_to(struct etw_table *table, size_t room)
{
	struct etw_table_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->room; i++) {
		if (table->slots[i].item)
			place(slots, room, table->slots[i].hash, table->slots[i].item);
	}
	free(table->slots);
	table->slots = slots;
	table->room = room;
	return 0;
}

int etw_table_reserve(struct etw_table *table, size_t count)
{
	size_t room = table->room ? table->room : FIRST_ROOM;

	if (count > SIZE_MAX / 4 - table->count)
		return -ENOMEM;
	while (room / 4 * 3 < table->count + count)
		room *= 2;
	return room == table->room ? 0 : move_to(table, room);
}

int etw_table_insert(struct etw_table *table, uint64_t hash, void *item)
{
	int r = etw_table_reserve(table, 1);

	if (r < 0)
		return r;
	place(table->slots, table->room, hash, item);
	table->count++;
	return 0;
}

/* Whoever draws first decides for all threads. */
static uint64_t draw_seed(void)
{
	uint64_t expected = 0, seed = 0;

	/* Without randomness the address will do. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = (uint64_t)(uintptr_t)&hash_seed;
	seed |= 1;
	return cas_relaxed(&hash_seed, &expected, seed) ? seed : expected;
}

uint64_t etw_hash_seed(void)
{
	uint64_t seed = load_relaxed(&hash_seed);

	return LIKELY(seed) ? seed : draw_seed();
}

void etw_hash_seed_set(uint64_t seed)
{
	store_relaxed(&hash_seed, seed);
}

uint64_t etw_hash_bytes(uint64_t hash, const void *at, size_t bytes)
{
	const uint8_t *from = at;
	uint8_t tail[8] = {0};

	hash = etw_hash_mix(hash, bytes);
	for (; bytes >= 8; bytes -= 8, from += 8)
		hash = etw_hash_mix(hash, etw_load64(from));
	if (bytes) {
		memcpy(tail, from, bytes);
		hash = etw_hash_mix(hash, etw_load64(tail));
	}
	return hash;
}
