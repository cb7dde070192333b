/* SPDX-License-Identifier: MIT */
/*
 * The index of known providers while it is made: the parts of wire/known.h as growing arrays, in which equal
 * items of some parts are kept once. Memory is freed by the program's end; where it runs out, the program ends.
 */
#ifndef ETW_GENERATE_KNOWN_INDEX_INDEX_H
#define ETW_GENERATE_KNOWN_INDEX_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "wire/known.h"

struct part {
	uint8_t *at;
	size_t item_bytes;
	uint32_t count;
	uint32_t room;
	uint32_t *slots; /* numbers of items by hash, one more than that; 0: free */
	uint32_t slot_count;
};

struct index {
	struct part parts[WIRE_KNOWN_PARTS];
	struct part
		strings; /* le32: offsets of the strings that are there, for finding equal ones */
};

/* index_init() - empty parts, with what has the number 0. */
void index_init(struct index *index);

/* index_add() - one more item of a part. Returns its number. */
uint32_t index_add(struct index *index, enum wire_known_part_id id, const void *item);

/* index_keep() - the same, or the number of an equal item. */
uint32_t index_keep(struct index *index, enum wire_known_part_id id, const void *item);

/* index_run() - numbers of fields in a row, kept once. Returns the number of the first reference. */
uint32_t index_run(struct index *index, const le32 *refs, size_t count);

/* index_string() - the offset of a string, kept once. */
uint32_t index_string(struct index *index, const char *text);

/* index_item() - an item for changing it; until the next one is added. */
void *index_item(struct index *index, enum wire_known_part_id id, uint32_t number);

/* index_write() - the whole index as a file. Returns 0 or negative errno. */
int index_write(const struct index *index, const char *path);

/* ends the program with a message; printf's format. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* memory_for() - realloc() that ends the program where memory runs out. */
void *memory_for(void *old, size_t count, size_t item_bytes);

#endif
