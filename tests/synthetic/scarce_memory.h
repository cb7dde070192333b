/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out at a chosen allocation, for programs that include this once. The C library's allocator is
 * taken over, in the shared libraries too; a sanitizer has its own, so that tests skip where IS_SANITIZED is set.
 */
#ifndef ETW_TESTS_SYNTHETIC_SCARCE_MEMORY_H
#define ETW_TESTS_SYNTHETIC_SCARCE_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "synthetic/sanitized.h"

static long scarce_left = -1; /* up to the one that fails; 0: it has failed; negative: none does */

/* scarce_begin() - the allocation of this number, from 1, fails, and every one behind it. */
static inline void scarce_begin(long number)
{
	scarce_left = number;
}

/* scarce_end() - there is memory again. Returns whether any allocation has failed. */
static inline bool scarce_end(void)
{
	bool has_failed = scarce_left == 0;

	scarce_left = -1;
	return has_failed;
}

#if !IS_SANITIZED
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);

static bool scarce_take(void)
{
	if (scarce_left > 0)
		scarce_left--;
	if (scarce_left == 0)
		errno = ENOMEM;
	return scarce_left != 0;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
	return scarce_take() ? __libc_malloc(bytes) : NULL;
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
	return scarce_take() ? __libc_calloc(count, bytes) : NULL;
}

__attribute__((visibility("default"))) void *realloc(void *at, size_t bytes)
{
	return scarce_take() ? __libc_realloc(at, bytes) : NULL;
}
#endif

#endif
