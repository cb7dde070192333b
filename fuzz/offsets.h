/* SPDX-License-Identifier: MIT */
/*
 * Mutations for formats whose parts refer to each other by 32-bit offsets: a byte that goes in or out takes
 * the offsets behind it along, and an offset is exchanged for another one, so that most inputs get past the
 * first check. Only with libFuzzer's engine; the replay programs never call it.
 */
#ifndef ETW_FUZZ_OFFSETS_H
#define ETW_FUZZ_OFFSETS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "target.h"

#define OFFSETS_CHUNK_MAX 64u

static inline uint32_t offsets_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* A place of a 32-bit number, or a byte off. */
static inline size_t offsets_place(uint32_t *state, size_t bytes)
{
	size_t at = offsets_random(state) % (bytes - 3);

	return offsets_random(state) % 8 ? at & ~(size_t)3 : at;
}

/* Adds @change to every number that looks like the offset of something at or behind @from. */
static inline void offsets_shift(uint8_t *data, size_t bytes, size_t from, int change,
				 uint32_t bias)
{
	for (size_t at = 0; at + 4 <= bytes; at += 4) {
		uint32_t value = etw_load32(data + at);

		if (value >= bias + from && value <= bias + bytes)
			etw_store32(data + at, value + (uint32_t)change);
	}
}

static inline size_t offsets_insert(uint8_t *data, size_t bytes, size_t max_bytes, uint32_t *state,
				    uint32_t bias)
{
	size_t at = offsets_place(state, bytes) & ~(size_t)3;
	size_t from = offsets_place(state, bytes);
	size_t chunk = 4 * (1 + offsets_random(state) % (OFFSETS_CHUNK_MAX / 4));
	uint8_t copy[OFFSETS_CHUNK_MAX];

	if (chunk > bytes - from)
		chunk = (bytes - from) & ~(size_t)3;
	if (!chunk || bytes + chunk > max_bytes)
		return bytes;
	memcpy(copy, data + from, chunk);
	offsets_shift(data, bytes, at, (int)chunk, bias);
	memmove(data + at + chunk, data + at, bytes - at);
	memcpy(data + at, copy, chunk);
	return bytes + chunk;
}

static inline size_t offsets_remove(uint8_t *data, size_t bytes, uint32_t *state, uint32_t bias)
{
	size_t at = offsets_place(state, bytes) & ~(size_t)3;
	size_t chunk = 4 * (1 + offsets_random(state) % (OFFSETS_CHUNK_MAX / 4));

	if (chunk > bytes - at || bytes - chunk < 16)
		return bytes;
	memmove(data + at, data + at + chunk, bytes - at - chunk);
	offsets_shift(data, bytes - chunk, at + chunk, -(int)chunk, bias);
	return bytes - chunk;
}

/* Exchanges an offset for another one that occurs, or for one nearby. */
static inline void offsets_redirect(uint8_t *data, size_t bytes, uint32_t *state, uint32_t bias)
{
	for (int tries = 0; tries < 64; tries++) {
		uint8_t *to = data + offsets_place(state, bytes);
		uint32_t other = etw_load32(data + offsets_place(state, bytes));
		uint32_t value = etw_load32(to);

		if (value < bias + 4 || value > bias + bytes)
			continue;
		if (offsets_random(state) % 4 == 0)
			etw_store32(to, value + 4 * (offsets_random(state) % 9) - 16);
		else if (other >= bias && other <= bias + bytes)
			etw_store32(to, other);
		else
			continue;
		return;
	}
}

static inline void offsets_count(uint8_t *data, size_t bytes, uint32_t *state)
{
	static const uint32_t values[] = {0,      1,       2,       64,         65,
					  0xffff, 0x10000, 0x10001, 0x7fffffff, UINT32_MAX};

	for (int tries = 0; tries < 64; tries++) {
		uint8_t *to = data + offsets_place(state, bytes);
		uint32_t value = etw_load32(to);

		if (value > 64)
			continue;
		if (offsets_random(state) % 2)
			etw_store32(to, value + offsets_random(state) % 5 - 2);
		else
			etw_store32(to, values[offsets_random(state) %
					       (sizeof(values) / sizeof(values[0]))]);
		return;
	}
}

/*
 * offsets_mutate() - one change of @data, which offsets count from the start of.
 *
 * @bias: what is added to such offsets, for addresses; 0 for plain ones
 *
 * Returns the new size.
 */
static inline size_t offsets_mutate(uint8_t *data, size_t bytes, size_t max_bytes, uint32_t *state,
				    uint32_t bias)
{
	if (bytes < 16)
		return LLVMFuzzerMutate(data, bytes, max_bytes);
	switch (offsets_random(state) % 6) {
	case 0:
		return offsets_insert(data, bytes, max_bytes, state, bias);
	case 1:
		return offsets_remove(data, bytes, state, bias);
	case 2:
	case 3:
		offsets_redirect(data, bytes, state, bias);
		return bytes;
	case 4:
		offsets_count(data, bytes, state);
		return bytes;
	default:
		return LLVMFuzzerMutate(data, bytes, max_bytes);
	}
}

#endif
