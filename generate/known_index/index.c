/* SPDX-License-Identifier: MIT */
/* Parts that grow, equal items kept once, and the file that they make. */
#include "index.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

void *memory_for(void *old, size_t count, size_t item_bytes)
{
	void *at = reallocarray(old, count, item_bytes);

	if (!at)
		fail("known_index: memory ran out");
	return at;
}

/* The input is this project's own table: nobody chooses collisions, and the output is always the same. */
static uint64_t hash_of(const void *at, size_t bytes)
{
	const uint8_t *byte = at;
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * FNV_PRIME;
	return hash ^ hash >> 32;
}

void index_init(struct index *index)
{
	static const size_t item_bytes[] = WIRE_KNOWN_ITEM_BYTES;
	const le32 no_builds = le32_of(0);

	static_assert(ARRAY_SIZE(item_bytes) == WIRE_KNOWN_PARTS, "one for each part");
	memset(index, 0, sizeof(*index));
	for (size_t i = 0; i < WIRE_KNOWN_PARTS; i++)
		index->parts[i].item_bytes = item_bytes[i];
	index->strings.item_bytes = sizeof(le32);
	(void)index_string(index, "");
	(void)index_keep(index, WIRE_KNOWN_BUILDS, &no_builds);
}

static uint32_t add(struct part *part, const void *item)
{
	if (part->count == part->room) {
		part->room = part->room ? part->room * 2 : 1024;
		part->at = memory_for(part->at, part->room, part->item_bytes);
	}
	memcpy(part->at + part->count * part->item_bytes, item, part->item_bytes);
	return part->count++;
}

uint32_t index_add(struct index *index, enum wire_known_part_id id, const void *item)
{
	return add(&index->parts[id], item);
}

static void place(struct part *part, uint64_t hash, uint32_t number)
{
	size_t slot = hash & (part->slot_count - 1);

	while (part->slots[slot])
		slot = (slot + 1) & (part->slot_count - 1);
	part->slots[slot] = number + 1;
}

/* What an item is compared by: of strings the text, of the others their bytes. */
static uint64_t hash_item(const struct index *index, const struct part *part, uint32_t number)
{
	const uint8_t *item = part->at + number * part->item_bytes;
	const char *text;

	if (part != &index->strings)
		return hash_of(item, part->item_bytes);
	text = (const char *)index->parts[WIRE_KNOWN_STRINGS].at + etw_load32(item);
	return hash_of(text, strlen(text));
}

static void grow_slots(struct index *index, struct part *part)
{
	if (part->count * 2 < part->slot_count)
		return;
	part->slot_count = part->slot_count ? part->slot_count * 2 : 4096;
	free(part->slots);
	part->slots = calloc(part->slot_count, sizeof(*part->slots));
	if (!part->slots)
		fail("known_index: memory ran out");
	for (uint32_t i = 0; i < part->count; i++)
		place(part, hash_item(index, part, i), i);
}

uint32_t index_keep(struct index *index, enum wire_known_part_id id, const void *item)
{
	struct part *part = &index->parts[id];
	uint64_t hash = hash_of(item, part->item_bytes);
	uint32_t number;

	grow_slots(index, part);
	for (size_t slot = hash & (part->slot_count - 1); part->slots[slot];
	     slot = (slot + 1) & (part->slot_count - 1)) {
		number = part->slots[slot] - 1;
		if (memcmp(part->at + number * part->item_bytes, item, part->item_bytes) == 0)
			return number;
	}
	number = add(part, item);
	place(part, hash, number);
	return number;
}

uint32_t index_string(struct index *index, const char *text)
{
	struct part *pool = &index->parts[WIRE_KNOWN_STRINGS];
	size_t bytes = strlen(text);
	uint64_t hash = hash_of(text, bytes);
	le32 offset = le32_of(pool->count);

	grow_slots(index, &index->strings);
	for (size_t slot = hash & (index->strings.slot_count - 1); index->strings.slots[slot];
	     slot = (slot + 1) & (index->strings.slot_count - 1)) {
		uint32_t number = index->strings.slots[slot] - 1;
		uint32_t at = etw_load32(index->strings.at + number * sizeof(le32));

		if (strcmp((const char *)pool->at + at, text) == 0)
			return at;
	}
	for (size_t i = 0; i <= bytes; i++)
		(void)add(pool, &text[i]);
	place(&index->strings, hash, add(&index->strings, &offset));
	return le32_get(offset);
}

/*
 * Templates are few enough for a plain search of the newest references, where a template that was
 * changed a little often lies; what it misses costs bytes, nothing else.
 */
uint32_t index_run(struct index *index, const le32 *refs, size_t count)
{
	struct part *part = &index->parts[WIRE_KNOWN_REFS];
	uint32_t begin = part->count > 512 ? part->count - 512 : 0;

	for (uint32_t i = begin; i + count <= part->count; i++) {
		if (memcmp(part->at + i * sizeof(le32), refs, count * sizeof(le32)) == 0)
			return i;
	}
	begin = part->count;
	for (size_t i = 0; i < count; i++)
		(void)add(part, &refs[i]);
	return begin;
}

void *index_item(struct index *index, enum wire_known_part_id id, uint32_t number)
{
	return index->parts[id].at + number * index->parts[id].item_bytes;
}

static int write_parts(const struct index *index, FILE *file)
{
	static const uint8_t padding[8];

	for (size_t i = 0; i < WIRE_KNOWN_PARTS; i++) {
		const struct part *part = &index->parts[i];
		size_t bytes = part->count * part->item_bytes;

		if (bytes && fwrite(part->at, bytes, 1, file) != 1)
			return -EIO;
		if (bytes % 8 && fwrite(padding, 8 - bytes % 8, 1, file) != 1)
			return -EIO;
	}
	return 0;
}

int index_write(const struct index *index, const char *path)
{
	struct wire_known_head head = {.version = le32_of(WIRE_KNOWN_VERSION),
				       .head_bytes = le32_of(sizeof(head))};
	size_t offset = ALIGN_UP(sizeof(head), 8);
	static const uint8_t padding[8];
	FILE *file = fopen(path, "wb");
	int r = 0;

	if (!file)
		return -errno;
	memcpy(head.magic, WIRE_KNOWN_MAGIC, sizeof(head.magic));
	for (size_t i = 0; i < WIRE_KNOWN_PARTS; i++) {
		head.parts[i].offset = le32_of((uint32_t)offset);
		head.parts[i].count = le32_of(index->parts[i].count);
		offset += ALIGN_UP(index->parts[i].count * index->parts[i].item_bytes, 8);
	}
	head.file_bytes = le32_of((uint32_t)offset);
	head.check = le32_of(wire_known_check(&head));
	if (fwrite(&head, sizeof(head), 1, file) != 1 ||
	    (sizeof(head) % 8 && fwrite(padding, 8 - sizeof(head) % 8, 1, file) != 1))
		r = -EIO;
	if (!r)
		r = write_parts(index, file);
	if (fclose(file) != 0 && !r)
		r = -errno;
	return r;
}
