/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed all at once: a bump allocator over growing chunks. What a parser has built in
 * vain is given back with a mark. Nothing is freed one by one.
 *
 * Context: one owner thread per arena.
 */
#ifndef ETW_BASE_ARENA_H
#define ETW_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct etw_arena_chunk;

struct etw_arena {
	struct etw_arena_chunk *newest; /* owned; each chunk points to the one before it */
};

/* A state to return to; valid until an older mark is released or the arena is done. */
struct etw_arena_mark {
	struct etw_arena_chunk *chunk;
	size_t used;
};

/* etw_arena_init() - an empty arena; owns nothing yet. */
static inline void etw_arena_init(struct etw_arena *arena)
{
	*arena = (struct etw_arena){0};
}

/* etw_arena_done() - frees everything that was allocated from the arena. It is empty again. */
void etw_arena_done(struct etw_arena *arena);

/* etw_arena_alloc() - @bytes of zeroed memory, aligned to 16 bytes; NULL when memory ran out. */
void *etw_arena_alloc(struct etw_arena *arena, size_t bytes);

/* etw_arena_array() - zeroed memory for @count items of @item_bytes; NULL also on overflow. */
void *etw_arena_array(struct etw_arena *arena, size_t count, size_t item_bytes);

/* etw_arena_copy() - a copy of @bytes bytes; NULL when memory ran out. */
void *etw_arena_copy(struct etw_arena *arena, const void *at, size_t bytes);

/* etw_arena_strdup() / _strndup() - a NUL-terminated copy; NULL when memory ran out. */
char *etw_arena_strdup(struct etw_arena *arena, const char *text);
char *etw_arena_strndup(struct etw_arena *arena, const char *at, size_t bytes);

/* etw_arena_mark() - the present state, for etw_arena_release(). */
struct etw_arena_mark etw_arena_mark(const struct etw_arena *arena);

/* etw_arena_release() - frees all that was allocated since the mark. */
void etw_arena_release(struct etw_arena *arena, struct etw_arena_mark mark);

/* etw_arena_bytes() - memory held, for statistics and tests. */
size_t etw_arena_bytes(const struct etw_arena *arena);

#endif
