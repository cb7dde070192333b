/* SPDX-License-Identifier: MIT */
/* What the targets have in common: their entry, checks, and comparing strings that may be absent. */
#ifndef ETW_FUZZ_TARGET_H
#define ETW_FUZZ_TARGET_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fault.h"

/* Checked in every build, unlike assert(). */
#define CHECK(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* libFuzzer's own mutations; not there in replay programs. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t max_bytes) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned int seed);

/* length_of() - reads a string to its end, so that a sanitizer sees one that has none; NULL is empty. */
static inline size_t length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

static inline bool is_same(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

/* check_refused() - a refusal has a reason, and leaves nothing behind. */
static inline void check_refused(int r, const struct etw_fault *fault,
				 const struct etw_arena *arena)
{
	CHECK(r == -EBADMSG && fault->sentence && fault->structure);
	CHECK(!etw_arena_bytes(arena));
}

/* check_memory() - what was made of @bytes of input is in proportion to them, whatever refers to what. */
static inline void check_memory(const struct etw_arena *arena, size_t bytes)
{
	CHECK(etw_arena_bytes(arena) <= ((size_t)1 << 20) + 128 * bytes);
}

#endif
