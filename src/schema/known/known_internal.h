/* SPDX-License-Identifier: MIT */
/* The open index, and checked access to its items, for the sources of this folder. */
#ifndef ETW_SCHEMA_KNOWN_KNOWN_INTERNAL_H
#define ETW_SCHEMA_KNOWN_KNOWN_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "base/arena.h"
#include "schema/known/known.h"
#include "schema/model.h"
#include "schema/provider_schema.h"

struct etw_known {
	struct etw_bytes bytes;
	bool is_mapped;
	struct {
		const uint8_t *at; /* NULL only where there are no items */
		uint32_t count;
	} parts[WIRE_KNOWN_PARTS];
	pthread_mutex_t lock; /* of what follows */
	bool is_damaged;
	struct etw_fault damage; /* the first one */
	char path[];             /* "" in memory */
};

/* etw_known_damaged() - remembers the damage if it is the first. Returns -EBADMSG. */
int etw_known_damaged(struct etw_known *known, const void *at, const char *structure,
		      const char *field, const char *sentence);

/*
 * etw_known_item() - the item with this number; NULL: there is none, which is damage, and is remembered.
 *
 * @from: where the reference stands, for saying so
 */
const void *etw_known_item(struct etw_known *known, enum wire_known_part_id id, uint32_t number,
			   const void *from);

/* etw_known_string() - a string of the pool. Returns 0, or -EBADMSG. */
int etw_known_string(struct etw_known *known, le32 offset, const void *from, const char **ret);

/* etw_known_count() - items of a part. */
static inline uint32_t etw_known_count(const struct etw_known *known, enum wire_known_part_id id)
{
	return known->parts[id].count;
}

/*
 * etw_known_find_index() - where this program or library finds the index without being told: known_find.c.
 *
 * Returns whether there is one; @ret is then its path.
 */
bool etw_known_find_index(char ret[PATH_MAX]);

#endif
