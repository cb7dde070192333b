/* SPDX-License-Identifier: MIT */
/* Chunks double in size up to a limit; a request larger than that gets a chunk of its own size. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define FIRST_CHUNK_BYTES ((size_t)4096)
#define CHUNK_BYTES_MAX   ((size_t)256 * 1024)
#define ALIGNMENT         ((size_t)16)

struct etw_arena_chunk {
	struct etw_arena_chunk *older;
	size_t used;
	size_t room;
	_Alignas(16) uint8_t memory[];
};

static struct etw_arena_chunk *add_chunk(struct etw_arena *arena, size_t bytes)
{
	size_t room = FIRST_CHUNK_BYTES;
	struct etw_arena_chunk *chunk;

	if (arena->newest)
		room = arena->newest->room < CHUNK_BYTES_MAX / 2 ? arena->newest->room * 2
								 : CHUNK_BYTES_MAX;
	if (room < bytes)
		room = bytes;
	if (room > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk)
		return NULL;
	chunk->older = arena->newest;
	chunk->used = 0;
	chunk->room = room;
	arena->newest = chunk;
	return chunk;
}

void etw_arena_done(struct etw_arena *arena)
{
	etw_arena_release(arena, (struct etw_arena_mark){0});
}

void *etw_arena_alloc(struct etw_arena *arena, size_t bytes)
{
	struct etw_arena_chunk *chunk = arena->newest;
	void *at;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = ALIGN_UP(bytes ? bytes : 1, ALIGNMENT);
	if (!chunk || chunk->room - chunk->used < bytes)
		chunk = add_chunk(arena, bytes);
	if (!chunk)
		return NULL;
	at = chunk->memory + chunk->used;
	chunk->used += bytes;
	return memset(at, 0, bytes);
}

void *etw_arena_array(struct etw_arena *arena, size_t count, size_t item_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, item_bytes, &bytes))
		return NULL;
	return etw_arena_alloc(arena, bytes);
}

void *etw_arena_copy(struct etw_arena *arena, const void *at, size_t bytes)
{
	void *copy = etw_arena_alloc(arena, bytes);

	if (copy && bytes)
		memcpy(copy, at, bytes);
	return copy;
}

char *etw_arena_strdup(struct etw_arena *arena, const char *text)
{
	return etw_arena_copy(arena, text, strlen(text) + 1);
}

char *etw_arena_strndup(struct etw_arena *arena, const char *at, size_t bytes)
{
	char *copy;

	if (bytes == SIZE_MAX)
		return NULL;
	copy = etw_arena_alloc(arena, bytes + 1);
	if (copy && bytes)
		memcpy(copy, at, bytes);
	return copy;
}

struct etw_arena_mark etw_arena_mark(const struct etw_arena *arena)
{
	return (struct etw_arena_mark){arena->newest, arena->newest ? arena->newest->used : 0};
}

void etw_arena_release(struct etw_arena *arena, struct etw_arena_mark mark)
{
	while (arena->newest != mark.chunk) {
		struct etw_arena_chunk *older = arena->newest->older;

		free(arena->newest);
		arena->newest = older;
	}
	if (arena->newest)
		arena->newest->used = mark.used;
}

size_t etw_arena_bytes(const struct etw_arena *arena)
{
	size_t bytes = 0;

	for (const struct etw_arena_chunk *chunk = arena->newest; chunk; chunk = chunk->older)
		bytes += chunk->room;
	return bytes;
}
