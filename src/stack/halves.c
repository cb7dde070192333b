/* SPDX-License-Identifier: MIT */
#include "stack/halves.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

struct etw_stack_key {
	uint64_t key;
	enum etw_stack_side side;
	struct etw_stack_half *half; /* what it stands for; NULL: nobody has asked */
};

void etw_stack_halves_done(struct etw_stack_halves *halves)
{
	for (size_t i = 0; i < halves->keys.room; i++) {
		struct etw_stack_key *key = halves->keys.slots[i].item;

		if (key && key->half)
			key->half->key = NULL;
	}
	etw_table_done(&halves->keys);
	etw_arena_done(&halves->arena);
}

static int take_frames(struct etw_stack_halves *halves, struct etw_stack_half *half,
		       const struct etw_stack_part *part)
{
	half->frames = calloc(part->count + 1u, sizeof(uint64_t));
	if (!half->frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < part->count; i++)
		half->frames[i] = etw_stack_frame(part, i);
	half->count = part->count;
	half->is_defined = true;
	halves->bytes += half->count * sizeof(uint64_t);
	return 0;
}

static struct etw_stack_half *make_half(void)
{
	struct etw_stack_half *half = calloc(1, sizeof(*half));

	if (half)
		etw_stack_link_init(&half->waiting);
	return half;
}

struct etw_stack_half *etw_stack_half_of_frames(struct etw_stack_halves *halves,
						const struct etw_stack_part *part)
{
	struct etw_stack_half *half = make_half();

	if (!half || !take_frames(halves, half, part))
		return half;
	free(half);
	return NULL;
}

static bool is_key(const void *item, const void *wanted_at)
{
	const struct etw_stack_key *key = item, *wanted = wanted_at;

	return key->key == wanted->key && key->side == wanted->side;
}

static uint64_t hash_of(const struct etw_stack_key *key)
{
	return etw_hash_mix(etw_hash_mix(etw_hash_seed(), key->key), (uint64_t)key->side);
}

int etw_stack_half_of_key(struct etw_stack_halves *halves, uint64_t value, enum etw_stack_side side,
			  struct etw_stack_half **ret)
{
	const struct etw_stack_key wanted = {.key = value, .side = side};
	struct etw_stack_key *key = etw_table_find(&halves->keys, hash_of(&wanted), is_key,
						   &wanted);

	if (!key) {
		if (halves->keys.count >= ETW_STACK_KEYS_MAX)
			return -ENOBUFS;
		key = etw_arena_copy(&halves->arena, &wanted, sizeof(wanted));
		if (!key || etw_table_insert(&halves->keys, hash_of(&wanted), key))
			return -ENOMEM;
	}
	if (!key->half) {
		key->half = make_half();
		if (!key->half)
			return -ENOMEM;
		key->half->key = key;
	}
	*ret = key->half;
	return 0;
}

int etw_stack_half_define(struct etw_stack_halves *halves, const struct etw_stack_part *part,
			  enum etw_stack_side side, struct etw_stack_half **ret)
{
	const struct etw_stack_key wanted = {.key = part->key, .side = side};
	struct etw_stack_key *key = etw_table_find(&halves->keys, hash_of(&wanted), is_key,
						   &wanted);

	*ret = NULL;
	if (!key || !key->half)
		return 0;
	TRY(take_frames(halves, key->half, part));
	*ret = key->half;
	key->half->key = NULL;
	key->half = NULL;
	return 0;
}

void etw_stack_half_drop(struct etw_stack_halves *halves, struct etw_stack_half *half)
{
	if (!half || (half->references && --half->references))
		return;
	if (half->key)
		half->key->half = NULL;
	halves->bytes -= half->count * sizeof(uint64_t);
	free(half->frames);
	free(half);
}
